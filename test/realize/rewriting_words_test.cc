// eager_inline, change_type and hoist_invariants, called on Funcs, compiled and run.
#include <gtest/gtest.h>

#include <algorithm>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::rewriting_words_test {
namespace {

Buffer<int8_t> small_numbers(int n, int step) {
  Buffer<int8_t> b(n);
  for (int i = 0; i < n; i++) b(i) = static_cast<int8_t>((i * step) % 255 - 127);
  return b;
}

TEST(EagerInline, OneStageOnly) {
  Var x("x");
  Func a("a"), b("b"), c("c"), d("d");
  a(x) = x + 1;
  b(x) = a(x) * 2;
  c(x) = b(x) + a(x);
  d(x) = c(x) + b(x);
  c.eager_inline(a, b).compute_root();
  b.compute_root();
  Buffer<int32_t> out = d.realize({8});
  for (int i = 0; i < 8; i++) EXPECT_EQ(out(i), (i + 1) * 5);
}

TEST(EagerInline, ShowsFactorsToLaterWords) {
  Var x("x");
  RDom r(0, 16, "r");
  ImageParam scale(Int(32), 1, "scale"), data(Int(32), 1, "data");
  Func sum("sum");
  Func product("product");
  Var k("k");
  product(x, k) = scale(x) * data(k);
  sum(x) = 0;
  sum(x) += product(x, r);
  EXPECT_THROW(sum.update().hoist_invariants(), CompileError);
  Func inner = sum.update().eager_inline({product}).hoist_invariants();
  inner.compute_root();
  EXPECT_EQ(inner.types()[0], Int(32));
  Buffer<int32_t> s(5), d(16);
  s.for_each_element([&](int i) { s(i) = i - 2; });
  d.for_each_element([&](int i) { d(i) = i * i; });
  scale.set(s);
  data.set(d);
  Buffer<int32_t> out = sum.realize({5});
  for (int i = 0; i < 5; i++) EXPECT_EQ(out(i), (i - 2) * 1240);
}

TEST(EagerInline, RefusedAtTheCall) {
  Var x("x");
  RDom r(0, 4, "r");
  Func reduced("reduced"), consumer("consumer"), undefined("undefined"), root("root");
  reduced(x) = 0;
  reduced(x) += r;
  root(x) = x;
  consumer(x) = reduced(x) + root(x);
  EXPECT_EQ(message_of([&] { consumer.eager_inline({reduced}); }),
            at(__LINE__ - 1) +
                "error: cannot inline 'reduced' into 'consumer'\n"
                "  why: it has update definitions, and so no single expression as "
                "its value\n"
                "  fix: inline Funcs with a pure definition only");
  EXPECT_EQ(message_of([&] { consumer.eager_inline({undefined}); }),
            at(__LINE__ - 1) +
                "error: cannot inline 'undefined' into 'consumer'\n"
                "  why: 'undefined' is undefined\n"
                "  fix: define it first");
  EXPECT_EQ(message_of([&] { consumer.eager_inline(root, reduced, root); }).substr(0, 30),
            at(__LINE__ - 1).substr(0, 30));
  root.compute_at(consumer, x);
  EXPECT_NE(message_of([&] { consumer.eager_inline(root); }).find("it is scheduled compute_at()"),
            std::string::npos);
  // What was refused leaves nothing behind.
  Buffer<int32_t> out = consumer.realize({3});
  for (int i = 0; i < 3; i++) EXPECT_EQ(out(i), 6 + i);
}

class ChangeType : public testing::Test {
 protected:
  Var x{"x"};
  ImageParam a{Int(8), 1, "a"}, b{Int(8), 1, "b"};
  Func f{"f"};

  int dot(int n, int shift) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += in_a(i) * in_b(i + shift);
    return sum;
  }
  Buffer<int8_t> in_a = small_numbers(200, 37), in_b = small_numbers(220, 91);
  ChangeType() {
    a.set(in_a);
    b.set(in_b);
  }
};

TEST_F(ChangeType, ADotProduct) {
  RDom r(0, 64, "r");
  f(x) = 0.0f;
  f(x) += cast<float>(a(r)) * cast<float>(b(x + r));
  Func whole = f.change_type(Int(32));
  EXPECT_EQ(whole.types()[0], Int(32));
  EXPECT_EQ(f.types()[0], Float(32));
  whole.compute_root().update().reorder(x, r).vectorize(x, 4);
  Buffer<float> out = f.realize({16});
  for (int i = 0; i < 16; i++) EXPECT_EQ(out(i), static_cast<float>(dot(64, i)));
}

TEST_F(ChangeType, InVectorsOfTheReduction) {
  RDom r(0, 64, "r");
  f(x) = 0.0f;
  f(x) += cast<float>(a(r)) * cast<float>(b(x + r));
  Func whole = f.change_type(Int(32));
  whole.compute_root().update().atomic().vectorize(r, 16);
  Buffer<float> out = f.realize({16});
  for (int i = 0; i < 16; i++) EXPECT_EQ(out(i), static_cast<float>(dot(64, i)));
}

TEST_F(ChangeType, ExtentsAreCheckedWhenItRuns) {
  Param<int> n("n");
  RDom r(0, n, "r");
  f(x) = 0.0f;
  f(x) += cast<float>(a(r));
  f.change_type(Int(16)).compute_root();
  n.set(200);
  int sum = 0;
  for (int i = 0; i < 200; i++) sum += in_a(i);
  Buffer<float> out = f.realize({2});
  EXPECT_EQ(out(1), static_cast<float>(sum));
  Buffer<int8_t> more = small_numbers(300, 1);
  a.set(more);
  n.set(300);
  EXPECT_NE(message_of([&] { f.realize({2}); }).find("has too many terms: more than 256"),
            std::string::npos);
}

TEST_F(ChangeType, Twice) {
  RDom r(0, 100, "r");
  f(x) = 0.0f;
  f(x) -= cast<float>(a(r));
  Func wide = f.change_type(Int(32));
  Func narrow = wide.change_type(Int(16));
  EXPECT_EQ(narrow.types()[0], Int(16));
  narrow.compute_root();
  int sum = 0;
  for (int i = 0; i < 100; i++) sum -= in_a(i);
  Buffer<float> out = f.realize({3});
  EXPECT_EQ(out(2), static_cast<float>(sum));
}

TEST_F(ChangeType, PartialSumsOfBlocks) {
  RDom r(0, a.dim(0).extent(), "r");
  f() = 0.0f;
  f() += cast<float>(a(r));
  RVar ro("ro"), ri("ri");
  Var u("u");
  Func part = f.update().split(r, ro, ri, 128, TailStrategy::GuardWithIf).rfactor(ro, u);
  Func narrow = part.change_type(Int(16));
  narrow.compute_root();
  Buffer<int8_t> all(1000);
  all.fill(127);
  a.set(all);
  Buffer<float> out = f.realize();
  EXPECT_EQ(out(), 127000.0f);
}

TEST_F(ChangeType, RefusedAtTheCall) {
  ImageParam wide(Int(16), 1, "wide");
  f(x) = wide(x);
  EXPECT_EQ(
      message_of([&] { f.change_type(Int(8)); }),
      at(__LINE__ - 2) +
          "error: cannot change the type of 'f' to int8\n"
          "  why: its first value, wide(x), may be anything in [-32768, 32767], which the type "
          "does not hold\n"
          "  fix: clamp it to the range of the type, or call change_type(type, true), which "
          "casts what may not fit");
  Func bytes = f.change_type(Int(8), true);
  bytes.compute_root();
  Buffer<int16_t> in(3);
  in(0) = 5;
  in(1) = 300;
  in(2) = -129;
  wide.set(in);
  Buffer<int16_t> out = f.realize({3});
  EXPECT_EQ(out(0), 5);
  EXPECT_EQ(out(1), 44);
  EXPECT_EQ(out(2), 127);
}

TEST(HoistInvariants, SplitTerms) {
  RDom r(0, 16, "r");
  Func f("multiple");
  f() = 0;
  f() += 2 * (r + 1) + 3 * (2 * r + 1);
  FuncVec parts = f.update().hoist_invariants();
  ASSERT_EQ(parts.size(), 2u);
  for (Func &p : parts) p.compute_root();
  int expected = 0;
  for (int k = 0; k < 16; k++) expected += 2 * (k + 1) + 3 * (2 * k + 1);
  Buffer<int32_t> out = f.realize();
  EXPECT_EQ(out(), expected);
}

TEST(HoistInvariants, MinsAndConditions) {
  Var x("x");
  Buffer<float> offset(8), data(8, 16);
  Buffer<bool> mask(8);
  offset.for_each_element([&](int i) { offset(i) = static_cast<float>(i) * 1.5f; });
  data.for_each_element(
      [&](int i, int k) { data(i, k) = static_cast<float>((i * 16 + k) % 7) - 3.0f; });
  mask.for_each_element([&](int i) { mask(i) = i % 3 == 1; });
  RDom r(0, 16, "r");
  Func low("low"), any("any");
  low(x) = Float(32).max();
  low(x) = min(low(x), offset(x) + data(x, r));
  any(x) = cast<bool>(false);
  any(x) = any(x) || (mask(x) && data(x, r) > 2.0f);
  Func low_part = low.update().hoist_invariants();
  low_part.compute_root().vectorize(x, 4);
  Func any_part = any.update().hoist_invariants();
  any_part.compute_at(any, x);
  Buffer<float> lows = low.realize({8});
  Buffer<bool> anys = any.realize({8});
  for (int i = 0; i < 8; i++) {
    float m = 1e30f;
    bool a = false;
    for (int k = 0; k < 16; k++) {
      m = std::min(m, offset(i) + data(i, k));
      a = a || (mask(i) && data(i, k) > 2.0f);
    }
    EXPECT_EQ(lows(i), m);
    EXPECT_EQ(anys(i), a);
  }
}

// A block's scale leaves the sum over the block, whose products then are integers.
TEST(HoistInvariants, BlocksOfQuantizedNumbers) {
  constexpr int kBlock = 32, kN = 160;
  ImageParam a(Int(8), 1, "a"), b(Int(8), 1, "b"), scale(Float(32), 1, "scale");
  Var k("k"), u("u");
  Func left("left"), right("right"), dot("dot");
  left(k) = cast<float>(a(k)) * scale(k / kBlock);
  right(k) = cast<float>(b(k));
  RDom r(0, kN, "r");
  dot() = 0.0f;
  dot() += left(r) * right(r);
  RVar ro("ro"), ri("ri");
  Func blocks = dot.update().split(r, ro, ri, kBlock).rfactor(ro, u);
  Func sums = blocks.update().eager_inline(left, right).hoist_invariants();
  Func whole = sums.change_type(Int(32));
  blocks.compute_root();
  whole.compute_root().update().atomic().vectorize(ri);
  Buffer<int8_t> in_a = small_numbers(kN, 7), in_b = small_numbers(kN, 13);
  Buffer<float> in_s(kN / kBlock);
  in_s.for_each_element([&](int i) { in_s(i) = static_cast<float>(i + 1) * 0.5f; });
  a.set(in_a);
  b.set(in_b);
  scale.set(in_s);
  double expected = 0;
  for (int i = 0; i < kN; i++)
    expected += in_a(i) * in_b(i) * static_cast<double>(in_s(i / kBlock));
  Buffer<float> out = dot.realize();
  EXPECT_EQ(out(), static_cast<float>(expected));
}

TEST(HoistInvariants, RefusedAtTheCall) {
  Var x("x");
  RDom r(0, 4, "r");
  Func f("f");
  f(x) = 0;
  f(x) += r;
  EXPECT_NE(message_of([&] {
              f.update().hoist_invariants();
            }).find("no factor of that is the same in all steps of the reduction"),
            std::string::npos);
  Func g("g");
  g(x) = 0;
  g(x) += x * r + r;
  EXPECT_NE(message_of([&] {
              Func one = g.update().hoist_invariants();
            }).find("a FuncVec of size 2 is used as one Func"),
            std::string::npos);
}

}  // namespace
}  // namespace polyhalite::rewriting_words_test
