// Structural mistakes: each message with its place, and what would be legal.
#include <gtest/gtest.h>

#include "schedule/build.h"

namespace polyhalite::errors_test {
namespace {

constexpr const char *kBlur = R"(image in: int32, 2
bx(x, y) = in(x, y) + in(x + 1, y)
by(x, y) = bx(x, y) + bx(x, y + 1)
sh(x, y) = by(x, y) + bx(x, y)
output sh
)";

constexpr const char *kUpdate = R"(image in: int32, 1
f(x, y) = 0
over r(0, 100): f(x, y) = f(x, y) + in(x + r)
output f
)";

TEST(errors, level_that_does_not_enclose_every_use_lists_the_legal_ones) {
  EXPECT_EQ(tree(kBlur, "by.compute_at(sh, y)\nby.split(y, yo, yi, 8)\nbx.compute_at(by, yi)\n"),
            "s.txt:3: error: cannot compute 'bx' at loop 'yi' of 'by': it is also used by 'sh', "
            "outside that loop\n"
            "  fix: compute it at one of: root, sh.y\n");
}

TEST(errors, level_of_a_func_that_does_not_use_it) {
  EXPECT_EQ(
      tree(R"(image in: int32, 1
a(x) = in(x)
b(x) = in(x + 1)
c(x) = a(x) + b(x)
output c
)",
           "b.compute_root()\na.compute_at(b, x)\n"),
      "s.txt:2: error: cannot compute 'a' at loop 'x' of 'b': it is used by 'c', outside that "
      "loop\n"
      "  fix: compute it at one of: root, c.x\n");
}

TEST(errors, level_of_an_unknown_loop_lists_the_loops) {
  EXPECT_EQ(tree(kBlur, "by.compute_root()\nsh.split(y, yo, yi, 8)\nbx.compute_at(sh, yq)"),
            "s.txt:3: error: cannot compute 'bx' at loop 'yq' of 'sh': there is no such loop\n"
            "  fix: the loops of 'sh' are, outermost first: yo, yi, x\n");
}

TEST(errors, level_of_an_unknown_func) {
  EXPECT_EQ(
      tree(kBlur, "bx.compute_at(zz, y)"),
      "s.txt:1: error: cannot compute 'bx' at loop 'y' of 'zz': the pipeline has no Func 'zz'\n"
      "  fix: compute it at one of: root, sh.y, sh.x\n");
}

TEST(errors, level_of_an_inlined_func) {
  EXPECT_EQ(
      tree(kBlur, "bx.compute_at(by, y)"),
      "s.txt:1: error: cannot compute 'bx' at loop 'y' of 'by': 'by' is computed inline and has "
      "no loops\n"
      "  fix: give 'by' a compute level, or compute it at one of: root, sh.y, sh.x\n");
}

TEST(errors, level_of_its_own) {
  EXPECT_EQ(tree(kBlur, "bx.compute_at(bx, y)"),
            "s.txt:1: error: cannot compute 'bx' at loop 'y' of 'bx': that loop is its own\n"
            "  fix: compute it at one of: root, sh.y, sh.x\n");
}

TEST(errors, parallel_loop_of_a_func_computed_in_a_vector_loop) {
  EXPECT_EQ(
      tree(kBlur,
           "sh.split(x, xo, xi, 8)\nsh.vectorize(xi)\nbx.compute_at(sh, xi)\nbx.parallel(y)"),
      "s.txt:4: error: cannot run 'y' of 'bx' in parallel: it is computed inside the vector loop "
      "'sh.xi'\n"
      "  fix: compute 'bx' outside that loop, or keep 'y' serial\n");
}

TEST(errors, legal_levels_name_updates) {
  EXPECT_EQ(tree(R"(image in: int32, 1
g(x) = in(x)*2
f(x) = 0
over r(0, 4): f(x) = f(x) + g(x + r)
output f
)",
                 "g.compute_at(f, q)"),
            "s.txt:1: error: cannot compute 'g' at loop 'q' of 'f': there is no such loop\n"
            "  fix: the loops of 'f' are, outermost first: x\n");
  EXPECT_EQ(tree(R"(image in: int32, 1
g(x) = in(x)*2
f(x) = 0
over r(0, 4): f(x) = f(x) + g(x + r)
output f
)",
                 "f.update(0).rename(x, u)\ng.compute_at(f, x)"),
            "s.txt:2: error: cannot compute 'g' at loop 'x' of 'f': it is used by update 0 of 'f', "
            "outside that loop\n"
            "  fix: compute it at one of: root, f.update(0).u, f.update(0).r\n");
}

TEST(errors, store_level_inside_the_compute_level) {
  EXPECT_EQ(
      tree(kBlur, "bx.compute_at(sh, y)\nbx.store_at(sh, x)"),
      "s.txt:2: error: cannot store 'bx' at loop 'x' of 'sh': that loop does not enclose where "
      "it is computed\n"
      "  fix: store it at one of: root, sh.y\n");
}

TEST(errors, store_level_of_an_inlined_func) {
  EXPECT_EQ(tree(kBlur, "bx.store_root()"),
            "s.txt:1: error: cannot store 'bx': it is computed inline\n"
            "  why: only a Func with a compute level has storage and productions of its own\n"
            "  fix: add compute_root or compute_at, or drop store_root\n");
}

TEST(errors, output_at_a_loop) {
  EXPECT_EQ(
      tree("image in: int32, 1\na(x) = in(x)\nb(x) = a(x)\noutput a, b\n", "a.compute_at(b, x)"),
      "s.txt:1: error: cannot compute 'a' at a loop of 'b': it is an output of the pipeline\n"
      "  why: the caller's buffer holds it whole\n"
      "  fix: leave it at root, or make another Func the output\n");
}

TEST(errors, kind_of_an_inlined_funcs_loop) {
  EXPECT_EQ(tree(kBlur, "bx.vectorize(x)"),
            "s.txt:1: error: cannot vectorize 'x' of 'bx': it is computed inline and has no loops\n"
            "  fix: add compute_root or compute_at to 'bx'\n");
}

TEST(errors, unknown_func_and_update) {
  EXPECT_EQ(tree(kBlur, "bz.parallel(x)"),
            "s.txt:1: error: cannot parallelize 'bz': the pipeline has no such Func\n"
            "  fix: name one of: bx, by, sh\n");
  EXPECT_EQ(tree(kUpdate, "f.update(1).parallel(x)"),
            "s.txt:1: error: cannot parallelize update 1 of 'f': there is no such update\n"
            "  fix: 'f' has 1 of them\n");
}

TEST(errors, unknown_loop_lists_the_loops) {
  EXPECT_EQ(tree(kUpdate, "f.parallel(z)"),
            "s.txt:1: error: cannot parallelize 'z': 'f' has no such loop\n"
            "  fix: its loops are, outermost first: y, x\n");
  EXPECT_EQ(tree(kUpdate, "f.update(0).split(q, qo, qi, 4)"),
            "s.txt:1: error: cannot split 'q': update 0 of 'f' has no such loop\n"
            "  fix: its loops are, outermost first: y, x, r\n");
  EXPECT_EQ(tree(kUpdate, "f.split(x, xo, xi, 4)\nf.reorder(y, x)"),
            "s.txt:2: error: cannot reorder 'x': 'f' has no such loop\n"
            "  fix: its loops are, outermost first: y, xo, xi\n");
}

TEST(errors, factors) {
  EXPECT_EQ(tree(kUpdate, "f.split(x, xo, xi, 0)"),
            "s.txt:1: error: cannot split 'x' of 'f' by 0\n"
            "  why: a split needs a factor of at least 1\n");
  EXPECT_EQ(tree(kUpdate, "f.split(x, xo, xi, 2 - 6)"),
            "s.txt:1: error: cannot split 'x' of 'f' by -4\n"
            "  why: a split needs a factor of at least 1\n");
  EXPECT_EQ(tree(kUpdate, "f.split(x, xo, xi, 1.5)"),
            "s.txt:1: error: cannot split 'x' of 'f': the factor is not an integer\n"
            "  fix: give a constant or an expression of Params of type int32\n");
  EXPECT_EQ(tree(kUpdate, "f.split(x, xo, xi, n)"),
            "s.txt:1: error: cannot split 'f': the pipeline has no Param 'n'\n"
            "  fix: use a constant, or a Param that the algorithm uses\n");
}

TEST(errors, factor_of_a_loop_variable) {
  Algorithm a = parse_algorithm(std::string("algorithm 1\n") + kUpdate);
  Directive d;
  d.kind = DirectiveKind::Split;
  d.func = "f";
  d.loops = {"x", "xo", "xi"};
  d.factors = {make_variable(Int(32), VariableKind::Pure, "y")};
  d.where = {"blur.cpp", 12};
  try {
    build_tree(a, {d});
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_EQ(e.what(),
              std::string("blur.cpp:12: error: cannot split 'x' of 'f': the factor uses 'y'\n"
                          "  why: a factor is fixed before the loops run\n"
                          "  fix: give a constant or an expression of Params"));
  }
}

TEST(errors, names_given_twice) {
  EXPECT_EQ(tree(kUpdate, "f.split(x, xo, xo, 4)"),
            "s.txt:1: error: cannot split 'x' of 'f': outer and inner loop are both 'xo'\n"
            "  fix: give the two loops different names\n");
  EXPECT_EQ(tree(kUpdate, "f.split(x, y, xi, 4)"),
            "s.txt:1: error: cannot split: 'f' already has a loop 'y'\n"
            "  fix: give the new loop a name other than: y, x\n");
  EXPECT_EQ(tree(kUpdate, "f.rename(x, y)"),
            "s.txt:1: error: cannot rename: 'f' already has a loop 'y'\n"
            "  fix: give the new loop a name other than: y, x\n");
  EXPECT_EQ(tree(kUpdate, "f.update(0).fuse(x, y, r)"),
            "s.txt:1: error: cannot fuse: update 0 of 'f' already has a loop 'r'\n"
            "  fix: give the new loop a name other than: y, x, r\n");
  EXPECT_EQ(tree(kUpdate, "f.fuse(x, x, t)"),
            "s.txt:1: error: cannot fuse 'x' of 'f' with itself\n"
            "  fix: name two different loops of: y, x\n");
  EXPECT_EQ(tree(kUpdate, "f.reorder(x, y, x)"),
            "s.txt:1: error: cannot reorder 'f': 'x' is named twice\n"
            "  fix: name each loop once, innermost first\n");
}

TEST(errors, kinds_that_do_not_go_together) {
  EXPECT_EQ(tree(kUpdate, "f.bound(y, 0, 8)\nf.vectorize(y)\nf.parallel(x)"),
            "s.txt:3: error: cannot run 'x' of 'f' in parallel: it is inside the vector loop 'y'\n"
            "  fix: reorder 'x' outside 'y'\n");
}

TEST(errors, bound_of_no_dimension) {
  EXPECT_EQ(tree(kUpdate, "f.bound(r, 0, 8)"),
            "s.txt:1: error: cannot bound 'r' of 'f': it is no dimension of it\n"
            "  fix: its dimensions are: x, y\n");
}

TEST(errors, independent_ones_are_reported_together) {
  EXPECT_EQ(
      tree(R"(a(x) = x
b(x) = a(x) + a(x + 1)
c(x) = b(x)
c(x) = c(x) + b(x + 1)
output c
)",
           "a.parallel(x)\na.vectorize(x)\nb.compute_root()\nb.parallel(z)\nb.parallel(y)\n"
           "c.update(0).unroll(w)\nc.bound(q, 0, 4)\n"),
      "s.txt:1: error: cannot parallelize 'x' of 'a': it is computed inline and has no loops\n"
      "  fix: add compute_root or compute_at to 'a'\n"
      "s.txt:4: error: cannot parallelize 'z': 'b' has no such loop\n"
      "  fix: its loops are, outermost first: x\n"
      "s.txt:6: error: cannot unroll 'w': update 0 of 'c' has no such loop\n"
      "  fix: its loops are, outermost first: x\n"
      "s.txt:7: error: cannot bound 'q' of 'c': it is no dimension of it\n"
      "  fix: its dimensions are: x\n");
}

}  // namespace
}  // namespace polyhalite::errors_test
