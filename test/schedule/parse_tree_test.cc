// A loop tree's text reads back; broken text is refused with its line.
#include "schedule/parse_tree.h"

#include <gtest/gtest.h>

#include "schedule/build.h"
#include "support/random_pipeline.h"

namespace polyhalite::parse_tree_test {
namespace {

constexpr const char *kBlur = R"(image in: uint16, 2
param n: int32
bx(x, y) = (in(x, y) + in(x + 1, y) + uint16(n))/3u16
by(x, y) = (bx(x, y) + bx(x, y + 1))/3u16
over r(0, 4): by(x, 0) = by(x, 0) + bx(x, r)
output by
)";

constexpr const char *kSchedule = R"(by.bound(x, 0, n*4)
by.split(y, y, yi, n)
by.parallel(y)
by.update(0).split(x, xo, xi, 8, GuardWithIf)
by.update(0).fuse(xi, xo, t)
bx.compute_root()
)";

constexpr const char *kText = R"(tree 1
bound by.x from 0 extent n*4
allocate bx
  for bx.s0.y serial
    for bx.s0.x serial
      bx.s0
  for by.s0.y parallel of y.1
    for by.s0.yi serial
      for by.s0.x serial
        by.s0: y -> y.1, yi by n ShiftInwards
  for by.s1.t serial
    for by.s1.r serial reduction
      by.s1: x -> xo, xi by 8 GuardWithIf; xo, xi -> t
)";

// The text after a change, read: "read", or the diagnostic.
std::string read(const std::string &from, const std::string &to) {
  std::string text = kText;
  const size_t at = text.find(from);
  if (at == std::string::npos) return "the text has no '" + from + "'";
  text.replace(at, from.size(), to);
  try {
    parse_tree(text, build(kBlur, kSchedule).algorithm, "t.txt");
    return "read";
  } catch (const CompileError &e) {
    return e.what();
  }
}

void expect_same(const LoopTree &a, const LoopTree &b) {
  EXPECT_EQ(to_text(a), to_text(b));
  EXPECT_EQ(a.hash, b.hash);
  ASSERT_EQ(a.loops.size(), b.loops.size());
  for (size_t l = 0; l < a.loops.size(); l++) {
    EXPECT_EQ(a.loops[l].name, b.loops[l].name);
    EXPECT_EQ(a.loops[l].label, b.loops[l].label);
    EXPECT_EQ(a.loops[l].dim, b.loops[l].dim);
    EXPECT_EQ(a.loops[l].is_reduction, b.loops[l].is_reduction);
    EXPECT_EQ(a.loops[l].stage, b.loops[l].stage);
  }
  for (size_t f = 0; f < a.placements.size(); f++) {
    EXPECT_EQ(a.placements[f].compute, b.placements[f].compute);
    EXPECT_EQ(a.placements[f].store, b.placements[f].store);
    for (size_t s = 0; s < a.nests[f].size(); s++) {
      EXPECT_EQ(a.nests[f][s].loops, b.nests[f][s].loops);
    }
  }
}

TEST(parse_tree, text_reads_back) {
  const LoopTree t = build(kBlur, kSchedule);
  EXPECT_EQ(to_text(t), kText);
  expect_same(t, parse_tree(kText, t.algorithm));
}

TEST(parse_tree, random_trees_read_back) {
  int trees = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    const test::RandomPipeline p = test::random_pipeline(seed);
    LoopTree t;
    try {
      t = build_tree(p.frozen.algorithm, p.frozen.directives);
    } catch (const CompileError &) {
      continue;
    }
    trees++;
    SCOPED_TRACE(seed);
    ASSERT_NO_THROW(expect_same(t, parse_tree(to_text(t), t.algorithm))) << to_text(t);
  }
  EXPECT_GT(trees, 200);
}

TEST(parse_tree, names_that_are_no_identifiers_stand_in_backquotes) {
  const LoopTree t = build("`a b`(x) = x\nout(x) = `a b`(x)\noutput out\n", "`a b`.compute_root()");
  EXPECT_NE(to_text(t).find("allocate `a b`\n  for `a b.s0.x` serial\n    `a b.s0`\n"),
            std::string::npos);
  expect_same(t, parse_tree(to_text(t), t.algorithm));
}

TEST(parse_tree, broken_text_is_refused_with_its_line) {
  const struct {
    const char *from, *to, *message;
  } cases[] = {
      {"tree 1", "tree 2",
       "t.txt:1: error: version 2 of the loop tree's text is not known\n  why: this library reads "
       "version 1"},
      {"bound by.x", "bound by.z", "t.txt:2: error: the algorithm has no dimension 'by.z'"},
      {"    for bx.s0.x", "     for bx.s0.x",
       "t.txt:5: error: the line is indented by 5 spaces\n  why: a node stands two spaces inside "
       "of the loop or allocation that encloses it\n  fix: indent it by at most 4"},
      {"parallel", "wild",
       "t.txt:7: error: expected a kind of loop, found 'wild'\n  fix: kinds are: serial, parallel, "
       "vector, unrolled, gpu_block, gpu_thread, gpu_lane"},
      {"      bx.s0\n", "      bx.s1\n",
       "t.txt:6: error: 'bx.s1' is no stage of the algorithm\n  fix: a node is 'for LOOP KIND', "
       "'allocate FUNC', 'hoist FUNC', 'fork FUNC' or 'FUNC.sSTAGE'"},
      {"      bx.s0\n", "",
       "t.txt:4: error: loop 'bx.s0.y' is not around its stage\n  why: a "
       "stage's loops stand around it without those of other stages between"},
      {"y.1, yi by n", "y.1, yi by 0",
       "t.txt:10: error: 'y' is split by 0\n  why: a split needs a factor of at least 1"},
      {"yi by n", "yi by m", "t.txt:10: error: unknown name 'm'"},
      {" of y.1", "", "t.txt:7: error: 'y' is no dimension that a loop of 'by' can run over"},
      {" reduction", "",
       "t.txt:12: error: loop 'by.s1.r' is of a reduction variable\n  fix: mark it 'reduction'"},
      {"allocate bx", "allocate by",
       "t.txt:3: error: 'by' is an output: the caller has its storage"},
      {"  for by.s1.t serial\n    for by.s1.r serial reduction\n      by.s1",
       "for by.s1.t serial\n  for by.s1.r serial reduction\n    by.s1",
       "t.txt:11: error: the tree's nodes do not stand where their levels put them\n  why: "
       "producers come before their consumers, and an allocation encloses exactly the nodes from "
       "the production to the last use\n  fix: expected 'for by.s1.t' here, 2 spaces from the "
       "left"},
  };
  for (const auto &c : cases) EXPECT_EQ(read(c.from, c.to), c.message) << c.to;
}

TEST(parse_tree, no_text_crashes) {
  const LoopTree t = build(kBlur, kSchedule);
  test::Dice dice(1);
  const std::string text = kText;
  for (int i = 0; i < 3000; i++) {
    std::string broken = text;
    for (int n = dice.between(1, 3); n > 0; n--) {
      const int at = dice.between(0, static_cast<int>(broken.size()) - 1);
      if (dice.chance(50)) {
        broken.erase(at, dice.between(1, 12));
      } else {
        broken.insert(at, broken.substr(dice.between(0, static_cast<int>(broken.size()) - 1),
                                        dice.between(1, 30)));
      }
    }
    try {
      const LoopTree back = parse_tree(broken, t.algorithm);
      EXPECT_EQ(to_text(parse_tree(to_text(back), t.algorithm)), to_text(back));
    } catch (const CompileError &) {
    }
  }
}

}  // namespace
}  // namespace polyhalite::parse_tree_test
