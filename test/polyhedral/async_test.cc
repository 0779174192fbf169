// How far asynchronous productions may run ahead, and that they leave alone what is still read.
#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite::async_test {
namespace {

constexpr const char *kRows = R"(image in: uint16, 2
b(x, y) = in(x, y)
c(x, y) = b(x, y) + b(x, y + 1) + b(x, y + 2)
output c
)";

std::string rule(const std::string &schedule) {
  return proof_of(judgement(kRows, schedule), 'd', "asynchronous 'b'");
}

TEST(async, whole_productions) {
  EXPECT_EQ(rule("b.compute_root()\nb.async()"),
            "structural: the consumer waits for the whole production");
  EXPECT_EQ(rule("b.compute_at(c, y)\nb.async()"),
            "structural: the consumer waits for the whole production");
}

TEST(async, ring_of_rows_limits_the_producer) {
  const LoopTree t =
      build_tree(algorithm_of(kRows), directives("b.store_root()\nb.compute_at(c, y)\nb.async()"));
  const FuncSurvey b = survey(t).funcs[0];
  EXPECT_EQ(b.fold, (std::vector<int64_t>{0, 4}));
  EXPECT_TRUE(is_const_int(b.async->ahead));
  EXPECT_EQ(rule("b.store_root()\nb.compute_at(c, y)\nb.async()"),
            "isl: productions at most 1 ahead write cells that no consumer reads any more");
}

TEST(async, more_than_the_ring_has_room_for_is_refused) {
  const LoopTree t =
      build_tree(algorithm_of(kRows), directives("b.store_root()\nb.compute_at(c, y)\nb.async()"));
  Survey s = survey(t);
  s.funcs[0].async->ahead = make_int(Int(32), 3);
  const Judgement j = judge(t, s, exact_options());
  ASSERT_FALSE(j.legal());
  EXPECT_EQ(j.refusal->diagnostic.to_string(),
            "test:3: error: cannot run 'b' asynchronously\n"
            "  why: its production at y=2 writes what the consumer at y=0 may still read "
            "(with c.extent.1=3, c.extent.0=1)\n"
            "  fix: store 'b' where it is computed, or drop async");
}

TEST(async, storages_of_a_ring) {
  EXPECT_EQ(rule("b.compute_at(c, y)\nb.hoist_storage_root()\nb.ring_buffer(2)\nb.async()"),
            "structural: productions in one ring have storages of their own");
}

TEST(async, windows_that_start_again_take_turns) {
  EXPECT_EQ(rule("b.store_root()\nb.compute_at(c, x)\nb.async()"),
            "structural: a production begins when the one before it is consumed");
}

// A window of which no width is known has no ring; where isl may not ask, that it slides is enough.
TEST(async, a_window_that_slides_takes_new_cells) {
  constexpr const char *wide =
      "image in: uint16, 2\nb(x, y) = in(x, y)\nc(x, y) = b(x, y) + b(x, y/2)\noutput c\n";
  const std::string schedule = "b.store_root()\nb.compute_at(c, y)\nb.async()";
  auto rule_with = [&](unsigned long operations, const std::string &more) {
    JudgeOptions options;
    options.isl_operations = operations;
    return proof_of(judgement(wide, schedule + more, options), 'd', "asynchronous 'b'");
  };
  EXPECT_EQ(rule_with(2'000'000, ""),
            "isl: later productions write cells that no earlier consumer reads");
  EXPECT_EQ(rule_with(1, ""),
            "structural: productions of a window that slides write cells that no earlier one had");
  // Whole tiles take in cells that are there already.
  EXPECT_EQ(rule_with(1, "\nb.split(y, yo, yi, 4)"), "");
}

TEST(async, across_a_parallel_loop_is_refused) {
  EXPECT_EQ(verdict("image in: uint16, 2\nb(x, y) = in(x, y)\nc(x, y) = b(x, y)\noutput c\n",
                    "c.parallel(y)\nb.store_root()\nb.compute_at(c, y)\nb.async()"),
            "test:4: error: cannot run 'b' asynchronously across the parallel loop 'y' of 'c'\n"
            "  why: a consumer counts the productions before its own, and iterations y=0 and y=1 "
            "run in any order (with c.extent.1=2)\n"
            "  fix: store 'b' at loop 'y' or inside it, or keep 'y' serial");
}

}  // namespace
}  // namespace polyhalite::async_test
