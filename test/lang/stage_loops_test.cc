// Directives on loops that are not there are refused at their own call.
#include <gtest/gtest.h>

#include "lang/ir/function.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::stage_loops_test {
namespace {

struct StageLoops : testing::Test {
  Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"};
  RDom r{0, 10, 0, 10, "r"};
  Func f{"f"};
  void SetUp() override {
    f(x, y) = 0;
    f(x, y) += r.x + r.y;
  }
};

TEST_F(StageLoops, UnknownLoops) {
  EXPECT_EQ(message_of([&] { f.split(x, xo, xi, 4).vectorize(x); }),
            at(__LINE__ - 1) +
                "error: cannot vectorize 'x': 'f' has no such loop\n"
                "  fix: its loops are, outermost first: y, xo, xi");
  EXPECT_EQ(message_of([&] { f.update().reorder(y, xi); }),
            at(__LINE__ - 1) +
                "error: cannot reorder 'xi': update 0 of 'f' has no such loop\n"
                "  fix: its loops are, outermost first: y, x, r_y, r_x");
  EXPECT_EQ(message_of([&] { f.update().rename(x, xo).gpu_threads(xo, x); }),
            at(__LINE__ - 1) +
                "error: cannot gpu_threads 'x': update 0 of 'f' has no such loop\n"
                "  fix: its loops are, outermost first: y, xo, r_y, r_x");
}

TEST_F(StageLoops, NamesThatAreTaken) {
  EXPECT_EQ(message_of([&] { f.split(x, xo, xi, 4).split(xo, y, xo, 4); }),
            at(__LINE__ - 1) +
                "error: cannot split: 'f' already has a loop 'y'\n"
                "  fix: give the new loop a name other than: y, xo, xi");
  EXPECT_EQ(message_of([&] { f.split(xi, xo, xi, 4); }),
            at(__LINE__ - 1) +
                "error: cannot split: 'f' already has a loop 'xo'\n"
                "  fix: give the new loop a name other than: y, xo, xi");
}

TEST_F(StageLoops, LoopsOfTwoKindsAreNotFused) {
  RVar fused("fused");
  EXPECT_EQ(message_of([&] { f.update().vectorize(y).fuse(y, r.y, fused); }),
            at(__LINE__ - 1) +
                "error: cannot fuse 'y' (vector) with 'r_y' (serial) of update 0 of 'f'\n"
                "  why: the fused loop would have two kinds\n"
                "  fix: fuse first, then say how the fused loop runs");
}

TEST_F(StageLoops, VarsDoNotNameReductionVariables) {
  EXPECT_EQ(message_of([&] { f.update().split(Var::of_loop(r.x.name()), xo, xi, 2); }),
            at(__LINE__ - 1) +
                "error: cannot split 'r_x' of update 0 of 'f': it is named by a Var\n"
                "  why: it is a reduction variable, whose order matters\n"
                "  fix: name it by the RVar of its RDom");
}

TEST_F(StageLoops, WhatWasRefusedLeavesNoTrace) {
  EXPECT_NE(message_of([&] { f.split(x, xo, y, 4); }), "no error");
  f.split(x, xo, xi, 4).fuse(xi, y, y).parallel(xo);
  EXPECT_EQ(f.function()->directives.size(), 3u);
}

}  // namespace
}  // namespace polyhalite::stage_loops_test
