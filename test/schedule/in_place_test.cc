// in_place: what becomes of the algorithm and the directives, and who may not take whose memory.
#include "schedule/in_place.h"

#include <gtest/gtest.h>

#include "schedule/build.h"

namespace polyhalite::in_place_test {
namespace {

constexpr const char *kChain =
    "f(x, y) = x + y\ng(x, y) = f(x, y) + f(x + 1, y)\nh(x, y) = g(x, y)*2\n"
    "output h\n";

TEST(in_place, definitions_join_and_directives_follow) {
  const LoopTree t = build(kChain,
                           "f.compute_root()\nf.parallel(y)\ng.compute_root()\ng.in_place(f)\n"
                           "g.reorder(y, x)\nf.align_storage(x, 8)\ng.split(x, xo, xi, 4)\n");
  EXPECT_EQ(to_text(t.algorithm),
            "algorithm 1\n"
            "g(x, y) = x + y\n"
            "in place of f: g(x, y) = g(x, y) + g(x + 1, y)\n"
            "h(x, y) = g(x, y)*2\n"
            "output h\n");
  EXPECT_EQ(to_text(t),
            "tree 1\n"
            "store g.x align 8\n"
            "allocate g\n"
            "  for g.s0.y parallel\n"
            "    for g.s0.x serial\n"
            "      g.s0\n"
            "  for g.s1.xo serial\n"
            "    for g.s1.xi serial\n"
            "      for g.s1.y serial\n"
            "        g.s1: x -> xo, xi by 4 GuardWithIf\n"
            "  for h.s0.y serial\n"
            "    for h.s0.x serial\n"
            "      h.s0\n");
  EXPECT_EQ(t.describe({0, 0}), "'f'");
  EXPECT_EQ(t.describe({0, 1}), "'g'");
  const Algorithm read = parse_algorithm(to_text(t.algorithm), "derived.txt");
  EXPECT_EQ(to_text(read), to_text(t.algorithm));
}

TEST(in_place, dimensions_get_the_names_of_the_reader) {
  const LoopTree t = build("f(x, y) = x - y\ng(y, x) = f(y, x)*2\noutput g\n",
                           "f.split(x, xo, xi, 4)\nf.reorder_storage(y, x)\ng.in_place(f)\n");
  EXPECT_EQ(to_text(t.algorithm),
            "algorithm 1\n"
            "g(y, x) = y - x\n"
            "in place of f: g(y, x) = g(y, x)*2\n"
            "output g\n");
  EXPECT_NE(to_text(t).find("g.s0: y -> xo, xi by 4"), std::string::npos) << to_text(t);
}

TEST(in_place, memory_goes_from_hand_to_hand) {
  const LoopTree t = build("a(x) = x\nb(x) = a(x)*2\nc(x) = b(x) + 1\noutput c\n",
                           "b.compute_root()\nb.in_place(a)\nc.in_place(b)\n");
  EXPECT_EQ(to_text(t.algorithm),
            "algorithm 1\n"
            "c(x) = x\n"
            "in place of a: c(x) = c(x)*2\n"
            "in place of b: c(x) = c(x) + 1\n"
            "output c\n");
}

TEST(in_place, levels_name_the_definition_that_they_did) {
  const LoopTree t = build("p(x) = x*3\nf(x) = x\ng(x) = f(x) + p(x)\nh(x) = g(x)\noutput h\n",
                           "g.compute_root()\ng.in_place(f)\np.compute_at(g, x)\n");
  EXPECT_NE(to_text(t).find("for g.s1.x serial\n    allocate"), std::string::npos) << to_text(t);
}

TEST(in_place, somebody_else_reads_it) {
  EXPECT_EQ(tree("f(x) = x\ng(x) = f(x)*2\nh(x) = g(x) + f(x)\noutput h\n",
                 "f.compute_root()\ng.compute_root()\ng.in_place(f)\n"),
            "s.txt:3: error: cannot compute 'g' in place of 'f'\n"
            "  why: 'h' reads 'f' too\n"
            "  fix: let 'h' read a copy, f.clone_in(h), or drop in_place\n");
  EXPECT_EQ(tree("f(x) = x\ng(x) = f(x)*2\nover r(0, 9): g(r) = g(r) + f(r)\n"
                 "output g\n",
                 "g.in_place(f)\n"),
            "s.txt:1: error: cannot compute 'g' in place of 'f'\n"
            "  why: update 0 of 'g' reads 'f' when its values are overwritten\n"
            "  fix: drop in_place, or read it in the first definition only\n");
}

TEST(in_place, memory_that_does_not_fit) {
  EXPECT_EQ(tree(kChain, "g.compute_root()\nf.compute_at(g, y)\ng.in_place(f)\n"),
            "s.txt:3: error: cannot compute 'g' in place of 'f'\n"
            "  why: 'f' is computed at 'y' of 'g', 'g' at the root\n"
            "  fix: compute both at one level\n");
  EXPECT_EQ(tree(kChain, "g.in_place(f)\n"),
            "s.txt:1: error: cannot compute 'g' in place of 'f'\n"
            "  why: 'g' is computed inline\n"
            "  fix: add compute_root or compute_at to it\n");
  EXPECT_EQ(tree(kChain, "h.in_place(f)\n"),
            "s.txt:1: error: cannot compute 'h' in place of 'f'\n"
            "  why: the definition of 'h' does not read it\n"
            "  fix: name a Func that it reads\n");
  EXPECT_EQ(tree(kChain, "g.compute_root()\ng.in_place(k)\n"),
            "s.txt:2: error: cannot compute 'g' in place of 'k'\n"
            "  why: the pipeline has no such Func\n"
            "  fix: name a Func that 'g' reads\n");
  EXPECT_EQ(tree("f(i) = 0\nover x(0, 9): f(i) = f(i) + x\ng(x) = f(x)*2\n"
                 "output g\n",
                 "g.in_place(f)\n"),
            "s.txt:1: error: cannot compute 'g' in place of 'f'\n"
            "  why: 'i' of 'f' is 'x' of 'g', and 'f' has a loop 'x' already\n"
            "  fix: give that loop another name\n");
  EXPECT_EQ(tree("f(x, y) = x\ng(x) = f(x, x)\noutput g\n", "g.in_place(f)\n"),
            "s.txt:1: error: cannot compute 'g' in place of 'f'\n"
            "  why: they have 2 and 1 dimensions\n"
            "  fix: name a Func of as many dimensions\n");
  EXPECT_EQ(tree("f(x) = x\ng(x) = int64(f(x))\noutput g\n", "g.in_place(f)\n"),
            "s.txt:1: error: cannot compute 'g' in place of 'f'\n"
            "  why: their values have other types\n"
            "  fix: cast the values of one of both\n");
  EXPECT_EQ(tree("f(x) = x\ng(x) = f(x)\noutput f, g\n", "g.in_place(f)\n"),
            "s.txt:1: error: cannot compute 'g' in place of 'f'\n"
            "  why: 'f' is an output, and its values are the caller's\n"
            "  fix: drop in_place\n");
}

}  // namespace
}  // namespace polyhalite::in_place_test
