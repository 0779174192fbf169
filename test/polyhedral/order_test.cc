// (c): which orders of an update's loops are legal, and what refusals say.
#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite::order_test {
namespace {

constexpr const char *kScan = R"(acc(x) = 0
over x1(1, 10), y1(1, 10): acc(x1 + 2*y1) = acc(x1 + 2*y1 - 1)*3 + 1
output acc
)";

// Gauss-Seidel: each point reads its left and its upper neighbour, both already new.
constexpr const char *kSeidel = R"(image in: int32, 2
f(x, y) = in(x, y)
over i(1, 30), j(1, 20): f(i, j) = f(i - 1, j) + f(i, j - 1)
output f
)";

constexpr const char *kMatmul = R"(image a: float32, 2
image b: float32, 2
c(j, i) = 0.0f
over k(0, 64): c(j, i) = c(j, i) + a(k, i)*b(j, k)
output c
)";

constexpr const char *kHorner = R"(image in: int32, 1
h(x) = 0
over r(0, 32), s(0, 8): h(x) = h(x)*3 + in(r + 32*s)
output h
)";

TEST(order, default_order_of_every_update_is_legal) {
  for (const char *a : {kScan, kSeidel, kSkewed, kMatmul, kHorner}) {
    EXPECT_EQ(verdict(a, ""), "legal") << a;
  }
}

TEST(order, interchange_of_gauss_seidel_is_legal) {
  EXPECT_EQ(verdict(kSeidel, "f.update(0).reorder(j, i)"), "legal");
  EXPECT_EQ(proof_of(judgement(kSeidel, "f.update(0).reorder(j, i)"), 'c',
                     "order within update 0 of 'f'"),
            "isl: no two instances on one cell change places");
}

TEST(order, tiling_of_gauss_seidel_is_legal) {
  EXPECT_EQ(verdict(kSeidel, R"(f.update(0).split(i, io, ii, 8)
f.update(0).split(j, jo, ji, 4)
f.update(0).reorder(ii, ji, io, jo)
)"),
            "legal");
}

TEST(order, splitting_keeps_the_order_by_rule) {
  EXPECT_EQ(proof_of(judgement(kSeidel, "f.update(0).split(i, io, ii, 8)"), 'c',
                     "order within update 0 of 'f'"),
            "structural: reduction loops run in the algorithm's order");
}

TEST(order, interchange_against_a_skewed_dependence_is_refused) {
  EXPECT_EQ(verdict(kSkewed, "acc.update(0).reorder(y1, x1)"),
            R"(test:1: error: cannot reorder 'y1' inside 'x1' on update 0 of 'acc'
  why: acc at (y1=2, x1=0) reads what (y1=1, x1=1) writes; with x1 outside, (1,1) would run after (2,0)
  fix: keep y1 outside x1, or skew x1 by y1 first)");
}

TEST(order, tiling_against_a_skewed_dependence_is_refused) {
  EXPECT_EQ(verdict(kSkewed, R"(acc.update(0).split(x1, xo, xi, 8)
acc.update(0).reorder(xi, y1, xo)
)"),
            R"(test:2: error: cannot reorder 'y1' inside 'xo' on update 0 of 'acc'
  why: acc at (y1=2, x1=7) reads what (y1=1, x1=8) writes; with xo outside, (1,8) would run after (2,7)
  fix: keep y1 outside xo, or skew xo by y1 first)");
}

TEST(order, inner_part_of_a_split_outside_is_refused) {
  EXPECT_EQ(verdict(kScan, R"(acc.update(0).split(x1, xo, xi, 5)
acc.update(0).reorder(xo, xi)
)"),
            R"(test:2: error: cannot reorder 'xo' inside 'xi' on update 0 of 'acc'
  why: acc at (y1=1, x1=6) reads what (y1=1, x1=5) writes; with xi outside, (1,5) would run after (1,6)
  fix: keep xo outside xi)");
}

TEST(order, update_that_is_no_reduction_keeps_its_order) {
  EXPECT_EQ(verdict(kHorner, "h.update(0).reorder(s, r)"),
            R"(test:1: error: cannot reorder 's' inside 'r' on update 0 of 'h'
  why: h at (x=0, s=1, r=0) reads what (x=0, s=0, r=1) writes; with r outside, (0,0,1) would run after (0,1,0) (with h.extent.0=1)
  fix: keep s outside r)");
}

TEST(order, fused_reduction_loops_keep_the_order_of_their_parts) {
  EXPECT_EQ(verdict(kHorner, "h.update(0).fuse(r, s, t)"), "legal");
  EXPECT_EQ(verdict(kHorner, "h.update(0).fuse(s, r, t)"),
            R"(test:1: error: cannot fuse 's' inside 'r' on update 0 of 'h'
  why: h at (x=0, s=1, r=0) reads what (x=0, s=0, r=1) writes; with r outside, (0,0,1) would run after (0,1,0) (with h.extent.0=1)
  fix: keep s outside r)");
  EXPECT_EQ(verdict(kSeidel, "f.update(0).fuse(j, i, t)"), "legal");
}

TEST(order, blame_falls_on_the_directive_after_which_it_stays_illegal) {
  EXPECT_EQ(verdict(kHorner, R"(h.update(0).reorder(s, r)
h.update(0).reorder(r, s)
h.split(x, xo, xi, 4)
h.update(0).reorder(s, r)
h.vectorize(xi)
)"),
            R"(test:4: error: cannot reorder 's' inside 'r' on update 0 of 'h'
  why: h at (x=0, s=1, r=0) reads what (x=0, s=0, r=1) writes; with r outside, (0,0,1) would run after (0,1,0) (with h.extent.0=4)
  fix: keep s outside r)");
}

TEST(order, reduction_may_run_in_any_order) {
  EXPECT_EQ(verdict(kMatmul, R"(c.update(0).split(k, ko, ki, 16)
c.update(0).split(j, jo, ji, 8)
c.update(0).reorder(ji, i, ki, jo, ko)
c.update(0).vectorize(ji)
c.update(0).unroll(ki)
)"),
            "legal");
}

TEST(order, triangular_domain_is_a_constraint) {
  const std::string square = R"(f(x) = x
over r(0, 10), s(0, 10): f(s) = f(r)*2 + s
output f
)";
  const std::string triangle = R"(f(x) = x
over r(0, 10), s(0, 10) where r < s: f(s) = f(r)*2 + s
output f
)";
  EXPECT_EQ(verdict(triangle, "f.update(0).reorder(s, r)"), "legal");
  EXPECT_EQ(verdict(square, "f.update(0).reorder(s, r)"),
            R"(test:1: error: cannot reorder 's' inside 'r' on update 0 of 'f'
  why: f at (s=1, r=0) reads what (s=0, r=1) writes; with r outside, (0,1) would run after (1,0)
  fix: keep s outside r)");
}

TEST(order, subscript_from_data_may_meet_any_cell) {
  const std::string gather = R"(image lut: uint8, 1
f(x) = x
over r(0, 100), s(0, 4): f(r) = f(int32(lut(r + s)))*2
output f
)";
  EXPECT_EQ(verdict(gather, "f.update(0).reorder(s, r)"),
            R"(test:1: error: cannot reorder 's' inside 'r' on update 0 of 'f'
  why: f at (s=1, r=0) may read what (s=0, r=1) writes; with r outside, (0,1) would run after (1,0)
  fix: keep s outside r)");
}

TEST(order, subscript_that_is_not_affine_is_undecided) {
  const std::string square = R"(f(x) = x
over r(0, 10), s(0, 10): f(r*s) = f(r*s)*2 + r
output f
)";
  EXPECT_EQ(
      verdict(square, "f.update(0).reorder(s, r)"),
      R"(test:1: error: cannot prove that it is legal to reorder 's' inside 'r' on update 0 of 'f'
  why: f at (s=1, r=0) may read what (s=0, r=1) writes; with r outside, (0,1) would run after (1,0); r*s is not affine
  fix: keep s outside r)");
}

// The entry refuses outputs of fewer than 31 columns.
TEST(order, sizes_that_no_run_has_break_nothing) {
  EXPECT_EQ(
      verdict(kScan, "acc.update(0).specialize(acc.extent.0 > 20)\nacc.update(0).parallel(x1)"),
      "legal");
  EXPECT_EQ(
      verdict(kScan, "acc.update(0).specialize(acc.extent.0 > 40)\nacc.update(0).parallel(x1)"),
      "test:2: error: cannot run loop 'x1' of update 0 of 'acc' in parallel\n"
      "  why: acc at (y1=1, x1=2) reads acc(3), which (y1=1, x1=1) writes (with "
      "acc.extent.0=31)\n"
      "  fix: keep 'x1' serial");
}

TEST(order, sizes_may_be_parameters) {
  const std::string scan = R"(image in: int32, 2
param n: int32
f(x, y) = in(x, y)
over i(0, n), j(1, n): f(i, j) = f(i + 1, j - 1)*2
output f
)";
  EXPECT_EQ(verdict(scan, "f.update(0).split(i, io, ii, 8)"), "legal");
  EXPECT_EQ(verdict(scan, "f.update(0).reorder(j, i)"),
            R"(test:1: error: cannot reorder 'j' inside 'i' on update 0 of 'f'
  why: f at (j=2, i=0) reads what (j=1, i=1) writes; with i outside, (1,1) would run after (2,0) (with n=2)
  fix: keep j outside i, or skew i by j first)");
}

TEST(order, fuse_of_fused_and_split_loops_keeps_coordinates) {
  EXPECT_EQ(verdict(kSeidel, R"(f.update(0).fuse(i, j, t)
f.update(0).split(t, to, ti, 7)
)"),
            "legal");
  EXPECT_EQ(verdict(kSeidel, R"(f.update(0).fuse(i, j, t)
f.update(0).split(t, to, ti, 7)
f.update(0).reorder(to, ti)
)"),
            R"(test:3: error: cannot reorder 'to' inside 'ti' on update 0 of 'f'
  why: f at (j=1, i=8) reads what (j=1, i=7) writes; with ti outside, (1,7) would run after (1,8)
  fix: keep to outside ti)");
}

TEST(order, update_that_reads_neighbours_of_a_pure_variable_is_refused) {
  const std::string endless = R"(image in: int32, 1
f(x) = in(x)
f(x) = f(x - 1) + f(x)
g(x) = f(x)
output g
)";
  EXPECT_EQ(verdict(endless, "f.compute_root()", JudgeOptions()),
            R"(algorithm:4: error: 'f' is not produced where update 0 of 'f' needs it
  why: f at (x=0) touches f at -1 in dimension 0 (with g.min.0=1)
  fix: use a reduction variable for the dimension)");
}

TEST(order, quota_that_runs_out_is_said) {
  JudgeOptions small;
  small.isl_operations = 1;
  EXPECT_EQ(verdict(kSkewed, "acc.update(0).reorder(y1, x1)", small),
            R"(test:1: error: cannot prove that the loops of update 0 of 'acc' keep its order
  why: isl's quota of 1 operations ran out
  fix: keep the reduction loops in the algorithm's order, outermost first: y1, x1)");
}

}  // namespace
}  // namespace polyhalite::order_test
