#include "lang/simplify/distribute.h"

#include <gtest/gtest.h>

#include "lang/ir/expr_text.h"
#include "lang/ir/text.h"

namespace polyhalite::distribute_test {
namespace {

constexpr const char *kInputs =
    "image g: int32, 1\nimage h: int32, 2\nimage t: float32, 1\nimage b: uint8, 1\n"
    "image m: bool, 1\n";

// "same * varying" of each term of update 0 of f, one a line, or what stands against it.
std::string terms(const std::string &type_and_definitions) {
  const Algorithm a =
      parse_algorithm(std::string("algorithm 1\n") + kInputs + type_and_definitions + "output f\n");
  const FuncDef &f = *a.find("f");
  std::string why, text;
  const auto found = reduction_terms(f, 1, constant_ranges(f, 1, {}), &why);
  if (!found) return why;
  for (const ReductionTerm &t : *found) {
    text += (f.types.size() > 1 ? std::to_string(t.value) + ": " : "") +
            std::string(t.subtracted ? "- " : "") +
            (t.same.defined() ? to_text(t.same) + " " + op_name(t.inner) + " " : "") +
            to_text(t.varying) + "\n";
  }
  return text;
}

TEST(distribute, factors_of_sums) {
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = f(x) + g(x)*h(x, r)*g(x + 1) + h(r, x)\n"),
            "g(x)*g(x + 1) * h(x, r)\n"
            "h(r, x)\n");
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = h(x, r)*g(x) + f(x)\n"), "g(x) * h(x, r)\n");
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = f(x) - g(x)*r - (r - h(r, x))\n"),
            "- g(x) * r\n"
            "- r\n"
            "h(r, x)\n");
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = f(x) + g(x)*3 + r*2\n"),
            "g(x)*3 * 1\n"
            "2 * r\n");
}

TEST(distribute, sums_under_min_and_max) {
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = min(f(x), g(x) + h(x, r))\n"),
            "g(x) + h(x, r)\n");
  EXPECT_EQ(terms("f(x) = 0.0f\nover r(0, 9): f(x) = max(f(x), t(x) - t(r))\n"),
            "t(x) + 0.0f - t(r)\n");
  // 250 + b wraps: the order of sums is not that of their terms.
  EXPECT_EQ(
      terms("f(x) = 0u8\nover r(0, 9): f(x) = min(f(x), 250u8 + b(r))\n"),
      "each of its values has one term, and no factor of that is the same in all steps of the "
      "reduction");
  // There may be no step, and then no min to add to.
  EXPECT_EQ(
      terms("f(x) = 0\nover r(0, 9) where r < x: f(x) = min(f(x), g(x) + h(x, r))\n"),
      "each of its values has one term, and no factor of that is the same in all steps of the "
      "reduction");
}

TEST(distribute, conditions) {
  EXPECT_EQ(terms("f(x) = false\nover r(0, 9): f(x) = f(x) || (m(x) && m(r))\n"), "m(x) && m(r)\n");
  EXPECT_EQ(terms("f(x) = true\nover r(0, 9): f(x) = f(x) && (m(r) || m(x))\n"), "m(x) || m(r)\n");
}

TEST(distribute, each_value_of_a_tuple) {
  EXPECT_EQ(terms("f(x) = {0, 1}\n"
                  "over r(0, 9): f(x) = {f(x) + g(x)*r + r, min(f(x).1, g(x) + r)}\n"),
            "0: g(x) * r\n"
            "0: r\n"
            "1: g(x) + r\n");
}

TEST(distribute, blocks_share_a_factor) {
  EXPECT_EQ(terms("f(u) = 0\nover k(0, 32): f(u) = f(u) + g((u*32 + k)/32)*h(u, k)\n"),
            "g(u) * h(u, k)\n");
  EXPECT_EQ(terms("f(u) = 0\n"
                  "over k(0, 32) where u*32 + k < 100: f(u) = f(u) + g(min(u*32 + k, 99)/32)*k\n"),
            "g(min(u, 3)) * k\n");
  EXPECT_EQ(
      terms("f(u) = 0\nover k(0, 32): f(u) = f(u) + g((u*32 + k)/16)*h(u, k)\n"),
      "each of its values has one term, and no factor of that is the same in all steps of the "
      "reduction");
}

TEST(distribute, other_forms) {
  const std::string form = "; write it as f = f + ..., min, max, && or ||";
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = f(x)*g(r)\n"),
            "it does not join the Func's value with others by an operator" + form);
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = f(x)*2 + g(r)\n"),
            "a term depends on the Func's own values" + form);
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = g(r) - f(x)\n"),
            "it subtracts the Func's own value" + form);
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(x) = g(x) + g(r)\n"),
            "the Func's own value is not one of its terms" + form);
  EXPECT_EQ(terms("f(x) = 0\nover r(0, 9): f(r) = f(r) + g(x)*g(r)\n"),
            "the cell that it updates depends on its reduction variables");
  EXPECT_EQ(terms("f(x) = 0\nf(x) = f(x) + g(x)\n"), "it has no reduction variables");
}

}  // namespace
}  // namespace polyhalite::distribute_test
