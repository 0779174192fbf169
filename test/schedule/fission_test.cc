// fission: what it makes of updates and of loops, what it refuses, and that values stay.
#include "schedule/fission.h"

#include <gtest/gtest.h>

#include "schedule/build.h"
#include "schedule/derived_values.h"

namespace polyhalite::fission_test {
namespace {

constexpr const char *kTwoSums = R"(image in: int32, 1
m(x) = {0, 0}
over r(0, 6): m(x) = {m(x) + in(x + r), max(m(x).1, in(x + r))}
output m
)";

std::string parts(const std::string &update, const std::string &over = "over r(1, 8): ") {
  const Algorithm a = parse_algorithm("algorithm 1\nf(x) = {x, x*2, x*3}\n" + over + "f(r) = {" +
                                      update + "}\noutput f\n");
  std::string why, text;
  for (const auto &part : fission_parts(a.funcs[0], 1, &why)) {
    text += text.empty() ? "" : " |";
    for (const size_t v : part) text += (text.empty() ? "" : " ") + std::to_string(v);
  }
  return why.empty() ? text : text + ": " + why;
}

TEST(fission, a_loop_that_chooses_the_value) {
  EXPECT_EQ(derived(kTwoSums, "m.update(0).fission(p)"), R"(image in: int32, 1
m(x) = {0, 0}
over p(0, 2), r(0, 6): m(x) = {select(p == 0, m(x) + in(x + r), m(x)), select(p == 1, max(m(x).1, in(x + r)), m(x).1)}
output m
)");
}

TEST(fission, outside_of_all_loops_or_next_inside_of_one) {
  EXPECT_EQ(tree(kTwoSums, "m.update(0).fission(p)"), R"(for m.s0.x serial
  m.s0
for m.s1.p unrolled reduction
  for m.s1.x serial
    for m.s1.r serial reduction
      m.s1
)");
  EXPECT_EQ(tree(kTwoSums, "m.update(0).fission(x, p)\nm.update(0).parallel(p)"),
            R"(for m.s0.x serial
  m.s0
for m.s1.x serial
  for m.s1.p parallel reduction
    for m.s1.r serial reduction
      m.s1
)");
  EXPECT_EQ(tree(kTwoSums,
                 "m.update(0).split(r, ro, ri, 2)\n"
                 "m.update(0).reorder(x, ri, ro)\n"
                 "m.update(0).vectorize(ri)\n"
                 "m.update(0).fission(ro, p)\n"),
            R"(for m.s0.x serial
  m.s0
for m.s1.ro serial reduction
  for m.s1.p unrolled reduction
    for m.s1.ri vector reduction
      for m.s1.x serial
        m.s1: r -> ro, ri by 2 GuardWithIf
)");
}

TEST(fission, parts_follow_from_what_values_need_of_each_other) {
  EXPECT_EQ(parts("f(r) + 1, f(r).1 + 1, f(r).2 + 1"), "0 | 1 | 2");
  // 1 needs what 0 was, so 0 comes after it.
  EXPECT_EQ(parts("f(r) + 1, f(r) + 2, f(r).2 + 1"), "1 | 0 | 2");
  EXPECT_EQ(parts("f(r).1, f(r), f(r).2 + 1"), "0 1 | 2");
  EXPECT_EQ(parts("f(r).1, f(r).2, f(r) + f(r).1"),
            "0 1 2: an instance that writes f(r) needs "
            "what was there before: value 0 reads f(r).1, value 1 reads f(r).2, value 2 reads "
            "f(r), value 2 reads f(r).1");
  // What other instances have written binds no instance.
  EXPECT_EQ(parts("f(r - 1).1, f(r - 1).2, f(r - 1)"), "0 | 1 | 2");
  // A value that stays is no part.
  EXPECT_EQ(parts("f(r), f(r).1 + 1, r"), "1 | 2");
  EXPECT_EQ(parts("f(r), f(r).1, r"), "2: each instance writes one value");
}

TEST(fission, cells_that_may_be_the_written_one) {
  EXPECT_EQ(parts("f(8 - r).1, f(8 - r), 1"), "0 1 | 2");
  // No two whole numbers are alike and add up to 9, and 17 - r is more than 8 everywhere.
  EXPECT_EQ(parts("f(9 - r).1, f(9 - r), 1"), "0 | 1 | 2");
  EXPECT_EQ(parts("f(17 - r).1, f(17 - r), 1"), "0 | 1 | 2");
  EXPECT_EQ(parts("f(8 - r).1, f(8 - r), f(r).2").substr(0, 3), "0 1");
  EXPECT_NE(parts("f(8 - r).1, f(8 - r), f(r).2").find("value 0 may read f(8 - r).1"),
            std::string::npos);
}

TEST(fission, a_condition_that_reads_the_func_binds_all_values) {
  EXPECT_EQ(parts("1, 2, 3", "over r(1, 8) where f(r).1 > 0: "), "0 | 2 | 1");
}

TEST(fission, refusals_say_what_is_in_the_way) {
  const std::string swap = "f(x) = {x, x + 1}\nf(x) = {f(x).1, f(x)}\noutput f\n";
  EXPECT_EQ(
      derived(swap, "f.update(0).fission(p)"),
      "s.txt:1: error: cannot fission update 0 of 'f': its values are computed together\n"
      "  why: an instance that writes f(x) needs what was there before: value 0 reads f(x).1, "
      "value 1 reads f(x)\n"
      "  fix: leave them together, or read what they need through another Func\n");
  EXPECT_EQ(derived(swap, "f.fission(p)"),
            "s.txt:1: error: cannot fission 'f'\n"
            "  why: the values of a pure definition wait for nothing\n"
            "  fix: define a Func for each value, or call it on an update\n");
  EXPECT_EQ(derived("f(x) = x\nf(x) = f(x) + 1\noutput f\n", "f.update(0).fission(p)"),
            "s.txt:1: error: cannot fission update 0 of 'f': its values are computed together\n"
            "  why: it has one value\n"
            "  fix: leave them together, or read what they need through another Func\n");
  EXPECT_EQ(derived(kTwoSums, "m.update(0).fission(r)"),
            "s.txt:1: error: cannot fission update 0 of 'm': it already has a loop 'r'\n"
            "  fix: give the new loop a name other than: r, x\n");
  EXPECT_EQ(derived(kTwoSums, "m.update(0).fission(t, p)"),
            "s.txt:1: error: cannot fission update 0 of 'm' inside of 't': it has no such loop\n"
            "  fix: its loops are, outermost first: x, r\n");
}

TEST(fission, values_stay_with_the_new_loop_innermost) {
  const Buffer<> in = mixed_numbers(Int(32), 40, -50, 50);
  expect_same_values(kTwoSums, "m.update(0).fission(p)", {20}, in);
  expect_same_values(
      "image in: int32, 1\nf(x) = {in(x), x}\n"
      "over r(1, 12): f(r) = {f(r - 1).1 - f(r), f(r) + f(r - 1)}\noutput f\n",
      "f.update(0).fission(p)", {14}, in);
  expect_same_values(
      "image in: int32, 1\nf(x) = {in(x), x, 1}\n"
      "over r(1, 12) where f(r) > 0: f(r) = {0 - f(r), f(r - 1), f(r)}\n"
      "output f\n",
      "f.update(0).fission(p)", {14}, in);
}

}  // namespace
}  // namespace polyhalite::fission_test
