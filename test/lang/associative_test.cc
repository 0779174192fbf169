// Which updates are proven associative, with operator, operand and identity.
#include "lang/simplify/associative.h"

#include <gtest/gtest.h>

#include "lang/ir/expr_text.h"
#include "lang/ir/text.h"

namespace polyhalite::associative_test {
namespace {

// "OPERAND | IDENTITY | commutative", or why not.
std::string proof(const std::string &types, const std::string &update,
                  const std::string &over = "over r(0, 10): ") {
  const Algorithm a =
      parse_algorithm("algorithm 1\nimage in: " + types + ", 1\nparam c: bool\nf(x) = " +
                      (update[0] == '{' ? "{in(0), in(1)}" : "in(0)") + "\n" + over +
                      "f(x) = " + update + "\noutput f\n");
  std::string why;
  const auto p = prove_associative(a.funcs[0], 1, &why);
  if (!p) return why;
  std::string text;
  for (const Expr &e : p->operands) text += (text.empty() ? "" : ", ") + to_text(e);
  text += " |";
  for (const Expr &e : p->identity) text += " " + to_text(e);
  return text + (p->commutative ? " | commutative" : " | ordered");
}

TEST(associative, sums_and_products) {
  EXPECT_EQ(proof("int32", "f(x) + in(r)"), "in(r) | 0 | commutative");
  EXPECT_EQ(proof("int32", "in(r) + (f(x) + in(x))"), "in(x) + in(r) | 0 | commutative");
  EXPECT_EQ(proof("int32", "f(x) - in(r)"), "0 - in(r) | 0 | commutative");
  EXPECT_EQ(proof("float32", "f(x)*in(r)"), "in(r) | 1.0f | commutative");
}

TEST(associative, extremes_also_as_selects) {
  EXPECT_EQ(proof("uint8", "min(f(x), in(r))"), "in(r) | 255u8 | commutative");
  EXPECT_EQ(proof("int8", "max(f(x), in(r))"), "in(r) | -128i8 | commutative");
  EXPECT_EQ(proof("int32", "select(f(x) < in(r), in(r), f(x))"),
            "in(r) | -2147483648 | commutative");
}

TEST(associative, conditions_that_leave_the_cell) {
  EXPECT_EQ(proof("int32", "select(c, f(x) + in(r), f(x))"),
            "select(c, in(r), 0) | 0 | commutative");
}

TEST(associative, the_place_of_an_extreme_is_ordered) {
  EXPECT_EQ(proof("int32", "{max(f(x), in(r)), select(f(x) < in(r), r, f(x).1)}"),
            "in(r), r | -2147483648 0 | ordered");
}

TEST(associative, complex_products_by_algebra) {
  EXPECT_EQ(proof("int32", "{f(x)*in(r) - f(x).1*in(r + 1), f(x)*in(r + 1) + f(x).1*in(r)}"),
            "in(r), in(r + 1) | 1 0 | commutative");
}

TEST(associative, the_place_of_the_smallest_too) {
  EXPECT_EQ(proof("int32", "{min(f(x), in(r)), select(in(r) < f(x), r, f(x).1)}"),
            "in(r), r | 2147483647 0 | ordered");
}

TEST(associative, values_of_their_own) {
  EXPECT_EQ(proof("int32", "{f(x) + in(r), min(f(x).1, r)}"),
            "in(r), r | 0 2147483647 | commutative");
}

TEST(associative, sums_that_saturate) {
  EXPECT_EQ(proof("uint8", "saturating_add(f(x), in(r))"), "in(r) | 0u8 | commutative");
}

TEST(associative, comparisons_and_bits_by_trying_all) {
  EXPECT_EQ(proof("uint8", "bitwise_not(bitwise_xor(f(x), in(r)))"), "in(r) | 255u8 | commutative");
  EXPECT_EQ(proof("int32",
                  "{max(f(x), in(r)), select(f(x) > in(r) || (f(x) == in(r) && f(x).1 < "
                  "in(r + 1)), f(x).1, in(r + 1))}"),
            "in(r), in(r + 1) | -2147483648 2147483647 | commutative");
}

TEST(associative, pairs_of_a_linear_recurrence) {
  EXPECT_EQ(proof("int32", "{f(x)*in(r), f(x).1*in(r) + in(r + 1)}"),
            "in(r), in(r + 1) | 1 0 | ordered");
}

TEST(associative, refusals_say_why) {
  EXPECT_EQ(proof("int32", "in(r) - f(x)"),
            "a op b = b - a is not associative: (1 op 0) op 0 is 1, 1 op (0 op 0) is -1");
  EXPECT_EQ(proof("int32", "f(x) + f(x)"),
            "no associative operator is known that its value is made with");
  EXPECT_EQ(proof("int32", "f(x)/2 + in(r)"),
            "a op b = a/2 + b is not associative: (2 op 0) op 0 is 0, 2 op (0 op 0) is 1");
  EXPECT_EQ(proof("int8", "saturating_add(f(x), in(r))"),
            "a op b = saturating_add(a, b) is not associative: (1 op -100) op -100 is -128, 1 op "
            "(-100 op -100) is -127");
  EXPECT_EQ(proof("int32", "{f(x) + f(x).1*in(r), f(x).1 - in(r + 1)}"),
            "a op b = {a0 + a1*b0, a1 - b1} is not associative: ({0, 0} op {0, 0}) op {0, 1} is "
            "{0, -1}, {0, 0} op ({0, 0} op {0, 1}) is {0, 1}");
  EXPECT_EQ(proof("int32", "f(x + 1) + in(r)"), "it reads 'f' at a cell that it does not write");
  EXPECT_EQ(proof("float32", "strict_float(f(x) + in(r))"),
            "strict_float fixes the order of its operations");
}

}  // namespace
}  // namespace polyhalite::associative_test
