// What each tail makes of regions, guards and proofs.
#include <gtest/gtest.h>

#include "lang/abi/polyhalite_errors.h"
#include "lang/ir/expr_text.h"

#include "polyhalite/error.h"
#include "verdict.h"

namespace polyhalite::tails_test {
namespace {

const char *kAlgorithm = R"(in(x) = x
f(x) = in(x) + in(x + 1)
f(x) = f(x) + in(x + 2)
g(x) = f(x) + f(x + 3)
output g
)";

// The lines of the survey that concern the pure definition (0) or the update (1) of f.
std::string surveyed(const std::string &tail, int stage) {
  const std::string f = stage == 0 ? "f" : "f.update(0)";
  const LoopTree tree =
      build_tree(algorithm_of(kAlgorithm), directives("in.compute_root()\nf.compute_root()\n" + f +
                                                      ".split(x, xo, xi, 8, " + tail + ")\n"));
  std::istringstream lines(to_text(tree, survey(tree)));
  std::string line, text;
  const std::string loop = "f.s" + std::to_string(stage);
  while (std::getline(lines, line)) {
    const bool about = line.find("let f.last") != line.npos || line.find("allocate") != line.npos ||
                       line.find(loop + ".xo from") != line.npos ||
                       line.find("let " + loop) != line.npos ||
                       line.find(stage == 0 ? " 'f' x=" : " update 0 of 'f' x=") != line.npos;
    if (about) text += line.substr(line.find_first_not_of(' ')) + "\n";
  }
  return text;
}

std::string judged_tail(const std::string &tail, int stage, const std::string &more = "") {
  const std::string f = stage == 0 ? "f" : "f.update(0)";
  return verdict(kAlgorithm, "in.compute_root()\nf.compute_root()\n" + f + ".split(x, xo, xi, 8, " +
                                 tail + ")\n" + more);
}

TEST(tails, all_are_legal_on_updates_but_the_one_that_runs_points_twice) {
  for (const char *tail : {"RoundUp", "GuardWithIf", "Predicate", "PredicateLoads",
                           "PredicateStores", "ShiftInwardsAndBlend", "RoundUpAndBlend"}) {
    for (const int stage : {0, 1}) {
      EXPECT_EQ(judged_tail(tail, stage), "legal") << tail << " " << stage;
      const std::string f = stage == 0 ? "f" : "f.update(0)";
      EXPECT_EQ(judged_tail(tail, stage, f + ".vectorize(xi)\n"), "legal") << tail << " " << stage;
    }
  }
  EXPECT_EQ(judged_tail("ShiftInwards", 0), "legal");
  EXPECT_EQ(judged_tail("ShiftInwards", 1),
            "test:3: error: cannot split 'x' of update 0 of 'f' with ShiftInwards\n"
            "  why: an update that runs twice on one point changes the result\n"
            "  fix: use TailStrategy::RoundUp or GuardWithIf");
}

TEST(tails, predicated_stores_read_whole_tiles) {
  EXPECT_EQ(surveyed("PredicateStores", 1),
            R"(allocate in [g.min.0, in.stored_hi.0]
allocate f [g.min.0, g.extent.0 + g.min.0 + 2]
serial f.s1.xo from 0 extent (g.extent.0 + 2)/8 + 1
update 0 of 'f' x=g.min.0 + f.s1.xi + f.s1.xo*8 uses x [.., g.extent.0 + g.min.0 + 2] stores if g.min.0 + f.s1.xi + f.s1.xo*8 <= g.extent.0 + g.min.0 + 2
)");
}

// What a chain of Funcs in tiles of one another needs of the image at its end.
std::string needed_by_tiles(const std::string &h, const std::string &g, const std::string &f) {
  const LoopTree tree = build_tree(
      algorithm_of("image in: int32, 1\nf(x) = in(x)\ng(x) = f(x)\nh(x) = g(x)\noutput h\n"),
      directives("h.split(x, xo, xi, 64, " + h + ")\ng.compute_at(h, xo)\ng.split(x, xo, xi, 16, " +
                 g + ")\nf.compute_at(g, xo)\nf.split(x, xo, xi, 4, " + f + ")\n"));
  std::istringstream lines(to_text(tree, survey(tree)));
  std::string line;
  while (std::getline(lines, line) && line.rfind("needs in ", 0) != 0) {
  }
  return line;
}

TEST(tails, whole_tiles_in_tiles_of_consumers_need_what_the_last_tile_needs) {
  EXPECT_EQ(needed_by_tiles("GuardWithIf", "GuardWithIf", "GuardWithIf"),
            "needs in [h.min.0, h.extent.0 + h.min.0 - 1]");
  // 16 more than the extent at most, whatever the number of tiles.
  EXPECT_EQ(needed_by_tiles("GuardWithIf", "RoundUpAndBlend", "GuardWithIf"),
            "needs in [h.min.0, h.min.0 + (min((h.extent.0 + 15)/16*16, (h.extent.0 + 63)/64*64) + "
            "15)/16*16 - 1]");
}

TEST(tails, a_tile_that_is_larger_than_the_region_begins_before_it) {
  const LoopTree tree = build_tree(
      algorithm_of("image in: int32, 1\nf(x) = in(x)\ng(x) = f(x) + f(x + 1)\noutput g\n"),
      directives("f.compute_at(g, x)\nf.split(x, xo, xi, 8, ShiftInwards)\n"));
  EXPECT_NE(to_text(tree, survey(tree)).find("allocate f [g.s0.x - 6, g.s0.x + 1]"),
            std::string::npos)
      << to_text(tree, survey(tree));
}

TEST(tails, tiles_of_a_blending_tail_run_one_after_the_other) {
  EXPECT_EQ(
      judged_tail("ShiftInwardsAndBlend", 1, "f.update(0).parallel(xo)\n"),
      "test:4: error: cannot run in parallel loop 'xo' of update 0 of 'f'\n"
      "  why: tiles of the split of 'x' with ShiftInwardsAndBlend read and write again points "
      "of other tiles: iterations xo=1 and xo=0 both have (x=1) (with g.extent.0=6)\n"
      "  fix: use GuardWithIf for that split, or keep 'xo' serial");
  // So do those of a loop over places in a tile that is around the tiles; inside of them, not.
  EXPECT_EQ(
      judged_tail("ShiftInwardsAndBlend", 1,
                  "f.update(0).reorder(xo, xi)\nf.update(0).vectorize(xi)\n"),
      "test:5: error: cannot vectorize loop 'xi' of update 0 of 'f'\n"
      "  why: tiles of the split of 'x' with ShiftInwardsAndBlend read and write again points "
      "of other tiles: iterations xi=0 and xi=1 both have (x=1) (with g.extent.0=6)\n"
      "  fix: use GuardWithIf for that split, or keep 'xi' serial");
  EXPECT_EQ(judged_tail("ShiftInwardsAndBlend", 1, "f.update(0).vectorize(xi)\n"), "legal");
  // None is shifted where the extent is a multiple of the factor, as that of whole tiles of tiles
  // is.
  EXPECT_EQ(verdict("g(x) = x\ng(x) = g(x) + 1\noutput g\n",
                    "g.update(0).split(x, xo, xi, 5, ShiftInwardsAndBlend)\n"
                    "g.update(0).split(xo, xp, xq, 2, RoundUp)\ng.update(0).parallel(xp)\n"),
            "legal");
  // Nor in a branch whose extent is one, whatever it is in others.
  const std::string branch = "g.specialize(g.extent.1 > 6).";
  EXPECT_EQ(verdict("g(x, y) = x\noutput g\n", "g.specialize(g.extent.1 > 6)\n" + branch +
                                                   "split(x, xo, xi, 4, ShiftInwardsAndBlend)\n" +
                                                   branch + "split(xo, xp, xq, 4, RoundUp)\n" +
                                                   branch + "vectorize(xq)\n"),
            "legal");
  // Places of one tile, counted from another number in each.
  const std::string skewed =
      "g.split(x, xo, xi, 5, ShiftInwardsAndBlend)\ng.skew(xi, xo, xs, 1)\n"
      "g.split(xs, xp, xq, 6, GuardWithIf)\n";
  EXPECT_EQ(verdict("g(x) = x\noutput g\n", skewed + "g.vectorize(xq)\n"), "legal");
  EXPECT_EQ(
      verdict("g(x) = x\noutput g\n", skewed + "g.reorder(xq, xo, xp)\ng.parallel(xp)\n"),
      "test:5: error: cannot run in parallel loop 'xp' of 'g'\n"
      "  why: tiles of the split of 'x' with ShiftInwardsAndBlend read and write again points "
      "of other tiles: iterations xp=0 and xp=1 both have (x=14) (with g.extent.0=17)\n"
      "  fix: use GuardWithIf for that split, or keep 'xp' serial");
  // A promise of the definition's own accesses says nothing of them.
  EXPECT_NE(judged_tail("ShiftInwardsAndBlend", 1,
                        "f.update(0).parallel(xo)\nf.update(0).allow_race_conditions()\n"),
            "legal");
  // Tiles that round up have no points in common.
  EXPECT_EQ(
      judged_tail("RoundUpAndBlend", 1, "f.update(0).fuse(xi, xo, t)\nf.update(0).parallel(t)\n"),
      "legal");
}

// What the caller's box has is a multiple of the tile then: the entry checks it.
TEST(tails, whole_tiles_of_an_output_need_no_place_for_a_rest) {
  const char *rows =
      "p(x, y) = x + y\nq(x, y) = p(x, y) + p(x + 1, y)\ng(x, y) = q(x, y)\noutput g\n";
  const std::string place = "p.compute_at(g, x)\np.store_root()\ng.vectorize(yi)\n";
  EXPECT_EQ(verdict(rows, "g.split(y, yo, yi, 4, PredicateLoads)\n" + place), "legal");
  EXPECT_EQ(verdict(rows, "g.split(y, yo, yi, 4, RoundUp)\n" + place), "legal");
}

// Trees may come from elsewhere than directives, whose tails would not do so.
TEST(tails, of_loops_that_cannot_grow_name_the_first_iteration_beyond) {
  const auto refused = [](const std::string &over, const std::string &split) {
    LoopTree tree = build_tree(
        algorithm_of("param n: int32\nf(x) = x\n" + over + "f(x) = f(x) + 1\noutput f\n"),
        directives(split));
    for (Derivation &d : tree.nests[0][1].derivations) d.tail = TailStrategy::RoundUp;
    const Judgement j = judge(tree, survey(tree));
    if (j.legal()) return std::string("legal");
    EXPECT_EQ(j.refusal->instances.size(), 1u);
    return j.refusal->diagnostic.to_string();
  };
  EXPECT_EQ(refused("over r(0, n): ", "f.update(0).split(r, ro, ri, 4, GuardWithIf)\n"),
            "test:1: error: cannot split 'r' of update 0 of 'f' with RoundUp\n"
            "  why: an update would run twice on one point, or beyond its domain: a tile of 4 has "
            "(r=1), and the last iteration is r=0 (with n=1)\n"
            "  fix: use TailStrategy::GuardWithIf");
  EXPECT_EQ(refused("over r(0, n*8): ", "f.update(0).split(r, ro, ri, 4, GuardWithIf)\n"), "legal");
  EXPECT_EQ(refused("over r(0, 6): ", "f.update(0).split(r, ro, ri, n, GuardWithIf)\n"),
            "test:1: error: cannot split 'r' of update 0 of 'f' with RoundUp\n"
            "  why: an update would run twice on one point, or beyond its domain: a tile of 4 has "
            "(r=6), and the last iteration is r=5 (with n=4)\n"
            "  fix: use TailStrategy::GuardWithIf");
}

TEST(tails, inner_loops_of_other_splits_have_no_range_to_predicate) {
  EXPECT_EQ(judged_tail("PredicateStores", 0, "f.split(xi, xio, xii, 3)\n"),
            "test:4: error: cannot split 'xi' of 'f': it is the inner loop of a split with "
            "PredicateLoads or PredicateStores\n"
            "  why: such a tail is for the innermost split of a dimension\n"
            "  fix: use TailStrategy::GuardWithIf for the outer split");
  EXPECT_EQ(judged_tail("GuardWithIf", 0, "f.split(xi, xio, xii, 3, PredicateLoads)\n"),
            "test:4: error: cannot split 'xi' of 'f' with PredicateLoads\n"
            "  why: 'xi' is the inner loop of another split, and has no range of its own\n"
            "  fix: use TailStrategy::GuardWithIf");
  EXPECT_EQ(judged_tail("PredicateStores", 0, "f.split(xi, xio, xii, 4)\n"), "legal");
}

// A ring of three rows holds what one row of g needs, a ring of two does not.
TEST(rings, hold_what_is_needed_at_once) {
  const char *stencil = "f(x, y) = x + y\ng(x, y) = f(x, y - 1) + f(x, y + 1)\noutput g\n";
  const std::string place = "f.compute_at(g, y)\nf.store_root()\n";
  EXPECT_EQ(verdict(stencil, place + "f.fold_storage(y, 3)\n"), "legal");
  EXPECT_EQ(verdict(stencil, place + "f.fold_storage(y, 2)\n"),
            "test:3: error: cannot fold 'y' of 'f' into a ring of 2\n"
            "  why: y=0 and y=2 are needed at once, in iteration y=1 of 'g', and would lie at one "
            "place (with "
            "g.extent.1=2)\n"
            "  fix: use a ring that holds what one iteration needs, or none");
}

// A column of the ring each: cells of two iterations of x lie apart, cells of two rows may not.
TEST(rings, are_shared_by_iterations_that_need_places_of_their_own) {
  const char *stencil = "f(x, y) = x + y\ng(x, y) = f(x, y - 1) + f(x, y + 1)\noutput g\n";
  EXPECT_EQ(verdict(stencil,
                    "f.store_at(g, y)\nf.compute_at(g, x)\nf.fold_storage(y, 3)\ng.parallel(x)\n"),
            "legal");
  const char *rows = "f(x, y) = x + y\ng(x, y) = f(x, 2*y) + f(x, 2*y + 1)\noutput g\n";
  EXPECT_EQ(
      verdict(rows, "f.store_root()\nf.compute_at(g, y)\nf.fold_storage(y, 4)\ng.parallel(y)\n"),
      "test:4: error: cannot compute 'f' inside the parallel loop 'y' of 'g' and store it outside\n"
      "  why: iterations y=0 and y=2 write f(0, 0) and f(0, 4), which lie at one place of the ring "
      "(with g.extent.1=3, g.extent.0=1)\n"
      "  fix: store 'f' at loop 'y' or inside it, or keep 'y' serial");
}

// How much g needs of a row at once, its caller says: the entry checks it.
TEST(rings, of_what_the_callers_sizes_decide_are_checked_at_entry) {
  const char *rows = "f(x, y) = x + y\ng(x, y) = f(x/2, y) + f(x/2 + 1, y)\noutput g\n";
  const std::string place = "f.compute_at(g, y)\nf.store_root()\nf.fold_storage(x, 8)\n";
  const Judged j = judged(rows, place);
  ASSERT_EQ(j.survey.assumptions.size(), 1u);
  const Assumption &a = j.survey.assumptions[0];
  EXPECT_EQ(to_text(a.condition), "(g.extent.0 + g.min.0 + 1)/2 <= g.min.0/2 + 7");
  EXPECT_EQ(a.text, "fold_storage() of 'x' promises that no more cells are needed at once");
  EXPECT_EQ(a.code, polyhalite_error_code_fold_factor_too_small);
  // What never fits is refused.
  EXPECT_EQ(verdict(rows, place + "g.bound(x, 0, 20)\n"),
            "test:4: error: cannot fold 'x' of 'f' into a ring of 8\n"
            "  why: x=0 and x=8 are needed at once, in iteration y=0 of 'g', and would lie at one "
            "place (with g.extent.0=20, g.extent.1=1)\n"
            "  fix: use a ring that holds what one iteration needs, or none");
}

// The memory of a box has one piece.
TEST(rings, are_no_memory_for_boxes_that_cross_their_end) {
  const char *copied =
      "f(x, y) = x + y\n"
      "c(x, y) = extern<int32>(extern_stage, \"copy\", 0, intrinsic<handle64>(extern_buffer, "
      "f(intrinsic<int32>(extern_index), intrinsic<int32>(extern_index))))\n"
      "g(x, y) = c(x, y) + c(x, y + 1)\noutput g\n";
  const std::string place = "f.compute_root()\nc.store_root()\nc.compute_at(g, y)\n";
  EXPECT_EQ(verdict(copied, place + "c.fold_storage(y, 4)\n", {}).substr(0, 54),
            "test:4: error: cannot fold 'y' of 'c' into a ring of 4");
  // One row, which a loop of the stage's own asks for, never does.
  const char *row =
      "f(x, y) = x + y\n"
      "c(x, y) = extern<int32>(extern_stage, \"copy\", 0, intrinsic<handle64>(extern_buffer, "
      "f(intrinsic<int32>(extern_index), intrinsic<int32>(extern_index))))\n"
      "g(x, y) = c(x, y)\noutput g\n";
  EXPECT_EQ(verdict(row, place + "c.serial(y)\nc.fold_storage(y, 4)\n", {}), "legal");
}

std::vector<bool> sliding(const FuncSurvey &f) {
  std::vector<bool> dimensions;
  for (const auto &slide : f.slides) dimensions.push_back(slide.has_value());
  return dimensions;
}

// What loop z keeps spans all rows: the rows' ring would lose it.
TEST(rings, an_outer_loop_that_keeps_cells_unfolds_the_rings_inside) {
  const char *volume =
      "f(x, y, z) = x + y + z\ng(x, y, z) = f(x, y - 1, z - 1) + f(x, y + 1, z + 1)\noutput g\n";
  const LoopTree tree =
      build_tree(algorithm_of(volume), directives("f.compute_at(g, y)\nf.store_root()\n"));
  const Survey s = survey(tree);
  EXPECT_EQ(sliding(s.funcs[0]), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(s.funcs[0].fold, (std::vector<int64_t>{0, 0, 4}));
  // A ring over y that is asked for keeps z from sliding.
  const LoopTree folded =
      build_tree(algorithm_of(volume),
                 directives("f.compute_at(g, y)\nf.store_root()\nf.fold_storage(y, 3)\n"));
  const Survey r = survey(folded);
  EXPECT_EQ(sliding(r.funcs[0]), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(r.funcs[0].fold, (std::vector<int64_t>{0, 3, 0}));
}

}  // namespace
}  // namespace polyhalite::tails_test
