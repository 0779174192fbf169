#include "lang/simplify/exact_cast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lang/ir/expr_text.h"
#include "test/lang/random_expr.h"

namespace polyhalite::exact_cast_test {
namespace {

using test::Environment;
using test::Evaluator;
using test::RandomExpr;
using test::Undefined;
using test::Value;

Expr parse(const std::string &text) {
  NameResolver names;
  names.variable = [](const std::string &name) {
    for (const auto &v : test::random_variables()) {
      if (name == v.name) return make_variable(v.type, VariableKind::Symbol, name);
    }
    return Expr();
  };
  names.call = [](const std::string &name, std::vector<Expr> args, int) {
    return make_func_call(Int(16), name, std::move(args));
  };
  return parse_expr(text, names);
}

// The Func "small" clamps; others are not known.
Expr definition(const CallNode &call) {
  return call.name == "small" ? parse("min(max(s, 0i16), 100i16)") : Expr();
}

std::string cast(Type t, const std::string &text, const VariableBounds &bounds = {}) {
  const Expr r = ExactCast(definition, bounds)(t, parse(text));
  return r.defined() ? to_text(r) : "no";
}

TEST(exact_cast, of_integers_within_the_range) {
  EXPECT_EQ(cast(Int(16), "c"), "int16(c)");
  EXPECT_EQ(cast(Int(8), "s"), "no");
  EXPECT_EQ(cast(Int(8), "min(max(s, 0i16), 100i16)"), "int8(min(max(s, 0i16), 100i16))");
  EXPECT_EQ(cast(UInt(8), "min(max(s, -1i16), 100i16)"), "no");
  EXPECT_EQ(cast(Int(32), "n", {{"n", {1, 5}}}), "n");
  EXPECT_EQ(cast(Int(8), "n*2", {{"n", {1, 63}}}), "int8(n)*2i8");
  EXPECT_EQ(cast(Int(8), "n*2", {{"n", {1, 64}}}), "no");
}

TEST(exact_cast, of_floats_that_are_whole_numbers) {
  EXPECT_EQ(cast(Int(32), "float32(c)*float32(a)"), "int32(c)*int32(a)");
  EXPECT_EQ(cast(Int(16), "float32(c)*float32(a)"), "int16(c)*int16(a)");
  EXPECT_EQ(cast(Int(16), "float32(a)*float32(a)"), "no");
  EXPECT_EQ(cast(Int(32), "float32(s)*float32(s)"), "no");  // beyond 2^24, float32 rounds
  EXPECT_EQ(cast(Int(32), "float64(s)*float64(s)"), "int32(s)*int32(s)");
  EXPECT_EQ(cast(Int(32), "f"), "no");
  EXPECT_EQ(cast(Int(32), "2.5f"), "no");
  EXPECT_EQ(cast(Int(32), "3.0f"), "3");
  EXPECT_EQ(cast(Int(8), "select(p, float32(c), 7.0f)"), "select(p, c, 7i8)");
}

TEST(exact_cast, of_floats_that_hold_the_integers) {
  EXPECT_EQ(cast(Float(32), "a"), "float32(a)");
  EXPECT_EQ(cast(Float(32), "x"), "no");
  EXPECT_EQ(cast(Float(64), "x"), "float64(x)");
  EXPECT_EQ(cast(Float(32), "x", {{"x", {-16777216, 16777216}}}), "float32(x)");
  EXPECT_EQ(cast(Float(32), "x", {{"x", {0, 16777217}}}), "no");
}

TEST(exact_cast, looks_into_producers) {
  EXPECT_EQ(cast(Int(8), "small(x)"), "int8(small(x))");
  EXPECT_EQ(cast(Int(16), "float32(small(x))*float32(small(y))"), "small(x)*small(y)");
  EXPECT_EQ(cast(Int(8), "large(x)"), "no");
}

// Casts that are given at all have the value, and ranges contain it.
TEST(exact_cast, keeps_the_value_of_random_expressions) {
  int compared = 0, cast = 0;
  for (uint32_t seed = 0; seed < 6000; seed++) {
    RandomExpr random(seed);
    const Expr e = random.make(random.pick_type(), 1 + seed % 4);
    const Type t = random.pick_type();
    ExactCast exact([](const CallNode &) { return Expr(); }, test::random_variable_bounds());
    const auto range = exact.range(e);
    const Expr r = exact(t, e);
    cast += r.defined();
    for (int i = 0; range && i < 8; i++) {
      const Environment names = random.point();
      Value expected;
      try {
        expected = Evaluator(names, 1 << 22)(e);
      } catch (const Undefined &) {
        continue;
      }
      const double x = e.type().is_float() ? expected[0].f
                       : e.type().is_uint()
                           ? static_cast<double>(static_cast<uint64_t>(expected[0].i))
                           : static_cast<double>(expected[0].i);
      ASSERT_GE(x, static_cast<double>(range->min)) << to_text(e);
      ASSERT_LE(x, static_cast<double>(range->max)) << to_text(e);
      ASSERT_EQ(x, std::trunc(x)) << to_text(e);
      if (!r.defined()) continue;
      ASSERT_EQ(r.type(), t);
      const Value got = Evaluator(names, (int64_t{1} << 31) - 1)(r);
      const double y = t.is_float()  ? got[0].f
                       : t.is_uint() ? static_cast<double>(static_cast<uint64_t>(got[0].i))
                                     : static_cast<double>(got[0].i);
      ASSERT_EQ(x, y) << to_text(e) << "\nbecame " << to_text(r);
      compared++;
    }
  }
  EXPECT_GT(cast, 1000);
  EXPECT_GT(compared, 5000);
}

}  // namespace
}  // namespace polyhalite::exact_cast_test
