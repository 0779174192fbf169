// compute_with: stages that share loops.
#include <gtest/gtest.h>

#include "schedule/build.h"
#include "schedule/parse_tree.h"

namespace polyhalite::share_loops_test {
namespace {

constexpr const char *kPair = R"(image in: int32, 2
f(x, y) = in(x, y)
g(x, y) = in(x, y) + 1
g(x, y) = g(x, y) + 2
h(x, y) = f(x, y) + g(x, y)
output h
)";

TEST(compute_with, one_loop_drives_two_stages) {
  const LoopTree t = build(kPair, R"(f.compute_root()
g.compute_root()
g.compute_with(f, y, {y AlignEnd})
)");
  const std::string text = to_text(t);
  EXPECT_EQ(text, R"(tree 1
allocate f
  allocate g
    for f.s0.y serial
      for f.s0.x serial
        f.s0
      for g.s0.x serial
        g.s0 with f.s0 over y AlignEnd
    for g.s1.y serial
      for g.s1.x serial
        g.s1
    for h.s0.y serial
      for h.s0.x serial
        h.s0
)");
  const LoopTree back = parse_tree(text, t.algorithm);
  EXPECT_EQ(to_text(back), text);
  EXPECT_EQ(back.hash, t.hash);
}

// A shared loop is the leader's; what stands behind it in the list has another number.
TEST(compute_with, prefetches_follow_the_loops) {
  EXPECT_EQ(tree(kPair, R"(f.compute_root()
g.compute_root()
g.compute_with(f, y)
g.prefetch(in, x, y, 1, Clamp)
h.prefetch(f, y, y, 2, Clamp)
)"),
            R"(prefetch in at g.s0.x from f.s0.y by 1 Clamp
prefetch f at h.s0.y from h.s0.y by 2 Clamp
allocate f
  allocate g
    for f.s0.y serial
      for f.s0.x serial
        f.s0
      for g.s0.x serial
        g.s0 with f.s0 over y NoAlign
    for g.s1.y serial
      for g.s1.x serial
        g.s1
    for h.s0.y serial
      for h.s0.x serial
        h.s0
)");
}

TEST(compute_with, update_leads_a_pure_definition) {
  EXPECT_EQ(tree(kPair, R"(f.compute_root()
g.compute_root()
f.compute_with(g.update(0), x)
)"),
            R"(allocate g
  for g.s0.y serial
    for g.s0.x serial
      g.s0
  allocate f
    for g.s1.y serial
      for g.s1.x serial
        f.s0 with g.s1 over y NoAlign, x NoAlign
        g.s1
    for h.s0.y serial
      for h.s0.x serial
        h.s0
)");
}

TEST(compute_with, loops_that_differ_are_refused) {
  EXPECT_EQ(
      tree(kPair, "f.compute_root()\ng.compute_root()\nf.reorder(y, x)\ng.compute_with(f, x)"),
      "s.txt:4: error: cannot compute 'g' with 'f' at loop 'x': their loops differ\n"
      "  why: outermost first, the one has y, x, the other x, y\n"
      "  fix: give both the same loops down to 'x'\n");
  EXPECT_EQ(tree(kPair, "f.compute_root()\ng.compute_root()\nf.parallel(y)\ng.compute_with(f, y)"),
            "s.txt:4: error: cannot compute 'g' with 'f' at loop 'y': 'y' is serial in the one and "
            "parallel in the other\n"
            "  why: one loop has one kind\n"
            "  fix: mark 'y' alike in both\n");
}

TEST(compute_with, producer_and_consumer_are_refused) {
  EXPECT_EQ(tree(R"(f(x) = x
g(x) = f(x)
h(x) = g(x)
output h
)",
                 "f.compute_root()\ng.compute_root()\ng.compute_with(f, x)"),
            "s.txt:3: error: cannot compute 'g' with 'f': one needs what the other computes\n"
            "  why: iterations of the loops that they share would read values that later ones "
            "compute\n"
            "  fix: use compute_at, or drop compute_with\n");
}

TEST(compute_with, a_stage_between_them_is_refused) {
  EXPECT_EQ(tree(R"(f(x) = x
g(x) = f(x)
h(x) = x + 1
k(x) = g(x) + h(x)
h2(x) = k(x) + f(x)
output h2
)",
                 "f.compute_root()\ng.compute_root()\nk.compute_root()\nh.compute_root()\n"
                 "k.compute_with(f, x)"),
            "s.txt:5: error: cannot compute 'k' with 'f'\n"
            "  why: the stages between them in the algorithm would have to run both before and "
            "after the loops that they share\n"
            "  fix: compute stages with each other that no other stage separates\n");
}

TEST(compute_with, different_levels_are_refused) {
  EXPECT_EQ(tree(kPair, "f.compute_root()\ng.compute_at(h, y)\ng.compute_with(f, y)"),
            "s.txt:3: error: cannot compute 'g' with 'f': they are computed at different levels\n"
            "  fix: give both one compute level\n");
}

TEST(compute_with, an_inlined_leader_is_refused) {
  EXPECT_EQ(tree(kPair, "g.compute_root()\ng.compute_with(f, y)"),
            "s.txt:2: error: cannot compute 'g' with 'f': 'f' is computed inline or has no such "
            "update\n"
            "  why: only what has loops of its own can share them\n"
            "  fix: give 'f' a compute level\n");
}

}  // namespace
}  // namespace polyhalite::share_loops_test
