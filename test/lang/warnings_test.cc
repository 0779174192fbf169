// What is allowed and rarely meant.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/language/warnings.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::warnings_test {
namespace {

struct Warnings : testing::Test {
  Var x{"x"};
  Func f{"f"};
  void SetUp() override { f(x) = x; }
  template <typename F>
  std::string warned(F &&what) {
    testing::internal::CaptureStderr();
    what();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Warnings, ADefinitionThatHidesTheOthers) {
  EXPECT_EQ(warned([&] { f(x) = 2; }),
            at(__LINE__ - 1) +
                "Warning: update 0 of 'f' hides every definition before it\n"
                "  why: it gives all points values that do not depend on the old ones\n"
                "  fix: leave the earlier ones out, or give this Func another name\n");
  RDom r(0, 4, "r");
  EXPECT_EQ(warned([&] {
              f(x) = f(x) + 2;
              f(r) = 1;
              f(x) += 1;
              f(0) = 7;
            }),
            "");
}

TEST_F(Warnings, ABoundThatIsLost) {
  f.bound_extent(x, 3);
  EXPECT_EQ(warned([&] { f.bound_extent(x, 4); }),
            at(__LINE__ - 1) +
                "Warning: 'x' of 'f' is bounded again, to other bounds\n"
                "  why: the earlier bound_extent() no longer counts\n"
                "  fix: bound each dimension once\n");
  EXPECT_EQ(warned([&] {
              f.bound_extent(x, 4);
              f.align_bounds(x, 4, 1);
              f.bound(x, 1, 4);
              f.bound(x, 1, 4);
            }),
            "");
  EXPECT_NE(warned([&] { f.bound(x, 5, 4); }).find("the earlier bound() no longer counts"),
            std::string::npos);
}

TEST_F(Warnings, AnUpdateThatIsForgotten) {
  f(x) += 5;
  const int line = __LINE__ - 1;
  const auto compile = [&] { warn_of_schedules(freeze({f.function()})); };
  f.compute_root();
  EXPECT_EQ(warned(compile), "") << "no stage has a directive for its loops";
  f.vectorize(x, 8);
  EXPECT_EQ(warned(compile),
            at(line) +
                "Warning: update 0 of 'f' is not scheduled, and another of its definitions is\n"
                "  why: directives on a Func concern its pure definition only\n"
                "  fix: schedule update(0), or say update(0).unscheduled()\n");
  f.update().unscheduled();
  EXPECT_EQ(warned(compile), "");
}

TEST_F(Warnings, StreamsOfAFuncThatIsComputedInline) {
  Func g("g");
  g(x) = f(x) + f(x + 1);
  f.stream_loads();
  f.stream_stores();
  const int line = __LINE__ - 1;
  const auto compile = [&] { warn_of_schedules(freeze({g.function()})); };
  EXPECT_EQ(warned(compile),
            at(line - 1) +
                "Warning: stream_loads() of 'f' does nothing: 'f' is computed inline\n"
                "  why: what it reads is read by the stages that use it\n"
                "  fix: say it of the Funcs that use it, or add compute_root or compute_at\n" +
                at(line) +
                "Warning: stream_stores() of 'f' does nothing: 'f' is computed inline\n"
                "  why: it stores nothing\n"
                "  fix: add compute_root or compute_at\n");
  f.compute_root();
  g.stream_stores();
  EXPECT_EQ(warned(compile), "");
}

TEST_F(Warnings, ARequirementThatIsNeverMet) {
  Param<int> p("p");
  Func g("g"), h("h");
  g(x) = require(Expr(1) + 2 == 7, x, "sum is", 3);
  const int line = __LINE__ - 1;
  h(x) = require(p == 7, x, "p is", p) + require(Expr(true), x);
  const std::string text = warned([&] { warn_of_schedules(freeze({g.function(), h.function()})); });
  EXPECT_EQ(text, at(line) +
                      "Warning: a require() of 'g' fails whatever the inputs are\n"
                      "  why: its condition is always false\n"
                      "  fix: mend the condition, or leave it out\n");
}

}  // namespace
}  // namespace polyhalite::warnings_test
