#include "lang/simplify/simplify.h"

#include <gtest/gtest.h>

#include <cstring>

#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "test/lang/random_expr.h"

namespace polyhalite::simplify_test {
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
  names.buffer = [](const std::string &) { return Float(32); };
  return parse_expr(text, names);
}

// Without bounds of variables unless asked.
std::string simplified(const std::string &text, const VariableBounds &bounds = {}) {
  return to_text(simplify(parse(text), bounds));
}

bool same(Type t, const Value &a, const Value &b) {
  for (size_t i = 0; i < a.size(); i++) {
    if (t.is_float() ? std::memcmp(&a[i].f, &b[i].f, sizeof(double)) != 0 && a[i].f == a[i].f
                     : a[i].i != b[i].i) {
      return false;
    }
  }
  return true;
}

// Counts how many points had a value.
void expect_same_values(RandomExpr &random, const Expr &e, int points, int &compared) {
  const VariableBounds bounds = test::random_variable_bounds();
  const Expr with = simplify(e, bounds), without = simplify(e);
  ASSERT_EQ(with.type(), e.type()) << to_text(e);
  ASSERT_EQ(without.type(), e.type()) << to_text(e);
  const ConstantBounds range =
      e.type().is_int_or_uint() ? constant_bounds(e, bounds) : ConstantBounds{};
  for (int i = 0; i < points; i++) {
    const Environment names = random.point();
    Value expected;
    try {
      expected = Evaluator(names, 1 << 22)(e);
    } catch (const Undefined &) {
      continue;
    }
    compared++;
    for (const Expr &s : {with, without}) {
      Value got;
      try {
        got = Evaluator(names, (int64_t{1} << 31) - 1)(s);
      } catch (const Undefined &) {
        FAIL() << "overflow in\n" << to_text(s) << "\nof\n" << to_text(e);
      }
      std::string at;
      for (const auto &[name, value] : names) {
        at += " " + name + "=" + std::to_string(value[0].i) + "/" + std::to_string(value[0].f);
      }
      ASSERT_TRUE(same(e.type(), expected, got))
          << to_text(e) << "\nbecame\n"
          << to_text(s) << "\nwhich differs at" << at << ": " << got[0].i << "/" << got[0].f
          << " instead of " << expected[0].i << "/" << expected[0].f;
    }
    for (const auto &lane : expected) {
      if (range.min) {
        ASSERT_GE(lane.i, *range.min) << to_text(e);
      }
      if (range.max) {
        ASSERT_LE(lane.i, *range.max) << to_text(e);
      }
    }
  }
}

TEST(simplify, keeps_the_value_of_random_scalars) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 12000; seed++) {
    RandomExpr random(seed);
    const Expr e = random.make(random.pick_type(), 2 + seed % 4);
    expect_same_values(random, e, 12, compared);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(compared, 100000);
}

TEST(simplify, keeps_the_value_of_random_vectors) {
  int compared = 0;
  for (uint32_t seed = 0; seed < 6000; seed++) {
    RandomExpr random(seed);
    const Type t = random.pick(0, 1) ? Int(32, 8) : random.pick_type().with_lanes(4);
    const Expr e = random.make(t, 2 + seed % 3);
    expect_same_values(random, e, 8, compared);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(compared, 30000);
}

TEST(simplify, is_idempotent_on_most_expressions) {
  int changed = 0;
  for (uint32_t seed = 0; seed < 2000; seed++) {
    RandomExpr random(seed);
    const Expr once = simplify(random.make(Int(32), 4));
    changed += !equal(simplify(once), once);
  }
  EXPECT_LT(changed, 60);
}

TEST(simplify, gathers_linear_terms) {
  EXPECT_EQ(simplified("x + y - x"), "y");
  EXPECT_EQ(simplified("(x + 3)*2 - 2*x"), "6");
  EXPECT_EQ(simplified("3*x + (y - x)*2 + 1"), "x + y*2 + 1");
  EXPECT_EQ(simplified("int64(x + 1) - int64(x)"), "1i64");
  EXPECT_EQ(simplified("a - a"), "0u8");
  EXPECT_EQ(simplified("a + 200u8 + 100u8"), "a + 44u8");
}

TEST(simplify, divides_by_constants) {
  EXPECT_EQ(simplified("(8*x + z)/8"), "x + z/8");
  EXPECT_EQ(simplified("(8*x + y)/8", {{"y", {0, 7}}}), "x");
  EXPECT_EQ(simplified("(8*x + y)%8", {{"y", {0, 7}}}), "y");
  EXPECT_EQ(simplified("(4*x + 3)/8"), "x/2");
  EXPECT_EQ(simplified("(4*x + 3)%8"), "x%2*4 + 3");
  EXPECT_EQ(simplified("(x/4 + 1)/8"), "(x + 4)/32");
  EXPECT_EQ(simplified("x/8*8 + x%8"), "x");
  EXPECT_EQ(simplified("x - x/8*8"), "x%8");
  EXPECT_EQ(simplified("int64(x/8)*8i64 + int64(x%8)"), "int64(x)");
  EXPECT_EQ(simplified("int64(x) - int64(x/8)*8i64"), "int64(x%8)");
  EXPECT_EQ(simplified("x/8%3*8 + x%8"), "x%24");
  EXPECT_EQ(simplified("x/8%3*16 + x%8*2"), "x%24*2");
  EXPECT_EQ(simplified("x/8%3*8 + x%4"), "x%4 + x/8%3*8");
  EXPECT_EQ(simplified("int64(x/24)*24i64 + int64(x/8%3)*8i64 + int64(x%8)"), "int64(x)");
  EXPECT_EQ(simplified("x/0"), "0");
  EXPECT_EQ(simplified("x%0"), "0");
  EXPECT_EQ(simplified("-7/2"), "-4");
  EXPECT_EQ(simplified("-7%2"), "1");
  EXPECT_EQ(simplified("-7/-2"), "4");
  EXPECT_EQ(simplified("-7%-2"), "1");
  EXPECT_EQ(simplified("y/8", {{"y", {0, 7}}}), "0");
}

TEST(simplify, picks_of_min_and_max) {
  EXPECT_EQ(simplified("min(x, x + 1)"), "x");
  EXPECT_EQ(simplified("max(min(x, 5), x)"), "x");
  EXPECT_EQ(simplified("min(min(x, 3), 5)"), "min(x, 3)");
  EXPECT_EQ(simplified("min(x + z, y + z)"), "z + min(x, y)");
  EXPECT_EQ(simplified("max(min(x, 10), 0)", {{"x", {0, 10}}}), "x");
  EXPECT_EQ(simplified("min(z, max(x, z))"), "z");
}

TEST(simplify, decides_comparisons) {
  EXPECT_EQ(simplified("x < x + 1"), "true");
  EXPECT_EQ(simplified("min(x, y) <= x"), "true");
  EXPECT_EQ(simplified("min(x, y) - x > 0"), "false");
  EXPECT_EQ(simplified("x - x/8*8 < 8"), "true");
  EXPECT_EQ(simplified("x + 1 < y + 1"), "x < y");
  EXPECT_EQ(simplified("2*x < 7"), "x < 4");
  EXPECT_EQ(simplified("2*x == 7"), "false");
  EXPECT_EQ(simplified("x/8 < 3"), "x < 24");
  EXPECT_EQ(simplified("a >= 0u8"), "true");
  EXPECT_EQ(simplified("int32(a) < 256"), "true");
  EXPECT_EQ(simplified("!(x < y)"), "x >= y");
  EXPECT_EQ(simplified("!(f < f)"), "!(f < f)");
  EXPECT_EQ(simplified("x < 5 && x < 3"), "x < 3");
  EXPECT_EQ(simplified("x < 3 && x > 4"), "false");
  EXPECT_EQ(simplified("x < 3 || x >= 2"), "true");
  EXPECT_EQ(decide(parse("likely(x < n)"), {{"x", {0, 4}}, {"n", {5, {}}}}), true);
  EXPECT_EQ(decide(parse("likely(x) < x + 1")), true);
  EXPECT_EQ(decide(parse("x < n"), {{"x", {0, 5}}, {"n", {5, {}}}}), std::nullopt);
}

TEST(simplify, chooses_of_selects) {
  EXPECT_EQ(simplified("select(true, x, y)"), "x");
  EXPECT_EQ(simplified("select(p, x, x)"), "x");
  EXPECT_EQ(simplified("select(!p, x, y)"), "select(p, y, x)");
  EXPECT_EQ(simplified("select(x < y, x, y)"), "min(x, y)");
  EXPECT_EQ(simplified("select(p, true, false)"), "p");
}

TEST(simplify, drops_casts_that_keep_the_value) {
  EXPECT_EQ(simplified("uint8(uint16(a))"), "a");
  EXPECT_EQ(simplified("uint8(int32(a) + 1)"), "uint8(int32(a) + 1)");
  EXPECT_EQ(simplified("int32(uint8(x))", {{"x", {0, 200}}}), "x");
  EXPECT_EQ(simplified("int32(uint8(x))"), "int32(uint8(x))");
  EXPECT_EQ(simplified("uint8(300)"), "44u8");
  EXPECT_EQ(simplified("float32(float64(f))"), "f");
}

TEST(simplify, keeps_floats_to_the_bit) {
  EXPECT_EQ(simplified("f*1.0f"), "f");
  EXPECT_EQ(simplified("f + 0.0f"), "f + 0.0f");
  EXPECT_EQ(simplified("f + -0.0f"), "f");
  EXPECT_EQ(simplified("f - 0.0f"), "f");
  EXPECT_EQ(simplified("f*0.0f"), "f*0.0f");
  EXPECT_EQ(simplified("f - f"), "f - f");
  EXPECT_EQ(simplified("1.0f/3.0f"), "0.33333334f");
  EXPECT_EQ(simplified("0.0f/0.0f"), "0.0f/0.0f");
  EXPECT_EQ(simplified("f == f"), "f == f");
  EXPECT_EQ(simplified("sqrt(4.0f)"), "2.0f");
}

// min(x*8, 48) is a multiple of 8, and so is what is named so.
TEST(simplify, knows_multiples) {
  const VariableBound eights({}, 8);
  EXPECT_EQ(simplified("x%8", {{"x", eights}}), "0");
  EXPECT_EQ(simplified("(x + 3)%4", {{"x", eights}}), "3");
  EXPECT_EQ(simplified("x%16", {{"x", eights}}), "x%16");
  EXPECT_EQ(simplified("ramp(x, 1, 8)/broadcast(8, 8)", {{"x", eights}}), "broadcast(x/8, 8)");
  EXPECT_EQ(simplified("ramp(x, 1, 8)/broadcast(8, 8)", {{"x", VariableBound({}, 4)}}),
            "ramp(x, 1, 8)/broadcast(8, 8)");
  EXPECT_EQ(constant_divisor(parse("min(x*8, 48)")), 8);
  EXPECT_EQ(constant_divisor(parse("min(x*8, y*12) + 6")), 2);
  EXPECT_EQ(constant_divisor(parse("x*6"), {{"x", eights}}), 48);
  EXPECT_EQ(constant_divisor(parse("x + y")), 1);
  EXPECT_EQ(constant_divisor(parse("x - x")), 0);
}

TEST(simplify, computes_with_ramps_and_broadcasts) {
  EXPECT_EQ(simplified("ramp(x, 1, 8) + broadcast(y, 8)"), "ramp(x + y, 1, 8)");
  EXPECT_EQ(simplified("broadcast(x, 8)*broadcast(3, 8)"), "broadcast(x*3, 8)");
  EXPECT_EQ(simplified("ramp(x, 1, 8)*broadcast(3, 8)"), "ramp(x*3, 3, 8)");
  EXPECT_EQ(simplified("ramp(x, 2, 8) - ramp(y, 2, 8)"), "broadcast(x - y, 8)");
  EXPECT_EQ(simplified("int64x8(ramp(x, 1, 8))"), "ramp(int64(x), 1i64, 8)");
  EXPECT_EQ(simplified("ramp(x*8, 1, 8)/broadcast(8, 8)"), "broadcast(x, 8)");
  EXPECT_EQ(simplified("ramp(x*8, 1, 8)%broadcast(8, 8)"), "ramp(0, 1, 8)");
  // A vector stays in a part of a longer period.
  EXPECT_EQ(simplified("ramp(x*8, 1, 8)/broadcast(32, 8)"), "broadcast(x/4, 8)");
  EXPECT_EQ(simplified("ramp(x*8 + 36, 1, 4)%broadcast(32, 4)"), "ramp(x%4*8 + 4, 1, 4)");
  EXPECT_EQ(simplified("ramp(x*8 + 7, -1, 8)%broadcast(32, 8)"), "ramp(x%4*8 + 7, -1, 8)");
  EXPECT_EQ(simplified("ramp(x*8 + 5, 1, 4)/broadcast(32, 4)"),
            "ramp(x*8 + 5, 1, 4)/broadcast(32, 4)");
  EXPECT_EQ(simplified("ramp(x*8, 1, 16)/broadcast(12, 16)"),
            "ramp(x*8, 1, 16)/broadcast(12, 16)");
  EXPECT_EQ(simplified("ramp(x*8 + 1, 1, 8)/broadcast(8, 8)"),
            "ramp(x*8 + 1, 1, 8)/broadcast(8, 8)");
  EXPECT_EQ(simplified("ramp(x, 8, 4)/broadcast(8, 4)"), "ramp(x/8, 1, 4)");
  // Lanes that repeat.
  EXPECT_EQ(simplified("ramp(x*8, 1, 16)/broadcast(8, 16)"),
            "ramp(broadcast(x, 8), broadcast(1, 8), 2)");
  EXPECT_EQ(simplified("ramp(x*8, 2, 16)/broadcast(8, 16)"),
            "ramp(broadcast(x, 4), broadcast(1, 4), 4)");
  EXPECT_EQ(simplified("ramp(x*2, 1, 4)/broadcast(2, 4)*broadcast(3, 4) + broadcast(y, 4)"),
            "ramp(broadcast(x*3 + y, 2), broadcast(3, 2), 2)");
  EXPECT_EQ(simplified("ramp(min(x*8, 48), 1, 4)/broadcast(2, 4)"),
            "ramp(broadcast(min(x*8, 48)/2, 2), broadcast(1, 2), 2)");
  EXPECT_EQ(simplified("ramp(x*2 + 1, 1, 4)/broadcast(2, 4)"),
            "ramp(x*2 + 1, 1, 4)/broadcast(2, 4)");
  EXPECT_EQ(simplified("ramp(y, 1, 8) < broadcast(15, 8)", {{"y", {0, 7}}}), "broadcast(true, 8)");
  EXPECT_EQ(simplified("ramp(y, 1, 8) < broadcast(14, 8)", {{"y", {0, 7}}}),
            "ramp(y, 1, 8) < broadcast(14, 8)");
  EXPECT_EQ(simplified("shuffle({ramp(x, 2, 8)}, {4, 5, 6, 7})"), "ramp(x + 8, 2, 4)");
  EXPECT_EQ(simplified("shuffle({ramp(x, 2, 2)}, {0, 0, 0, 1, 1, 1})"),
            "ramp(broadcast(x, 3), broadcast(2, 3), 2)");
  EXPECT_EQ(simplified("shuffle({ramp(x, 2, 2)}, {0, 0, 1, 1, 1, 1})"),
            "shuffle({ramp(x, 2, 2)}, {0, 0, 1, 1, 1, 1})");
  EXPECT_EQ(simplified("shuffle({ramp(x, 4, 2)}, {0, 0, 0, 0, 1, 1, 1, 1}) + "
                       "broadcast(ramp(y, 1, 4), 2)"),
            "ramp(x + y, 1, 8)");
  EXPECT_EQ(simplified("shuffle({ramp(x, 5, 2)}, {0, 0, 0, 0, 1, 1, 1, 1}) + "
                       "broadcast(ramp(y, 1, 4), 2)"),
            "ramp(ramp(x + y, 1, 4), broadcast(5, 4), 2)");
  EXPECT_EQ(simplified("shuffle({broadcast(x, 8)}, {3})"), "x");
  EXPECT_EQ(simplified("buf[broadcast(x, 8)]"), "broadcast(buf[x], 8)");
  EXPECT_EQ(simplified("buf[ramp(x, 1, 8) if broadcast(true, 8)]"), "buf[ramp(x, 1, 8)]");
}

TEST(simplify, inlines_trivial_lets_without_capture) {
  EXPECT_EQ(simplified("let t = 3 in t + x"), "x + 3");
  EXPECT_EQ(simplified("let t = x in t*t"), "x*x");
  EXPECT_EQ(simplified("let t = x/y in x"), "x");
  // Inlining x for t would let the inner x capture it.
  const Expr x = make_variable(Int(32), VariableKind::Symbol, "x");
  const Expr t = make_variable(Int(32), VariableKind::Symbol, "t");
  const Expr inner = make_let("x", make_binary(Op::Div, t, Expr(3)), make_binary(Op::Mul, t, x));
  const Expr e = make_let("t", x, inner);
  Environment names;
  names["x"] = {{7, 0}};
  EXPECT_EQ(Evaluator(names, 1000)(simplify(e))[0].i, 14);
}

TEST(simplify, folds_no_overflow_of_affine_types) {
  EXPECT_EQ(simplified("2147483647 + 1"), "2147483647 + 1");
  EXPECT_EQ(simplified("x*2147483647*2"), "x*2147483647*2");
}

// A tree of 2^60 leaves in 60 nodes.
TEST(simplify, is_linear_in_shared_nodes) {
  Expr e = make_variable(Float(32), VariableKind::Symbol, "f");
  Expr i = make_variable(Int(32), VariableKind::Symbol, "x");
  for (int k = 0; k < 60; k++) {
    e = make_binary(Op::Add, make_binary(Op::Mul, e, e), e);
    const Expr half = make_binary(Op::Div, i, Expr(3 + k));
    i = make_binary(Op::Min, make_binary(Op::Mul, half, half), make_binary(Op::Add, i, half));
  }
  // A walk of the tree instead of its nodes would not end.
  EXPECT_EQ(simplify(e).type(), Float(32));
  EXPECT_EQ(simplify(i).type(), Int(32));
}

}  // namespace
}  // namespace polyhalite::simplify_test
