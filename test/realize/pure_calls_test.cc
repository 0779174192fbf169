// How often C functions are called: pure ones once for all iterations that agree, and only where
// their value counts; others at each point.
#include <gtest/gtest.h>

#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "lang/ir/text.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::pure_calls_test {
namespace {

int calls_of_same = 0, calls_of_row = 0, calls_of_pixel = 0;

int32_t same(int32_t v) {
  calls_of_same++;
  return v + 1;
}
int32_t row(int32_t v) {
  calls_of_row++;
  return 2 * v;
}
int32_t pixel(int32_t v) {
  calls_of_pixel++;
  return v;
}

class PureCalls : public testing::Test {
 protected:
  PureCalls() { calls_of_same = calls_of_row = calls_of_pixel = 0; }

  static Expr pure(const char *name, const Expr &e) {
    return pure_extern_call(Int(32), name, {e}, {Int(32)});
  }
  static Expr impure(const char *name, const Expr &e) {
    return extern_call(Int(32), name, {e}, {Int(32)});
  }
  static void set_externs(Func &f) {
    f.set_jit_externs(
        {{"same", JITExtern(same)}, {"row", JITExtern(row)}, {"pixel", JITExtern(pixel)}});
  }

  Var x{"x"}, y{"y"};
};

TEST_F(PureCalls, AreMadeInFrontOfLoopsThatDoNotChangeThem) {
  Func f("f");
  f(x, y) = pure("same", 3) + pure("row", y) + pure("pixel", x * 16 + y);
  f.bound(x, 0, 16).bound(y, 0, 16);
  set_externs(f);
  const Buffer<int> out = f.realize({16, 16});
  EXPECT_EQ(calls_of_same, 1);
  EXPECT_EQ(calls_of_row, 16);
  EXPECT_EQ(calls_of_pixel, 256);
  out.for_each_element([&](int i, int j) { ASSERT_EQ(out(i, j), 4 + 2 * j + 16 * i + j); });
}

TEST_F(PureCalls, LeaveParallelLoopsWhereOthersDoNot) {
  Func f("f");
  f(x, y) = pure("same", 3) + impure("pixel", x);
  f.parallel(y);
  f.jit_handlers().custom_do_par_for = [](JITUserContext *context,
                                          int (*task)(JITUserContext *, int, uint8_t *), int min,
                                          int size, uint8_t *closure) {
    for (int i = min; i < min + size; i++) task(context, i, closure);
    return 0;
  };
  set_externs(f);
  const Buffer<int> out = f.realize({16, 16});
  EXPECT_EQ(calls_of_same, 1);
  EXPECT_EQ(calls_of_pixel, 256);
  EXPECT_EQ(out(7, 9), 11);
}

TEST_F(PureCalls, HaveVectorForms) {
  Func f("f");
  f(x) = pure("pixel", x) * 3;
  f.vectorize(x, 8);
  set_externs(f);
  const Buffer<int> out = f.realize({32});
  EXPECT_EQ(calls_of_pixel, 32);
  for (int i = 0; i < 32; i++) EXPECT_EQ(out(i), 3 * i);
}

TEST_F(PureCalls, DecideWhichStagesRun) {
  Func wanted("wanted"), costly("costly"), f("f");
  wanted(x) = pure("row", x);
  costly(x) = impure("pixel", x);
  f(x) = select(wanted(x) < 10, costly(x), 0);
  costly.compute_at(f, x);
  set_externs(f);
  const Buffer<int> out = f.realize({20});
  EXPECT_EQ(calls_of_pixel, 5);
  for (int i = 0; i < 20; i++) EXPECT_EQ(out(i), i < 5 ? i : 0);
}

TEST_F(PureCalls, StagesAreSkippedThroughOthersThatSlide) {
  Param<bool> first("first"), second("second");
  Func base("base"), a("a"), b("b"), f("f");
  Var xo("xo"), xi("xi");
  base(x) = impure("same", x);
  a(x) = impure("row", base(x));
  b(x) = impure("pixel", base(x));
  f(x) = select(first, a(x), 0) + select(second, b(x), 0);
  f.split(x, xo, xi, 5);
  base.compute_at(f, xo);
  a.store_root().compute_at(f, xo);
  b.store_at(f, xo).compute_at(f, xi);
  set_externs(f);
  for (const int chosen : {0, 1, 2, 3}) {
    calls_of_same = calls_of_row = calls_of_pixel = 0;
    first.set((chosen & 1) != 0);
    second.set((chosen & 2) != 0);
    f.realize({10});
    EXPECT_EQ(calls_of_same, chosen ? 10 : 0);
    EXPECT_EQ(calls_of_row, chosen & 1 ? 10 : 0);
    EXPECT_EQ(calls_of_pixel, chosen & 2 ? 10 : 0);
  }
}

TEST_F(PureCalls, ReadBack) {
  Func f("f");
  f(x) = pure_extern_call(Float(32), "sqrtf", {cast<float>(x)}, {Float(32)});
  const Algorithm a = freeze({f.function()}).algorithm;
  EXPECT_NE(to_text(a).find("pure_extern<float32>(sqrtf, float32(x))"), std::string::npos);
  EXPECT_EQ(to_text(parse_algorithm(to_text(a))), to_text(a));
  Buffer<float> expected(10);
  interpret(a, {}, {}, {expected.raw_buffer()});
  EXPECT_EQ(expected(9), 3.0f);
}

}  // namespace
}  // namespace polyhalite::pure_calls_test
