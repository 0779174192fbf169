// Addresses as polynomials.
#include "codegen/llvm/address.h"

#include <gtest/gtest.h>

#include "lang/ir/expr_text.h"

namespace polyhalite::address_test {
namespace {

// "2*x + x*s + -1" in the order of the polynomial's terms.
std::string text_of(const Polynomial &p) {
  std::string text;
  for (const auto &[monomial, coefficient] : p.terms) {
    text += (text.empty() ? "" : " + ") + std::to_string(coefficient);
    for (const Expr &atom : monomial) text += "*" + to_text(atom);
  }
  return text.empty() ? "0" : text;
}

Expr parse_index(const std::string &text) {
  NameResolver names;
  names.variable = [](const std::string &name) {
    return make_variable(name == "v" ? Int(32, 8) : Int(32), VariableKind::Symbol, name);
  };
  names.buffer = [](const std::string &) { return Int(32); };
  return parse_expr(text, names);
}

std::string decomposed(const std::string &text, const Expr &v = {}) {
  const auto at = to_lane_address(parse_index(text), [&](const std::string &) { return v; });
  return at ? text_of(at->base) + " by " + text_of(at->stride) : "scattered";
}

TEST(Address, casts_distribute_over_sums_and_products) {
  EXPECT_EQ(decomposed("int64(x - m)*int64(s) + 3i64"), "3 + -1*m*s + 1*s*x by 0");
  EXPECT_EQ(decomposed("int64(x*4 + y) - int64(y)"), "4*x by 0");
}

TEST(Address, what_is_no_sum_stays_whole) {
  EXPECT_EQ(decomposed("int64(min(x, y) + 1)"), "1 + 1*min(x, y) by 0");
  EXPECT_EQ(decomposed("int64(x/2)*2i64"), "2*x/2 by 0");
}

TEST(Address, lanes_are_evenly_spaced_or_scattered) {
  EXPECT_EQ(decomposed("ramp(int64(x) + 1i64, 1i64, 8)"), "1 + 1*x by 1");
  EXPECT_EQ(decomposed("int64x8(ramp(x, -2, 8)*broadcast(s, 8))"), "1*s*x by -2*s");
  EXPECT_EQ(decomposed("broadcast(int64(x), 8)"), "1*x by 0");
  EXPECT_EQ(decomposed("int64x8(ramp(x, 1, 8)*ramp(y, 1, 8))"), "scattered");
  EXPECT_EQ(decomposed("int64x8(ramp(x, 1, 8)/broadcast(2, 8))"), "scattered");
}

TEST(Address, vector_symbols_are_looked_through) {
  EXPECT_EQ(decomposed("int64x8(v + broadcast(x, 8))", parse_index("ramp(y, 2, 8)")),
            "1*x + 1*y by 2");
  EXPECT_EQ(decomposed("int64x8(v)"), "scattered");
}

}  // namespace
}  // namespace polyhalite::address_test
