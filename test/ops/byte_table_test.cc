// What follows from one byte is looked up: the same results as computed point by point, and tables
// where they pay.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <cstring>
#include <functional>

#include "lang/ir/visit.h"

namespace polyhalite::byte_table_test {
namespace {

constexpr int kColumns = 301, kRows = 20;

Expr sigmoid(const Expr &x) { return 1.0f / (1.0f + exp(-x)); }
Expr steps(Type t, const Expr &x) { return saturating_cast(t, round(x * 60.0f)); }

// How many tables the library makes of f of an image's bytes, whose results are the same with them.
int tables_of(Type from, const std::function<Expr(const Expr &, const Expr &)> &f) {
  Buffer<> in(from, {kColumns, kRows});
  for (int i = 0; i < kColumns * kRows; i++)
    static_cast<uint8_t *>(in.data())[i] = static_cast<uint8_t>(i * 89);
  ImageParam image(from, 2);
  image.set(in);
  const Target target = get_jit_target_from_environment();
  Var x("x"), y("y");
  Func plain("plain");
  plain(x, y) = f(image(x, y), x);
  const ops::Tensor t(plain.types()[0], {kRows, kColumns},
                      [&](const ops::Index &at) { return f(image(at[1], at[0]), at[1]); });
  Func out = ops::materialize({t}, {"out"}, {{}}, target)[0];
  Buffer<> got = out.realize({kColumns, kRows}, target);
  Buffer<> wanted = plain.realize({kColumns, kRows}, target);
  EXPECT_EQ(std::memcmp(got.data(), wanted.data(), got.size_in_bytes()), 0);
  int tables = 0;
  for_each_node(out.value(), [&](const Expr &e) {
    const CallNode *c = as_call(e);
    if (c && c->kind == CallKind::Func) tables++;
  });
  return tables;
}

class Lookups : public testing::Test {
 protected:
  void SetUp() override {
    if (!get_jit_target_from_environment().has_feature(Target::AVX512_Cannonlake))
      GTEST_SKIP() << "this processor permutes no bytes, so that there are no tables";
  }
};

TEST_F(Lookups, functions_of_one_byte) {
  for (const Type from : {UInt(8), Int(8)}) {
    for (const Type to : {UInt(8), Int(8)}) {
      EXPECT_EQ(tables_of(from,
                          [&](const Expr &v, const Expr &) {
                            return steps(to, sigmoid((cast<float>(v) - 100.0f) * 0.05f));
                          }),
                1);
    }
    // x times its sigmoid, itself in steps.
    EXPECT_EQ(tables_of(from,
                        [&](const Expr &v, const Expr &) {
                          const Expr real = cast<float>(v) * 0.05f;
                          const Expr gate = steps(UInt(8), sigmoid(real));
                          return steps(UInt(8), real * (cast<float>(gate) / 60.0f));
                        }),
              1);
  }
}

TEST_F(Lookups, what_depends_on_more_is_computed) {
  // On where it stands.
  EXPECT_EQ(tables_of(UInt(8),
                      [](const Expr &v, const Expr &x) {
                        return steps(UInt(8), sigmoid(cast<float>(v) + cast<float>(x)));
                      }),
            0);
  // A part of it does not.
  EXPECT_EQ(tables_of(UInt(8),
                      [](const Expr &v, const Expr &x) {
                        return cast<uint8_t>(steps(UInt(8), sigmoid(cast<float>(v) / 64.0f)) + x);
                      }),
            1);
  // As quick.
  EXPECT_EQ(tables_of(UInt(8), [](const Expr &v, const Expr &) { return cast<uint8_t>(v + v); }),
            0);
  // No bytes.
  EXPECT_EQ(tables_of(UInt(8), [](const Expr &v, const Expr &) { return sigmoid(cast<float>(v)); }),
            0);
}

}  // namespace
}  // namespace polyhalite::byte_table_test
