// Updates that do something else where a condition holds: what they read counts where it is used,
// and values of a short reduction variable are as many updates.
#include <gtest/gtest.h>

#include "polyhedral/model/stage_cases.h"
#include "polyhedral/verdict.h"

namespace polyhalite::cases_test {
namespace {

// Subtractions of the columns before a column's own, then a division.
constexpr const char *kFactors = R"(image in: float32, 2
a(x, y) = in(x, y)
over k(0, 40), j(0, 40), i(0, 40) where k < i && k <= j: a(j, i) = select(k < j, a(j, i) - a(k, i)*a(j, k), a(j, i)/a(j, j))
output a
)";

// Fields that are replaced in turn.
constexpr const char *kFields = R"(image in: float32, 2
u(x, y, p) = in(x, y)
over j(1, 98), i(1, 98), phase(0, 2), t(0, 20): u(j, i, phase) = select(phase == 0, u(j, i, 0) - u(j, i, 1) + u(j, i - 1, 1), u(j, i, 1) - u(j, i + 1, 0) + u(j + 1, i, 0))
output u
)";

TEST(cases, what_a_select_leaves_out_is_no_dependence) {
  // Row i in the order of columns, each by all the columns before: k may be the outermost loop.
  EXPECT_EQ(verdict(kFactors,
                    "a.update(0).reorder(j, i, k)\n"
                    "a.update(0).parallel(i)\n"),
            "legal");
  EXPECT_EQ(verdict(kFactors,
                    "a.update(0).split(k, ko, ki, 8)\n"
                    "a.update(0).split(j, jo, ji, 8)\n"
                    "a.update(0).split(i, io, ii, 8)\n"
                    "a.update(0).reorder(ji, ii, ki, jo, io, ko)\n"),
            "legal");
}

TEST(cases, what_it_takes_in_is_one) {
  EXPECT_EQ(verdict(kFactors, "a.update(0).reorder(k, i, j)\na.update(0).parallel(j)\n"),
            R"(test:2: error: cannot run loop 'j' of update 0 of 'a' in parallel
  why: a at (i=1, j=1, k=0) reads a(0, 1), which (i=1, j=0, k=0) writes
  fix: keep 'j' serial)");
}

TEST(cases, a_phase_is_an_update) {
  EXPECT_EQ(verdict(kFields, "u.update(0).parallel(i)\nu.update(0).vectorize(j)\n"), "legal");
  EXPECT_EQ(verdict(kFields,
                    "u.update(0).skew(i, phase, i, 1)\n"
                    "u.update(0).skew(i, t, i, 1)\n"
                    "u.update(0).split(t, to, ti, 4)\n"
                    "u.update(0).split(i, io, ii, 8)\n"
                    "u.update(0).reorder(j, ii, phase, ti, io, to)\n"
                    "u.update(0).unroll(phase)\n"
                    "u.update(0).split(j, jo, ji, 8)\n"
                    "u.update(0).vectorize(ji)\n"),
            "legal");
}

TEST(cases, phases_keep_their_order) {
  EXPECT_EQ(verdict(kFields, "u.update(0).reorder(phase, j, i, t)\n"),
            R"(test:1: error: cannot reorder 'phase' inside 'i' on update 0 of 'u'
  why: u at (t=0, phase=1, i=1, j=1) reads what (t=0, phase=0, i=2, j=1) writes; with i outside, (0,0,2,1) would run after (0,1,1,1)
  fix: keep phase outside i, or skew i by phase first)");
}

TEST(cases, as_many_as_the_variable_has_values) {
  auto cases = [](const std::string &algorithm) {
    return stage_cases(algorithm_of(algorithm).funcs[0].stages[1]).size();
  };
  EXPECT_EQ(cases(kFields), 2u);
  EXPECT_EQ(cases(kFactors), 1u);
  EXPECT_EQ(
      cases("f(x) = x\nover a(0, 3), b(1, 2): f(select(a == 1, b, a)) = select(b < 2, 5, f(a))\n"
            "output f\n"),
      6u);
}

}  // namespace
}  // namespace polyhalite::cases_test
