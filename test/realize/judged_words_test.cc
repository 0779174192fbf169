// Words that reorder reductions or run them at once are judged where they are called.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite {
namespace {

struct JudgedWords : testing::Test {
  Var x{"x"}, y{"y"};
  Func f{"f"}, g{"g"};
  JudgedWords() {
    f(x, y) = x;
    g(x) = 1;
  }
};

TEST_F(JudgedWords, ParallelOfCellsThatOthersRead) {
  RDom r(0, 10, 0, 10, "r");
  f(r.x, r.y) += f(r.y, r.x);
  EXPECT_EQ(message_of([&] { f.update().parallel(r.y); }),
            at(__LINE__ - 1) +
                "error: cannot run loop 'r_y' of update 0 of 'f' in parallel\n"
                "  why: f at (r_y=1, r_x=0) reads f(1, 0), which (r_y=0, r_x=1) writes\n"
                "  fix: keep 'r_y' serial");
  // What was refused is forgotten.
  const Buffer<int> out = f.realize({10, 10});
  EXPECT_EQ(out(2, 2), 4);
}

TEST_F(JudgedWords, AConditionReadsToo) {
  RDom r(0, 10, "r");
  r.where(g(0) == 1);
  g(r) = 2;
  EXPECT_NE(message_of([&] {
              g.update().parallel(r);
            }).find("error: cannot run loop 'r' of update 0 of 'g' in parallel"),
            std::string::npos);
}

TEST_F(JudgedWords, VectorsAreTakenBackWhole) {
  RDom r(0, 16, "r");
  g(0) += r;
  EXPECT_NE(message_of([&] {
              g.update().vectorize(r, 4);
            }).find("error: cannot vectorize loop 'r_v' of update 0 of 'g'"),
            std::string::npos);
  EXPECT_EQ(g.update().dump_argument_list(), "Vars: r\n");
  g.update().atomic().vectorize(r, 4);
  const Buffer<int> out = g.realize({2});
  EXPECT_EQ(out(0), 121);
}

TEST_F(JudgedWords, FusingLoopsOfAnotherOrder) {
  RDom r(0, 4, 0, 3, "r");
  RVar outer("outer"), inner("inner"), fused("fused");
  g(x) = g(x) * 2 + r.x * 5 + r.y;
  g.update().split(r.x, outer, inner, 2);
  EXPECT_NE(message_of([&] { g.update().fuse(inner, r.y, fused); }).find("error: cannot"),
            std::string::npos);
  EXPECT_NE(message_of([&] { g.update().reorder(r.y, inner, outer); }).find("error: cannot"),
            std::string::npos);
  g.update().reorder(inner, outer, r.y);
}

TEST_F(JudgedWords, OrderIsFreeWhereItDoesNotMatter) {
  RDom r(0, 4, 0, 3, "r");
  g(x) += r.x * 5 + r.y;
  g.update().reorder(r.y, r.x);
  const Buffer<int> out = g.realize({2});
  EXPECT_EQ(out(1), 1 + 3 * 5 * 6 + 4 * 3);
}

TEST_F(JudgedWords, PromisesComeFirst) {
  ImageParam where(UInt(8), 1, "where");
  RDom r(0, 16, "r");
  g(clamp(cast<int>(where(r)), 0, 3)) += 1;
  EXPECT_NE(message_of([&] { g.update().parallel(r); }).find("may both write g("),
            std::string::npos);
  g.update().allow_race_conditions().parallel(r);
}

TEST_F(JudgedWords, WhatDependsOnTheRestOfTheProgramWaits) {
  // rfactor has made another Func of it.
  RDom r(0, 64, "r");
  RVar outer("outer"), inner("inner");
  Var u("u");
  g(x) += r;
  g.update().split(r, outer, inner, 8);
  Func partial = g.update().rfactor(outer, u);
  partial.compute_root().update().parallel(u);
  const Buffer<int> out = g.realize({2});
  EXPECT_EQ(out(0), 1 + 64 * 63 / 2);
}

}  // namespace
}  // namespace polyhalite
