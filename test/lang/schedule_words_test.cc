// The words of a schedule: which directives they add, and the messages raised at the call.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/ir/node.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::schedule_words_test {
namespace {

std::string text(const Directive &d) {
  std::string s = d.func;
  if (d.stage > 0) s += ".update(" + std::to_string(d.stage - 1) + ")";
  s += std::string(".") + directive_name(d.kind) + "(";
  std::string separator;
  if (!d.target_func.empty()) {
    s += d.target_func;
    if (d.target_stage > 0) s += ".update(" + std::to_string(d.target_stage - 1) + ")";
    separator = ", ";
  }
  for (const std::string &l : d.loops) {
    s += separator + l;
    separator = ", ";
  }
  for (const Expr &e : d.factors) {
    int64_t n = -1;
    is_const_int(e, &n);
    s += separator + std::to_string(n);
  }
  return s + ")";
}

std::string schedule_of(const Func &f) {
  std::string s;
  for (const Directive &d : freeze({f.function()}).directives) s += text(d) + "\n";
  return s;
}

struct Words : testing::Test {
  Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, xo{"xo"}, yo{"yo"};
  Func f{"words"};
  void SetUp() override { f(x, y) = x + y; }
};

TEST_F(Words, TileIsTwoSplitsAndAReorder) {
  f.tile(x, y, xo, yo, xi, yi, 16, 8);
  EXPECT_EQ(schedule_of(f),
            "words.split(x, xo, xi, 16)\n"
            "words.split(y, yo, yi, 8)\n"
            "words.reorder(xi, yi, xo, yo)\n");
}

TEST_F(Words, ShortTileKeepsTheOuterNames) {
  f.tile(x, y, xi, yi, 16, 8);
  EXPECT_EQ(schedule_of(f),
            "words.split(x, x, xi, 16)\n"
            "words.split(y, y, yi, 8)\n"
            "words.reorder(xi, yi, x, y)\n");
}

TEST_F(Words, VectorizeByAFactorNamesTheInnerLoop) {
  f.vectorize(x, 8).unroll(x, 2).parallel(y, 4).unroll(x, 2);
  EXPECT_EQ(schedule_of(f),
            "words.split(x, x, x_v, 8)\n"
            "words.vectorize(x_v)\n"
            "words.split(x, x, x_u, 2)\n"
            "words.unroll(x_u)\n"
            "words.split(y, y, y_p, 4)\n"
            "words.parallel(y)\n"
            "words.split(x, x, x_u1, 2)\n"
            "words.unroll(x_u1)\n");
}

TEST_F(Words, UpdatesAndLevels) {
  RDom r(0, 4, 0, 5, "r");
  Func g("consumer");
  f(x, y) += r.x * r.y;
  g(x, y) = f(x, y) * 2;
  f.update().reorder(x, r.y, r.x).unroll(r.x);
  f.compute_at(g, y).store_root();
  g.fuse(x, y, xo).serial(xo).rename(xo, yo).bound(x, 0, 64);
  EXPECT_EQ(schedule_of(g),
            "words.update(0).reorder(x, r_y, r_x)\n"
            "words.update(0).unroll(r_x)\n"
            "words.compute_at(consumer, y)\n"
            "words.store_root()\n"
            "consumer.fuse(x, y, xo)\n"
            "consumer.serial(xo)\n"
            "consumer.rename(xo, yo)\n"
            "consumer.bound(x, 0, 64)\n");
}

TEST_F(Words, ComputeAtFindsTheStageThatUsesTheFunc) {
  RDom r(0, 4, "r");
  Func g("accumulated");
  g(x) = 0;
  g(x) += f(x, r);
  f.compute_at(g, r);
  EXPECT_EQ(schedule_of(g), "words.compute_at(accumulated.update(0), r)\n");
}

TEST_F(Words, ComputeAtASharedLoopFindsTheUpdateThatUsesTheFunc) {
  RDom r(0, 4, "r");
  Func g("accumulated_too");
  g(x) = 0;
  g(x) += f(x, r);
  f.compute_at(g, x);
  EXPECT_EQ(schedule_of(g), "words.compute_at(accumulated_too.update(0), x)\n");
}

TEST_F(Words, DirectivesKeepTheCallersLine) {
  const int line = __LINE__ + 2;
  // The line of the call's first word.
  f.reorder(y, x);
  f.vectorize(x, 4);
  const auto directives = freeze({f.function()}).directives;
  EXPECT_EQ(directives[0].where.line, line);
  EXPECT_EQ(directives[1].where.line, line + 1);
  EXPECT_EQ(directives[1].where.file, __FILE__);
}

TEST_F(Words, AnonymousNamesFreezeToTheSameText) {
  auto build = [] {
    Var a, b, inner;
    Func g;
    g(a, b) = a * b;
    g.split(a, a, inner, 4).reorder(b, inner, a);
    return schedule_of(g);
  };
  const std::string first = build();
  EXPECT_EQ(first, "f.split(v, v, v$2, 4)\nf.reorder(v$1, v$2, v)\n");
  EXPECT_EQ(build(), first);
}

TEST_F(Words, FactorZeroIsRefused) {
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f.split(x, xo, xi, 0); }),
            at(line) +
                "error: cannot split 'x' of 'words' by 0\n"
                "  why: a split makes inner loops of `factor` iterations\n"
                "  fix: give a factor of at least 1");
}

TEST_F(Words, NegativeFactorIsRefused) {
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f.vectorize(x, -4); }),
            at(line) +
                "error: cannot vectorize 'x' of 'words' by -4\n"
                "  why: a split makes inner loops of `factor` iterations\n"
                "  fix: give a factor of at least 1");
}

TEST_F(Words, ScheduleOfAnUndefinedFuncIsRefused) {
  Func g("not_yet");
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { g.parallel(y); }),
            at(line) +
                "error: cannot parallel 'y' of 'not_yet'\n"
                "  why: the Func is undefined, so it has no loops\n"
                "  fix: define the Func before its schedule");
}

TEST_F(Words, ShiftInwardsOnAnUpdateIsRefused) {
  f(x, y) += 1;
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f.update().vectorize(x, 4, TailStrategy::ShiftInwards); }),
            at(line) +
                "error: cannot split 'x' of update 0 of 'words' with ShiftInwards\n"
                "  why: shifting the last tile inwards computes values twice, which an "
                "update may not do\n"
                "  fix: use GuardWithIf or RoundUp");
}

TEST_F(Words, MissingUpdateIsRefused) {
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f.update(1); }),
            at(line) +
                "error: update 1 of 'words' does not exist\n"
                "  why: it has no updates\n"
                "  fix: schedule the Func itself, or update it first");
}

TEST_F(Words, BoundOfWhatIsNoArgumentIsRefused) {
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f.bound(xi, 0, 8); }), at(line) +
                                                        "error: cannot bound 'xi' of 'words'\n"
                                                        "  why: it is no argument of the Func\n"
                                                        "  fix: name one of the arguments");
}

TEST_F(Words, EstimatesNeedOnePairForEachDimension) {
  f.set_estimates({{0, 64}, {0, 48}});
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { f.set_estimates({{0, 64}}); }),
            at(line) +
                "error: set_estimates of 'words' got 1 estimates\n"
                "  why: it has 2 dimensions\n"
                "  fix: give one pair of min and extent for each dimension");
}

TEST_F(Words, LevelOutsideThePipelineIsRefused) {
  Func g("stranger"), h("output");
  g(x, y) = 1;
  h(x, y) = f(x, y);
  const int line = __LINE__ + 1;
  f.compute_at(g, y);
  EXPECT_EQ(message_of([&] { freeze({h.function()}); }),
            at(line) +
                "error: cannot compute_at 'stranger' for 'words'\n"
                "  why: 'stranger' is not part of this pipeline\n"
                "  fix: name a consumer of 'words'");
}

}  // namespace
}  // namespace polyhalite::schedule_words_test
