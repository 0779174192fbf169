// What conditions say of sums, and how far what is read goes then.
#include "polyhedral/limited_sums.h"

#include <gtest/gtest.h>

#include <string>

#include "lang/ir/expr_text.h"
#include "polyhalite/error.h"
#include "verdict.h"

namespace polyhalite::limited_sums_test {
namespace {

std::string algorithm_where(const std::string &condition, const std::string &index) {
  return "param n: int32\nimage in: int32, 1\np(x) = in(x)\nf(x) = 0\nover r(0, 50), q(0, 50) "
         "where " +
         condition + ": f(x) = f(x) + p(" + index + ")\noutput f\n";
}

std::string sums(const std::string &condition) {
  const Algorithm a = algorithm_of(algorithm_where(condition, "x"));
  std::string text;
  for (const LimitedSum &s : limited_sums(a.find("f")->stages[1].predicate)) {
    const auto end = [](const Expr &e) { return e.defined() ? to_text(e) : std::string("*"); };
    text +=
        to_text(to_expr(s.sum)) + " in [" + end(s.within.min) + ", " + end(s.within.max) + "]\n";
  }
  return text;
}

TEST(limited_sums, are_what_comparisons_say) {
  EXPECT_EQ(sums("x + r < n"), "x + r in [*, n - 1]\n");
  EXPECT_EQ(sums("x >= 1"), "x in [1, *]\n");
  EXPECT_EQ(sums("3 <= 2*x - 2*r && x - r < 9"), "x - r in [2, 8]\n");
  EXPECT_EQ(sums("x + r == n"), "x + r in [n, n]\n");
  EXPECT_EQ(sums("x - r*r >= 0"), "x - r*r in [0, *]\n");
  EXPECT_EQ(sums("x + r != n"), "");
  EXPECT_EQ(sums("x + r < n || x < 3"), "");
  EXPECT_EQ(sums("x + in(r) < n"), "");
}

TEST(limited_sums, of_two_rows_make_a_third) {
  EXPECT_EQ(sums("q <= r && r <= x"), "q - r in [*, 0]\nx - r in [0, *]\nx - q in [0, *]\n");
  EXPECT_EQ(sums("2*r + 30 < q && q >= 100 - r"),
            "q - r*2 in [31, *]\nq + r in [100, *]\n");  // that q >= 77 is for ranges to say
}

// What is read of the input.
std::string needed(const std::string &condition, const std::string &index,
                   const std::string &schedule = "") {
  const LoopTree tree =
      build_tree(algorithm_of(algorithm_where(condition, index)), directives(schedule));
  const IndexRange in = survey(tree).inputs.at("in")[0];
  return to_text(in.min) + " .. " + to_text(in.max);
}

TEST(limited_sums, end_what_is_read) {
  const auto of = [](const std::string &index) { return needed("x + r < n", index); };
  const std::string last = "min(f.extent.0 + f.min.0 + 48, n - 1)";
  EXPECT_EQ(of("x + r"), "f.min.0 .. " + last);
  EXPECT_EQ(of("x + r + 3"), "f.min.0 + 3 .. " + last + " + 3");
  EXPECT_EQ(of("2*x + 2*r"), "f.min.0*2 .. " + last + "*2");
  EXPECT_EQ(of("n - x - r"), "n - " + last + " .. n - f.min.0");
  EXPECT_EQ(of("(x + r)/2"), "f.min.0/2 .. " + last + "/2");
  EXPECT_EQ(of("x + r + q"), "f.min.0 .. " + last + " + 49");
  EXPECT_EQ(needed("q <= r && r <= x", "x - q"),
            "max(f.min.0 - 49, 0) .. f.extent.0 + f.min.0 - 1");
}

// Where loops around a producer fix the sum, cells of cut iterations are those at its ends.
TEST(limited_sums, clamp_points) {
  const std::string r = "p.compute_at(f, r)", x = "p.compute_at(f, x)";
  EXPECT_EQ(needed("x + r < n", "x + r + 3", r),
            "min(f.min.0, n - 1) + 3 .. min(f.extent.0 + f.min.0 + 48, n - 1) + 3");
  EXPECT_EQ(needed("x >= 1", "x - 1", x),
            "max(f.min.0, 1) - 1 .. max(f.extent.0 + f.min.0 - 1, 1) - 1");
  // No condition is on a sum that is read.
  EXPECT_EQ(needed("x + r < n", "x - r", r), "f.min.0 - 49 .. f.extent.0 + f.min.0 - 1");
}

// Iterations beyond a range that store nothing read all the same: the range ends no sum.
TEST(limited_sums, hold_beyond_ranges) {
  const std::string bounded = "f.bound(x, 0, 5)\n", split = "f.update(0).split(x, xo, xi, 8, ";
  EXPECT_EQ(needed("r <= x", "r", bounded + split + "GuardWithIf)\n"), "0 .. 4");
  EXPECT_EQ(needed("r <= x", "r", bounded + split + "PredicateStores)\n"), "0 .. 7");
}

TEST(limited_sums, are_proven) {
  for (const char *schedule : {"p.compute_root()", "p.compute_at(f, x)", "p.compute_at(f, r)",
                               "f.update(0).split(x, xo, xi, 8, "
                               "GuardWithIf)\nf.update(0).vectorize(xi)\np.compute_at(f, xo)",
                               "f.update(0).split(x, xo, xi, 8, "
                               "GuardWithIf)\nf.update(0).parallel(xo)\np.compute_at(f, xi)"}) {
    EXPECT_EQ(verdict(algorithm_where("x + r < n && q <= r", "x + r"), schedule), "legal");
    EXPECT_EQ(verdict(algorithm_where("q <= r && r <= x", "x - q"), schedule), "legal");
    EXPECT_EQ(verdict(algorithm_where("2*x - 2*r >= 3 && x - r < n", "(x - r)/2 + q"), schedule),
              "legal");
  }
}

}  // namespace
}  // namespace polyhalite::limited_sums_test
