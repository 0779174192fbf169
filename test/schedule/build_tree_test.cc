// Golden trees: default loops, directives, placement.
#include <gtest/gtest.h>

#include "schedule/build.h"

namespace polyhalite::build_tree_test {
namespace {

constexpr const char *kBlur = R"(image in: uint16, 2
bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y))/3u16
by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2))/3u16
output by
)";

TEST(build_tree, pure_funcs_inline_by_default) {
  LoopTree t = build(kBlur);
  EXPECT_EQ(t.algorithm.funcs.size(), 1u);
  EXPECT_EQ(to_text(t), R"(tree 1
for by.s0.y serial
  for by.s0.x serial
    by.s0
)");
}

TEST(build_tree, blur_of_the_design) {
  EXPECT_EQ(tree(kBlur, R"(by.split(y, yo, yi, 32)
by.parallel(yo)
by.split(x, x, xi, 8)
by.vectorize(xi)
bx.compute_at(by, yo)
bx.split(x, xo, xi, 8)
bx.vectorize(xi)
)"),
            R"(for by.s0.yo parallel
  allocate bx
    for bx.s0.y serial
      for bx.s0.xo serial
        for bx.s0.xi vector
          bx.s0: x -> xo, xi by 8 ShiftInwards
    for by.s0.yi serial
      for by.s0.x serial of x.1
        for by.s0.xi vector
          by.s0: y -> yo, yi by 32 ShiftInwards; x -> x.1, xi by 8 ShiftInwards
)");
}

TEST(build_tree, store_level_outside_the_compute_level) {
  EXPECT_EQ(tree(kBlur, "bx.store_root()\nbx.compute_at(by, y)"), R"(allocate bx
  for by.s0.y serial
    for bx.s0.y serial
      for bx.s0.x serial
        bx.s0
    for by.s0.x serial
      by.s0
)");
}

TEST(build_tree, update_has_reduction_loops_innermost_and_only_its_own_pure_loops) {
  EXPECT_EQ(tree(R"(image in: int32, 3
f(x, y, z) = 0
over r(0, 4), s(0, 5): f(x, 3, z) = f(x, 3, z) + in(x + r, s, z)
output f
)"),
            R"(for f.s0.z serial
  for f.s0.y serial
    for f.s0.x serial
      f.s0
for f.s1.z serial
  for f.s1.x serial
    for f.s1.s serial reduction
      for f.s1.r serial reduction
        f.s1
)");
}

TEST(build_tree, producer_stands_in_the_update_that_uses_it) {
  EXPECT_EQ(tree(R"(image in: int32, 1
g(x) = in(x)*2
f(x) = 0
over r(0, 4): f(x) = f(x) + g(x + r)
output f
)",
                 "g.compute_at(f, x)"),
            R"(for f.s0.x serial
  f.s0
for f.s1.x serial
  allocate g
    for g.s0.x serial
      g.s0
    for f.s1.r serial reduction
      f.s1
)");
}

// It is as wide as the vectors of its user, which would else wait for one element after the other.
TEST(build_tree, update_func_without_level_is_computed_innermost_outside_vector_loops) {
  EXPECT_EQ(tree(R"(image in: int32, 2
s(x, y) = 0
over r(0, 4): s(x, y) = s(x, y) + in(x + r, y)
f(x, y) = s(x, y) + 1
output f
)",
                 "f.split(x, xo, xi, 8)\nf.vectorize(xi)"),
            R"(for f.s0.y serial
  for f.s0.xo serial
    allocate s
      for s.s0.y serial
        for s.s0.x serial of x.1
          for s.s0.x$v vector
            s.s0: x -> x.1, x$v by 8 GuardWithIf
      for s.s1.y serial
        for s.s1.x serial of x.1
          for s.s1.r serial reduction
            for s.s1.x$v vector
              s.s1: x -> x.1, x$v by 8 GuardWithIf
      for f.s0.xi vector
        f.s0: x -> xo, xi by 8 ShiftInwards
)");
}

TEST(build_tree, update_func_without_level_is_computed_in_lanes_where_what_it_needs_is) {
  const std::string algorithm = R"(in(x, y) = x + 5*y
f(x, y) = 0
over r(0, 3), s(0, 3): f(x, y) = f(x, y) + in(x + r, y + s)
g(x, y) = f(x, y)
output g
)";
  const std::string vectors = "g.split(y, yo, yi, 2, RoundUp)\ng.vectorize(yi)\n";
  EXPECT_EQ(tree(algorithm, vectors + "g.reorder(x, yo, yi)\nin.compute_at(g, yi)"),
            R"(for g.s0.yi vector
  allocate in
    for in.s0.y serial
      for in.s0.x serial
        in.s0
    for g.s0.yo serial
      for g.s0.x serial
        allocate f
          for f.s0.y serial
            for f.s0.x serial
              f.s0
          for f.s1.y serial
            for f.s1.x serial
              for f.s1.s serial reduction
                for f.s1.r serial reduction
                  f.s1
          g.s0: y -> yo, yi by 2 RoundUp
)");
  const std::string outside =
      tree(algorithm, vectors + "g.reorder(yi, x, yo)\nin.compute_at(g, x)");
  EXPECT_LT(outside.find("f.s1.x"), outside.find("g.s0.yi vector"));
}

// f of g of a sum that no directive speaks of.
const char *const kSumBetween = R"(image in: int32, 1
s(x) = 0
over r(0, 4): s(x) = s(x) + in(x + r)
g(x) = s(x)*2
f(x) = g(x)
output f
)";

TEST(build_tree, update_func_without_level_is_as_wide_as_a_whole_dimension_of_its_caller) {
  EXPECT_EQ(tree(kSumBetween, "f.split(x, xo, xi, 8)\ng.compute_at(f, xo)\ng.vectorize(x)\n"),
            R"(for f.s0.xo serial
  allocate s
    for s.s0.x vector
      s.s0
    for s.s1.r serial reduction
      for s.s1.x vector
        s.s1
    allocate g
      for g.s0.x vector
        g.s0
      for f.s0.xi serial
        f.s0: x -> xo, xi by 8 ShiftInwards
)");
}

TEST(build_tree, update_func_without_level_is_computed_in_lanes_where_its_caller_is) {
  EXPECT_EQ(tree(kSumBetween, "f.split(x, xo, xi, 8)\nf.vectorize(xi)\ng.compute_at(f, xi)\n"),
            R"(for f.s0.xo serial
  for f.s0.xi vector
    allocate g
      for g.s0.x serial
        allocate s
          for s.s0.x serial
            s.s0
          for s.s1.x serial
            for s.s1.r serial reduction
              s.s1
          g.s0
      f.s0: x -> xo, xi by 8 ShiftInwards
)");
}

TEST(build_tree, a_func_at_loops_of_several_stages_is_computed_in_each) {
  EXPECT_EQ(tree("p(x) = x*17\nc(x) = 170 - p(x)\nc(x) = c(x) + p(x)/2\noutput c\n",
                 "p.compute_at(c, x)\np.vectorize(x)\n"),
            R"(for c.s0.x serial
  allocate p
    for p.s0.x vector
      p.s0
    c.s0
for c.s1.x serial
  allocate p$c$u0
    for p$c$u0.s0.x vector
      p$c$u0.s0
    c.s1
)");
}

TEST(build_tree, vectors_are_inherited_where_their_index_goes_through_as_it_is) {
  auto inherits = [](const std::string &update, const std::string &use, const std::string &more) {
    const std::string text = tree("image in: int32, 2\ns(x, y) = 0\nover r(0, 4): " + update +
                                      "\nf(x, y) = " + use + "\noutput f\n",
                                  "f.split(x, xo, xi, 8)\nf.vectorize(xi)\n" + more);
    return text.find("x$v vector") != std::string::npos ||
           text.find("y$v vector") != std::string::npos;
  };
  const std::string sum = "s(x, y) = s(x, y) + in(x + r, y)";
  EXPECT_TRUE(inherits(sum, "s(x, y) + 1", ""));
  EXPECT_TRUE(inherits(sum, "s(y, x)", ""));
  EXPECT_FALSE(inherits(sum, "s(x + 1, y)", ""));
  EXPECT_FALSE(inherits(sum, "s(x, y) + s(y, x)", ""));
  EXPECT_FALSE(inherits(sum, "s(y, y)", ""));
  // Lanes would meet, or what the program says stands against it.
  EXPECT_FALSE(inherits("s(r, y) = s(r, y) + in(r, y)", "s(x, y)", ""));
  EXPECT_FALSE(inherits("s(x, y) = s(x + r, y) + in(r, y)", "s(x, y)", ""));
  EXPECT_FALSE(inherits(sum, "s(x, y)", "s.update(0).reorder(x, r)\n"));
  EXPECT_FALSE(inherits(sum, "s(x, y)", "f.split(xo, xp, xq, 2)\nf.fuse(xi, xq, t)\n"));
}

TEST(build_tree, update_func_without_level_is_copied_for_each_calling_stage) {
  LoopTree t = build(R"(image in: int32, 1
s(x) = 0
over r(0, 4): s(x) = s(x) + in(x + r)
g(x) = s(x)
over q(0, 2): g(q) = g(q) + s(q)
h(x) = s(x) + g(x)
output h
)",
                     "g.compute_root()\ns.update(0).unroll(r)");
  EXPECT_EQ(to_text(t), R"(tree 1
allocate g
  for g.s0.x serial
    allocate s
      for s.s0.x serial
        s.s0
      for s.s1.x serial
        for s.s1.r unrolled reduction
          s.s1
      g.s0
  for g.s1.q serial reduction
    allocate s$g$u0
      for s$g$u0.s0.x serial
        s$g$u0.s0
      for s$g$u0.s1.x serial
        for s$g$u0.s1.r unrolled reduction
          s$g$u0.s1
      g.s1
  for h.s0.x serial
    allocate s$h
      for s$h.s0.x serial
        s$h.s0
      for s$h.s1.x serial
        for s$h.s1.r unrolled reduction
          s$h.s1
      h.s0
)");
}

// The copy of a for the update of b's copy for c (b$c), and that for b's copy for c's update
// (b$c$u0), would have one name.
TEST(build_tree, copies_have_names_of_their_own) {
  const LoopTree t = build(R"(image in: int32, 1
a(x) = in(x)
a(0) = 1
b(x) = a(x)
b(0) = a(1)
k(x) = b(x)
k(0) = 2
c(x) = b(x) + k(x)
c(0) = b(2)
output c
)",
                           "");
  std::string names;
  for (const FuncDef &f : t.algorithm.funcs) names += f.name + " ";
  EXPECT_EQ(names, "a a$b$u0 a$b$c a$b$c$u0 a$b$c$u0$ a$b$c$u0$u0 b b$c b$c$u0 k c ");
}

TEST(build_tree, allocations_end_with_the_last_use) {
  EXPECT_EQ(tree(R"(image in: int32, 1
a(x) = in(x)
b(x) = a(x)
c(x) = in(x + 1)
d(x) = c(x)
output b, d
)",
                 "a.compute_root()\nc.compute_root()"),
            R"(allocate a
  for a.s0.x serial
    a.s0
  for b.s0.x serial
    b.s0
allocate c
  for c.s0.x serial
    c.s0
  for d.s0.x serial
    d.s0
)");
}

TEST(build_tree, overlapping_allocations_nest) {
  EXPECT_EQ(tree(R"(image in: int32, 1
a(x) = in(x)
b(x) = a(x)
c(x) = b(x)
output c
)",
                 "a.compute_root()\nb.compute_root()"),
            R"(allocate a
  for a.s0.x serial
    a.s0
  allocate b
    for b.s0.x serial
      b.s0
    for c.s0.x serial
      c.s0
)");
}

TEST(build_tree, fuse_takes_the_inner_place_and_reorder_permutes_places) {
  constexpr const char *kCopy = "image in: int32, 3\nf(x, y, z) = in(x, y, z)\noutput f\n";
  EXPECT_EQ(tree(kCopy, "f.fuse(x, y, t)\nf.reorder(z, t)"), R"(for f.s0.t serial
  for f.s0.z serial
    f.s0: y, x -> t
)");
  EXPECT_EQ(tree(kCopy, "f.reorder(y, z, x)"), R"(for f.s0.x serial
  for f.s0.z serial
    for f.s0.y serial
      f.s0
)");
  EXPECT_EQ(tree(kCopy, "f.reorder(z, x)"), R"(for f.s0.x serial
  for f.s0.y serial
    for f.s0.z serial
      f.s0
)");
}

TEST(build_tree, split_by_the_same_name_again_and_rename_keep_derivations_apart) {
  EXPECT_EQ(tree("image in: int32, 1\nf(x) = in(x)\noutput f\n",
                 R"(f.split(x, x, xi, 8)
f.split(x, x, xj, 4)
f.rename(x, outer)
f.split(xi, x, xi, 2)
f.fuse(xi, x, x)
)"),
            R"(for f.s0.outer serial of x.2
  for f.s0.xj serial
    for f.s0.x serial of x.4
      f.s0: x -> x.1, xi by 8 ShiftInwards; x.1 -> x.2, xj by 4 ShiftInwards; xi -> x.3, xi.1 by 2 RoundUp; x.3, xi.1 -> x.4
)");
}

TEST(build_tree, the_last_kind_and_the_last_level_win) {
  EXPECT_EQ(tree(kBlur,
                 "by.parallel(y)\nby.serial(y)\nby.unroll(x)\nby.vectorize(x)\n"
                 "bx.compute_root()\nbx.compute_inline()"),
            R"(for by.s0.y serial
  for by.s0.x vector
    by.s0
)");
}

TEST(build_tree, a_split_passes_its_kind_on) {
  EXPECT_EQ(tree(kBlur, "by.parallel(y)\nby.split(y, yo, yi, 4)"), R"(for by.s0.yo parallel
  for by.s0.yi parallel
    for by.s0.x serial
      by.s0: y -> yo, yi by 4 ShiftInwards
)");
}

TEST(build_tree, factors_may_be_expressions_of_params) {
  EXPECT_EQ(tree("param n: int32\nimage in: int32, 1\nf(x) = in(x)*n\noutput f\n",
                 "f.split(x, xo, xi, n*2)\nf.split(xo, xoo, xoi, 2 + 3)\nf.bound(x, 0, n)"),
            R"(bound f.x from 0 extent n
for f.s0.xoo serial
  for f.s0.xoi serial
    for f.s0.xi serial
      f.s0: x -> xo, xi by n*2 ShiftInwards; xo -> xoo, xoi by 5 ShiftInwards
)");
}

TEST(build_tree, hash_tells_schedules_apart_and_is_the_same_for_equal_ones) {
  EXPECT_EQ(build(kBlur, "by.parallel(y)").hash,
            build(kBlur, "by.unroll(x)\nby.serial(x)\nby.parallel(y)").hash);
  EXPECT_NE(build(kBlur, "by.parallel(y)").hash, build(kBlur).hash);
  EXPECT_NE(build(kBlur, "by.split(y, yo, yi, 4)").hash,
            build(kBlur, "by.split(y, yo, yi, 8)").hash);
  EXPECT_NE(build(kBlur, "bx.compute_at(by, y)").hash, build(kBlur, "bx.compute_at(by, x)").hash);
  EXPECT_NE(build(kBlur, "bx.compute_at(by, y)\nbx.store_root()").hash,
            build(kBlur, "bx.compute_at(by, y)").hash);
}

TEST(build_tree, funcs_that_no_output_needs_are_dropped) {
  EXPECT_EQ(tree("image in: int32, 1\ng(x) = in(x)\nf(x) = in(x)\noutput f\n", "g.compute_root()"),
            "for f.s0.x serial\n  f.s0\n");
}

TEST(build_tree, inlining_substitutes_through_chains_and_predicates) {
  LoopTree t = build(R"(image in: int32, 1
a(x) = in(x) + 1
b(x) = a(x*2)
f(x) = b(x + 1)
over r(0, 8) where b(r) > 0: f(r) = f(r) + a(r)
output f
)");
  ASSERT_EQ(t.algorithm.funcs.size(), 1u);
  EXPECT_EQ(to_text(t.algorithm), R"(algorithm 1
image in: int32, 1
f(x) = in((x + 1)*2) + 1
over r(0, 8) where in(r*2) + 1 > 0: f(r) = f(r) + (in(r) + 1)
output f
)");
}

TEST(build_tree, kinds_of_gpu_loops) {
  EXPECT_EQ(tree(kBlur, R"(by.split(x, bx, tx, 16)
by.gpu_blocks(bx, y)
by.gpu_threads(tx, DeviceAPI.CUDA)
)"),
            R"(for by.s0.y gpu_block
  for by.s0.bx gpu_block
    for by.s0.tx gpu_thread
      by.s0: x -> bx, tx by 16 ShiftInwards
)");
}

TEST(build_tree, outermost_is_where_the_consumer_is_computed) {
  const char *three = R"(a(x, y) = x + y
b(x, y) = a(x, y) + 1
c(x, y) = b(x, y) + 1
output c
)";
  EXPECT_EQ(tree(three, "b.compute_at(c, y)\na.compute_at(b, __outermost)\n"),
            R"(for c.s0.y serial
  allocate a
    for a.s0.y serial
      for a.s0.x serial
        a.s0
    allocate b
      for b.s0.y serial
        for b.s0.x serial
          b.s0
      for c.s0.x serial
        c.s0
)");
}

}  // namespace
}  // namespace polyhalite::build_tree_test
