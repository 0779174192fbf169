// (e): parallel and vector loops, and storage shared by iterations that run at once.
#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite::parallel_test {
namespace {

constexpr const char *kHistogram = R"(image in: uint8, 1
hist(b) = 0
over r(0, 100): hist(int32(in(r))) = hist(int32(in(r))) + 1
output hist
)";

constexpr const char *kMatmul = R"(image a: float32, 2
image b: float32, 2
c(j, i) = 0.0f
over k(0, 64): c(j, i) = c(j, i) + a(k, i)*b(j, k)
output c
)";

constexpr const char *kBlur = R"(image in: uint16, 2
bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y))/3u16
by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2))/3u16
output by
)";

constexpr const char *kRows = R"(image in: uint16, 2
bx(x, y) = in(x, y) + in(x + 1, y)
by(x, y) = bx(x, y) + bx(x + 1, y)
output by
)";

TEST(parallel, pure_loops_need_no_question) {
  const Judgement j = judgement(kMatmul, "c.parallel(i)\nc.update(0).parallel(i)");
  EXPECT_TRUE(j.legal());
  EXPECT_EQ(proof_of(j, 'e', "parallel loop 'i' of 'c'"),
            "structural: a pure definition reads nothing of its own");
  EXPECT_EQ(proof_of(j, 'e', "parallel loop 'i' of update 0 of 'c'"),
            "structural: iterations touch cells of their own");
}

TEST(parallel, histogram_is_refused) {
  EXPECT_EQ(verdict(kHistogram, "hist.parallel(b)\nhist.update(0).parallel(r)"),
            R"(test:2: error: cannot run loop 'r' of update 0 of 'hist' in parallel
  why: hist at (r=0) and (r=1) may both write hist(0)
  fix: keep 'r' serial; a reduction in parallel needs atomic or rfactor)");
}

TEST(parallel, reduction_variable_of_matmul_is_refused) {
  EXPECT_EQ(verdict(kMatmul, "c.update(0).parallel(k)"),
            R"(test:1: error: cannot run loop 'k' of update 0 of 'c' in parallel
  why: c at (i=0, j=0, k=0) and (i=0, j=0, k=1) both write c(0, 0) (with c.extent.1=1, c.extent.0=1)
  fix: run 'i' in parallel instead, or keep 'k' serial; a reduction in parallel needs atomic or rfactor)");
}

TEST(vector, reduction_is_refused) {
  EXPECT_EQ(verdict(kMatmul, "c.update(0).split(k, ko, ki, 8)\nc.update(0).vectorize(ki)"),
            R"(test:2: error: cannot vectorize loop 'ki' of update 0 of 'c'
  why: c at (i=0, j=0, k=0) and (i=0, j=0, k=1) both write c(0, 0) (with c.extent.1=1, c.extent.0=1)
  fix: vectorize 'j' instead, or keep 'ki' serial; a reduction across lanes needs atomic or rfactor)");
}

TEST(parallel, scatter_to_distinct_cells_is_legal) {
  const std::string scatter = R"(f(x) = 0
over r(0, 100): f(2*r + 1) = r
output f
)";
  EXPECT_EQ(verdict(scatter, "f.update(0).parallel(r)"), "legal");
  EXPECT_EQ(verdict(scatter, "f.update(0).split(r, ro, ri, 8)\nf.update(0).vectorize(ri)"),
            "legal");
  EXPECT_EQ(proof_of(judgement(scatter, "f.update(0).parallel(r)"), 'e',
                     "parallel loop 'r' of update 0 of 'f'"),
            "isl: no two iterations touch one cell");
}

TEST(parallel, rows_of_a_scan_along_x_are_independent) {
  const std::string scan = R"(image in: int32, 2
f(x, y) = in(x, y)
over i(1, 30), j(0, 20): f(i, j) = f(i - 1, j) + f(i, j)
output f
)";
  EXPECT_EQ(verdict(scan, "f.update(0).parallel(j)"), "legal");
  EXPECT_EQ(verdict(scan, "f.update(0).parallel(i)"),
            R"(test:1: error: cannot run loop 'i' of update 0 of 'f' in parallel
  why: f at (j=0, i=2) reads f(1, 0), which (j=0, i=1) writes
  fix: keep 'i' serial)");
  EXPECT_EQ(verdict(scan, "f.update(0).fuse(i, j, t)\nf.update(0).parallel(t)"),
            R"(test:2: error: cannot run loop 't' of update 0 of 'f' in parallel
  why: f at (j=0, i=2) reads f(1, 0), which (j=0, i=1) writes
  fix: keep 't' serial)");
}

TEST(parallel, scatter_in_place_of_a_neighbour_is_refused) {
  const std::string shift = R"(f(x) = x
over r(0, 100): f(r) = f(r + 1)
output f
)";
  EXPECT_EQ(verdict(shift, "f.update(0).parallel(r)"),
            R"(test:1: error: cannot run loop 'r' of update 0 of 'f' in parallel
  why: f at (r=0) reads f(1), which (r=1) writes
  fix: keep 'r' serial)");
}

TEST(storage, shared_by_parallel_rows_that_overlap_is_refused) {
  EXPECT_EQ(
      verdict(kBlur, R"(by.parallel(y)
bx.store_root()
bx.compute_at(by, y)
)"),
      R"(test:2: error: cannot compute 'bx' inside the parallel loop 'y' of 'by' and store it outside
  why: iterations y=0 and y=1 both write bx(0, 1) (with by.extent.1=2, by.extent.0=1)
  fix: store 'bx' at loop 'y' or inside it, or keep 'y' serial)");
}

TEST(storage, shared_by_parallel_rows_of_their_own_is_legal) {
  const std::string schedule = "by.parallel(y)\nbx.store_root()\nbx.compute_at(by, y)";
  EXPECT_EQ(verdict(kRows, schedule), "legal");
  EXPECT_EQ(proof_of(judgement(kRows, schedule), 'd', "storage of 'bx'"),
            "isl: iterations that run at once write cells of their own");
}

TEST(storage, shared_by_parallel_tiles_that_shift_inwards_is_refused) {
  EXPECT_EQ(
      verdict(kRows, R"(by.split(y, yo, yi, 4)
by.parallel(yo)
bx.store_root()
bx.compute_at(by, yo)
)"),
      R"(test:3: error: cannot compute 'bx' inside the parallel loop 'yo' of 'by' and store it outside
  why: iterations yo=0 and yo=1 both write bx(0, 1) (with by.extent.1=5)
  fix: store 'bx' at loop 'yo' or inside it, or keep 'yo' serial)");
  EXPECT_EQ(verdict(kRows, R"(by.split(y, yo, yi, 4, GuardWithIf)
by.parallel(yo)
bx.store_root()
bx.compute_at(by, yo)
)"),
            "legal");
}

TEST(storage, used_by_one_production_after_the_other_is_legal) {
  EXPECT_EQ(verdict(kBlur, "bx.store_root()\nbx.compute_at(by, y)"), "legal");
}

TEST(storage, shared_by_lanes_that_overlap_is_refused) {
  // A vector loop has a constant extent; the judge needs none.
  LoopTree tree = build_tree(algorithm_of(kBlur), directives(R"(by.parallel(y)
bx.store_root()
bx.compute_at(by, y)
)"));
  const Survey regions = survey(tree);
  for (LoopInfo &l : tree.loops) {
    if (l.kind == LoopKind::Parallel) l.kind = LoopKind::Vector;
  }
  EXPECT_EQ(
      judge(tree, regions).refusal->diagnostic.to_string(),
      R"(test:3: error: cannot compute 'bx' inside the vector loop 'y' of 'by' and store it outside
  why: iterations y=0 and y=1 both write bx(0, 1) (with by.extent.1=2, by.extent.0=1)
  fix: store 'bx' at loop 'y' or inside it, or keep 'y' serial)");
}

TEST(storage, inner_loops_run_freely_within_an_iteration) {
  // Rows overlap, but they belong to one iteration of the parallel loop.
  EXPECT_EQ(verdict(kBlur, R"(by.reorder(y, x)
by.parallel(x)
bx.store_root()
bx.compute_at(by, y)
)"),
            "legal");
}

TEST(parallel, fused_loop_needs_both_of_its_parts) {
  const std::string scatter = R"(f(x, y) = 0
over i(0, 8), j(0, 8): f(i, j) = i*j
output f
)";
  EXPECT_EQ(verdict(scatter, "f.update(0).fuse(i, j, t)\nf.update(0).parallel(t)"), "legal");
  const std::string rows = R"(f(x, y) = 0
over i(0, 8), j(0, 8): f(0, j) = f(0, j)*2 + i
output f
)";
  EXPECT_EQ(verdict(rows, "f.update(0).parallel(j)"), "legal");
  EXPECT_EQ(verdict(rows, "f.update(0).fuse(i, j, t)\nf.update(0).parallel(t)"),
            R"(test:2: error: cannot run loop 't' of update 0 of 'f' in parallel
  why: f at (j=0, i=1) reads f(0, 0), which (j=0, i=0) writes
  fix: keep 't' serial)");
}

// Of rows that iterations share, only those count that a branch has.
TEST(storage, of_a_branch_is_judged_where_its_condition_holds) {
  const char *rows = "f(x) = x\ng(x, y) = f(x + y) + f(x + y + 1)\noutput g\n";
  const auto branch = [&](const std::string &condition) {
    const std::string g = "g.specialize(" + condition + ")";
    return verdict(rows, g + "\nf.compute_at(g, x)\nf.store_root()\n" + g + ".parallel(x)\n");
  };
  EXPECT_EQ(branch("g.extent.0 == 1"), "legal");
  EXPECT_EQ(
      branch("g.extent.0 == 7"),
      "test:4: error: cannot compute 'f$g$b1' inside the parallel loop 'x' of 'g' specialized "
      "for g.extent.0 == 7 and store it outside\n"
      "  why: iterations x=0 and x=1 both write f$g$b1(1) (with g.extent.0=7, "
      "g.extent.1=1)\n"
      "  fix: store 'f$g$b1' at loop 'x' or inside it, or keep 'x' serial");
}

TEST(kernels, name_the_first_thread_that_a_block_cannot_have) {
  JudgeOptions options = exact_options();
  options.kernels = true;
  EXPECT_EQ(verdict("f(x, y) = x + y\noutput f\n",
                    "f.split(x, xo, xi, 48)\nf.split(y, yo, yi, 32)\n"
                    "f.reorder(xi, yi, xo, yo)\nf.gpu_blocks(xo, yo)\n"
                    "f.gpu_threads(xi, yi)\n",
                    options),
            "test:5: error: cannot run loop 'yi' of 'f' over threads: a block would have 1536 "
            "threads\n"
            "  why: its phases have 48 x 32 x 1 threads at most, and a block has at most 1024, "
            "which end before (xi=16, yi=21)\n"
            "  fix: split the loop, and keep a part of it serial");
}

TEST(storage, inside_the_parallel_loop_is_private) {
  EXPECT_EQ(verdict(kBlur, "by.parallel(y)\nbx.compute_at(by, y)"), "legal");
}

}  // namespace
}  // namespace polyhalite::parallel_test
