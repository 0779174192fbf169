// The brute-force judge on schedules and surveys whose legality is known by hand.
#include "polyhedral/oracle/brute_force.h"

#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite::brute_force_test {
namespace {

using oracle::Enumeration;
using oracle::Experiment;

using Boxes = std::map<std::string, std::vector<oracle::Extent>>;

std::string text(const Enumeration &e) {
  if (e.violation) return std::string(1, e.violation->claim) + ": " + e.violation->text;
  return e.unmet.empty() ? "legal" : "unmet: " + e.unmet;
}

struct Case {
  LoopTree tree;
  Survey survey;
  Experiment experiment;
  Case(const std::string &algorithm, const std::string &schedule, Boxes buffers)
      : tree(build_tree(algorithm_of(algorithm), directives(schedule))),
        survey(polyhalite::survey(tree)),
        experiment{std::move(buffers), {}, 0} {}
  std::string run() const { return text(oracle::brute_force(tree, survey, experiment)); }
  LoopBounds &bounds(const std::string &loop) {
    for (const LoopInfo &l : tree.loops) {
      if (l.name == loop) return survey.loops[l.id];
    }
    ADD_FAILURE() << "no loop " << loop;
    return survey.loops[0];
  }
};

std::string run(const std::string &algorithm, const std::string &schedule, Boxes buffers) {
  return Case(algorithm, schedule, std::move(buffers)).run();
}

constexpr const char *kBlur = R"(image in: int32, 2
bx(x, y) = in(x, y) + in(x + 1, y)
by(x, y) = bx(x, y) + bx(x, y + 1)
output by
)";
const Boxes kSmall = {{"by", {{-2, 19}, {3, 13}}}};

constexpr const char *kSum = R"(image in: int32, 1
s(x) = 0
over r(0, 10): s(x) = s(x) + in(x + r)
output s
)";

constexpr const char *kScan = R"(image in: int32, 1
f(x) = in(x)
over r(1, 20): f(r) = f(r - 1)*3 + f(r)
output f
)";

// Each point reads its upper right neighbour.
constexpr const char *kSkewed = R"(image in: int32, 2
f(x, y) = in(x, y)
over i(0, 9), j(1, 8): f(i, j) = f(i + 1, j - 1)*2 + f(i, j)
output f
)";

constexpr const char *kHistogram = R"(image in: uint8, 1
h(x) = 0
over r(0, 30): h(int32(in(r)%4u8)) = h(int32(in(r)%4u8)) + 1
output h
)";

TEST(brute_force, pure_pipelines_are_legal_under_every_placement_and_tail) {
  for (const char *schedule : {
           "",
           "bx.compute_root()",
           "bx.compute_at(by, y)",
           "bx.compute_at(by, x)",
           "bx.store_root()\nbx.compute_at(by, y)",
           "by.split(y, yo, yi, 4)\nby.parallel(yo)\nby.split(x, x, xi, 8)\nby.vectorize(xi)\n"
           "bx.compute_at(by, yo)\nbx.split(x, x, xi, 4)\nbx.vectorize(xi)",
           "by.split(y, yo, yi, 4, GuardWithIf)\nbx.compute_at(by, yo)\nbx.store_root()",
           "by.fuse(x, y, t)\nby.split(t, t, ti, 6)\nby.parallel(t)\nbx.compute_root()\n"
           "bx.split(x, xo, xi, 7, RoundUp)\nbx.reorder(y, xi, xo)",
       }) {
    EXPECT_EQ(run(kBlur, schedule, kSmall), "legal") << schedule;
  }
}

TEST(brute_force, round_up_of_an_output_asks_for_a_larger_buffer) {
  EXPECT_EQ(run(kBlur, "by.split(x, xo, xi, 8, RoundUp)", kSmall),
            "unmet: 'by' is too small in dimension 0");
  EXPECT_EQ(run(kBlur, "by.split(x, xo, xi, 8, RoundUp)", {{"by", {{0, 16}, {0, 3}}}}), "legal");
}

TEST(brute_force, shift_inwards_assumes_its_factor) {
  Case c(kBlur, "by.split(x, xo, xi, 8)", {{"by", {{0, 7}, {0, 3}}}});
  EXPECT_EQ(c.run().substr(0, 28), "unmet: a split of 'x' with t");
}

TEST(brute_force, with_room_enlarges_outputs_until_they_are_taken) {
  for (const char *schedule :
       {"by.split(x, xo, xi, 8, RoundUp)", "by.split(y, yo, yi, 20)",
        "by.split(x, xo, xi, 8, RoundUp)\nby.split(xo, xoo, xoi, 4, ShiftInwards)"}) {
    Case c(kBlur, schedule, kSmall);
    EXPECT_EQ(c.run().substr(0, 6), "unmet:") << schedule;
    c.experiment = oracle::with_room(c.tree, c.survey, c.experiment);
    EXPECT_EQ(c.run(), "legal") << schedule;
  }
}

TEST(brute_force, storage_outside_a_parallel_loop_is_shared_by_overlapping_productions) {
  EXPECT_EQ(run(kBlur, "by.parallel(y)\nbx.store_root()\nbx.compute_at(by, y)", kSmall),
            "d: 'bx' at (x=-2, y=4) writes and 'bx' at (x=-2, y=4) writes bx(-2, 4) in two "
            "iterations of parallel loop 'by.s0.y'");
  EXPECT_EQ(run(kBlur, "by.parallel(y)\nbx.compute_at(by, y)", kSmall), "legal");
}

TEST(brute_force, reductions_reorder_freely_but_do_not_run_at_once) {
  const Boxes out = {{"s", {{0, 12}}}};
  EXPECT_EQ(run(kSum, "", out), "legal");
  EXPECT_EQ(run(kSum, "s.update(0).split(r, ro, ri, 4)\ns.update(0).reorder(ro, x, ri)", out),
            "legal");
  EXPECT_EQ(run(kSum, "s.update(0).parallel(x)", out), "legal");
  EXPECT_EQ(run(kSum, "s.update(0).split(x, xo, xi, 4)\ns.update(0).vectorize(xi)", out), "legal");
  const std::string carried =
      "e: update 0 of 's' at (x=0, r=0) writes and update 0 of 's' at (x=0, r=1) reads s(0) in two "
      "iterations of ";
  EXPECT_EQ(run(kSum, "s.update(0).parallel(r)", out), carried + "parallel loop 's.s1.r'");
  EXPECT_EQ(run(kSum, "s.update(0).vectorize(r)", out), carried + "vector loop 's.s1.r'");
}

TEST(brute_force, scans_keep_their_order) {
  const Boxes out = {{"f", {{0, 25}}}};
  EXPECT_EQ(run(kScan, "", out), "legal");
  EXPECT_EQ(run(kScan, "f.update(0).split(r, ro, ri, 6)", out), "legal");
  EXPECT_EQ(
      run(kScan, "f.update(0).split(r, ro, ri, 6)\nf.update(0).reorder(ro, ri)", out),
      "c: update 0 of 'f' at (r=7) reads f(6) as 'f' at (x=6) left it, not as update 0 of 'f' at "
      "(r=6) does");
  EXPECT_EQ(run(kScan, "f.update(0).parallel(r)", out),
            "e: update 0 of 'f' at (r=1) writes and update 0 of 'f' at (r=2) reads f(1) in two "
            "iterations of parallel loop 'f.s1.r'");
}

TEST(brute_force, interchange_against_a_dependence_is_found) {
  const Boxes out = {{"f", {{0, 10}, {0, 9}}}};
  EXPECT_EQ(run(kSkewed, "", out), "legal");
  EXPECT_EQ(run(kSkewed, "f.update(0).reorder(j, i)", out),
            "c: update 0 of 'f' at (i=0, j=2) reads f(1, 1) as 'f' at (x=1, y=1) left it, not as "
            "update 0 of 'f' at (i=1, j=1) does");
  EXPECT_EQ(run(kSkewed, "f.update(0).parallel(i)", out), "legal");
}

TEST(brute_force, scatter_depends_on_data) {
  const Boxes out = {{"h", {{0, 4}}}};
  EXPECT_EQ(run(kHistogram, "h.update(0).split(r, ro, ri, 4)\nh.update(0).reorder(ro, ri)", out),
            "legal");
  EXPECT_EQ(run(kHistogram, "h.update(0).parallel(r)", out).substr(0, 2), "e:");
}

TEST(brute_force, the_last_of_several_plain_writes_counts) {
  constexpr const char *kLast = "f(x) = 0\nover r(0, 8): f(r%2) = r\noutput f\n";
  const Boxes out = {{"f", {{0, 2}}}};
  EXPECT_EQ(run(kLast, "", out), "legal");
  EXPECT_EQ(run(kLast, "f.update(0).split(r, ro, ri, 4)\nf.update(0).reorder(ro, ri)", out),
            "legal");
  EXPECT_EQ(
      run(kLast, "f.update(0).split(r, ro, ri, 3)\nf.update(0).reorder(ro, ri)", out),
      "c: the output f(0) is as update 0 of 'f' at (r=2) left it, not as update 0 of 'f' at (r=6) "
      "does");
}

TEST(brute_force, predicates_and_updates_of_producers) {
  EXPECT_EQ(run(R"(image in: int32, 2
p(x, y) = in(x, y)
over r(0, 6), q(0, 6) where r < q: p(x, r) = p(x, r) + in(x, q)
f(x, y) = p(x, y) + p(x + 1, y)
output f
)",
                "p.compute_at(f, x)\nf.split(x, xo, x, 3, GuardWithIf)", {{"f", {{0, 7}, {0, 6}}}}),
            "legal");
  EXPECT_EQ(run(kSum, "s.update(0).split(r, ro, ri, 4)\ns.update(0).unroll(ri)", {{"s", {{5, 3}}}}),
            "legal");
}

TEST(brute_force, update_of_a_fixed_column_and_a_fixed_row) {
  EXPECT_EQ(run(R"(image in: int32, 1
f(x, y) = in(x)
f(x, 2) = f(x, 2) + 1
f(3, y) = f(3, y) * f(3, y)
output f
)",
                "f.update(0).split(x, xo, xi, 4, GuardWithIf)\nf.update(1).parallel(y)",
                {{"f", {{0, 6}, {0, 5}}}}),
            "legal");
}

// -- Surveys with one thing wrong.

TEST(brute_force, a_loop_that_is_too_short_leaves_cells_unwritten) {
  Case c(kBlur, "bx.compute_at(by, y)", kSmall);
  Expr &extent = c.bounds("bx.s0.y").extent;
  extent = make_binary(Op::Sub, extent, Expr(1));
  EXPECT_EQ(c.run(), "b: 'by' at (x=-2, y=3) reads bx(-2, 4), which nothing wrote");
}

TEST(brute_force, an_output_loop_that_is_too_short_is_found) {
  Case c(kBlur, "", kSmall);
  Expr &extent = c.bounds("by.s0.x").extent;
  extent = make_binary(Op::Sub, extent, Expr(1));
  EXPECT_EQ(c.run(), "b: nothing wrote the output by(16, 3)");
}

TEST(brute_force, storage_that_is_too_small_is_found) {
  Case c(kBlur, "bx.compute_root()", kSmall);
  IndexRange &r = c.survey.funcs[c.tree.algorithm.index_of("bx")].stored[1];
  r.max = make_binary(Op::Sub, r.max, Expr(1));
  EXPECT_EQ(c.run(), "f: 'bx' at (x=-2, y=16) writes bx(-2, 16), outside of its storage");
}

TEST(brute_force, an_input_box_that_is_too_small_is_found) {
  Case c(kBlur, "bx.compute_root()", kSmall);
  IndexRange &r = c.survey.inputs.at("in")[0];
  r.max = make_binary(Op::Sub, r.max, Expr(1));
  EXPECT_EQ(c.run(), "f: 'bx' at (x=16, y=3) reads in(17, 3), outside of the box that is read");
}

TEST(brute_force, a_lost_guard_runs_outside_of_the_domain) {
  Case c(kSum, "s.update(0).split(r, ro, ri, 4)", {{"s", {{0, 3}}}});
  ASSERT_EQ(c.run(), "legal");
  c.survey.stages[0][1].guards.clear();
  EXPECT_EQ(c.run(), "a: update 0 of 's' at (x=0, r=10) runs outside of its reduction domain");
}

TEST(brute_force, an_update_that_runs_twice_is_found) {
  Case c(kSum, "s.update(0).split(x, xo, xi, 4)", {{"s", {{0, 8}}}});
  ASSERT_EQ(c.run(), "legal");
  // The second tile begins where the first does.
  StageSurvey &s = c.survey.stages[0][1];
  s.dims["x"] = s.dims.at("xi");
  EXPECT_EQ(
      c.run(),
      "c: the output s(0) is as update 0 of 's' at (x=0, r=9) left it, with other instances before "
      "it");
}

TEST(brute_force, atomic_updates_whose_order_matters_are_not_forgiven) {
  constexpr const char *kLast =
      "f(x) = 0\nover r(0, 4), c(0, 2): f(c) = f(c + 8)*2 + r\noutput f\n";
  const Boxes out = {{"f", {{0, 12}}}};
  const std::string atomic = "f.update(0).atomic(false)\n";
  EXPECT_EQ(run(kLast, atomic + "f.update(0).vectorize(r)", out), "legal");
  EXPECT_EQ(
      run(kLast, atomic + "f.update(0).split(r, ro, ri, 2)\nf.update(0).vectorize(ro)", out),
      "e: update 0 of 'f' at (r=1, c=0) writes and update 0 of 'f' at (r=2, c=0) writes f(0), "
      "which comes first where lanes of vector loop 'f.s1.ro' take turns");
  EXPECT_EQ(run(kLast, atomic + "f.update(0).parallel(r)", out),
            "e: update 0 of 'f' at (r=0, c=0) writes and update 0 of 'f' at (r=1, c=0) writes f(0) "
            "in two iterations of parallel loop 'f.s1.r'");
  EXPECT_EQ(run(kLast, "f.update(0).atomic(true)\nf.update(0).parallel(r)", out), "legal");
  EXPECT_EQ(run(kSum, "s.update(0).atomic(false)\ns.update(0).parallel(r)", {{"s", {{0, 12}}}}),
            "legal");
}

TEST(brute_force, equal_values_meet_in_lanes_and_in_branches) {
  EXPECT_EQ(run("f(x) = 0\nover r(0, 4): f(x) = 7\noutput f\n", "f.update(0).vectorize(r)",
                {{"f", {{0, 12}}}}),
            "legal");
  EXPECT_EQ(run("f(x) = x\noutput f\n",
                "f.specialize(f.extent.0 > 4)\nf.specialize(f.extent.0 > 4).split(x, xo, xi, 5)\n"
                "f.specialize(f.extent.0 > 4).parallel(xo)",
                {{"f", {{0, 12}}}}),
            "legal");
}

TEST(brute_force, predicated_loads_store_beyond_what_is_needed) {
  const std::string tiles =
      "by.parallel(x)\nbx.compute_at(by, x)\nbx.split(x, xo, xi, 4, PredicateLoads)\n";
  constexpr const char *kCopy = "bx(x, y) = x + y\nby(x, y) = bx(x, y)\noutput by\n";
  EXPECT_EQ(run(kCopy, tiles, kSmall), "legal");
  EXPECT_EQ(run(kCopy, tiles + "bx.store_root()", kSmall),
            "d: 'bx' at (x=-1, y=3) writes and 'bx' at (x=-1, y=3) writes bx(-1, 3) in two "
            "iterations of parallel loop 'by.s0.x'");
}

TEST(brute_force, counted_productions_need_iterations_that_have_an_order) {
  constexpr const char *kCopy = "bx(x, y) = x + y\nby(x, y) = bx(x, y)\noutput by\n";
  const std::string task = "bx.async()\nbx.compute_at(by, y)\nbx.store_root()\n";
  EXPECT_EQ(run(kCopy, task, kSmall), "legal");
  EXPECT_EQ(run(kCopy, task + "by.parallel(y)", kSmall),
            "d: 'by' at (x=-2, y=3) reads bx(-2, 3), which another iteration of parallel loop "
            "'by.s0.y' may have waited for");
}

TEST(brute_force, a_symbol_outside_of_its_bounds_is_found) {
  Case c(kBlur, "by.split(x, xo, xi, 8)", kSmall);
  Symbol &s = c.bounds("by.s0.xo").symbols.at(0);
  s.upper = make_binary(Op::Sub, s.value, Expr(1));
  EXPECT_EQ(c.run(), "a: symbol 'by.s0.x.base' is -2, outside of its bounds");
}

// A thread that has nothing to do counts from a base beyond the end.
TEST(brute_force, symbols_of_iterations_without_instances_may_be_anything) {
  EXPECT_EQ(run("image in: int32, 1\nt(x) = in(x)\nf(x) = t(x)\noutput f\n",
                "f.split(x, xo, xi, 3, GuardWithIf)\nf.split(xi, xio, xii, 3)\n"
                "f.reorder(xio, xii, xo)\nf.gpu_blocks(xo)\nf.gpu_threads(xio)\n"
                "t.compute_at(f, xii)\nt.split(x, x, xi, 1)\nt.gpu_threads(x)",
                {{"f", {{0, 7}}}}),
            "legal");
}

TEST(brute_force, too_many_instances_prove_nothing) {
  Case c(kBlur, "", kSmall);
  EXPECT_EQ(text(oracle::enumerate(c.tree, c.survey, c.experiment, {100})),
            "unmet: more than 100 instances");
}

TEST(brute_force, violations_name_both_instances) {
  Case c(kScan, "f.update(0).parallel(r)", {{"f", {{0, 25}}}});
  const Enumeration e = oracle::brute_force(c.tree, c.survey, c.experiment);
  ASSERT_TRUE(e.violation);
  ASSERT_EQ(e.violation->instances.size(), 2u);
  EXPECT_EQ(e.violation->instances[0].at, (std::vector<std::pair<std::string, int64_t>>{{"r", 2}}));
  EXPECT_EQ(e.violation->instances[1].at, (std::vector<std::pair<std::string, int64_t>>{{"r", 1}}));
  EXPECT_EQ(e.violation->func, "f");
  EXPECT_EQ(e.violation->cell, (oracle::Coordinates{1}));
}

}  // namespace
}  // namespace polyhalite::brute_force_test
