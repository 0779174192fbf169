// What Auto becomes, and tails that a loop cannot have.
#include <gtest/gtest.h>

#include "schedule/build.h"

namespace polyhalite::tail_test {
namespace {

constexpr const char *kUpdate = R"(image in: int32, 1
f(x, y) = 0
over r(0, 100): f(x, y) = f(x, y) + in(x + r)
output f
)";

std::string tails(const std::string &directives) {
  std::string text;
  try {
    LoopTree t = build(kUpdate, directives);
    for (const StageNest &n : t.nests[0]) {
      for (const Derivation &d : n.derivations) {
        if (d.kind == Derivation::Split) text += std::string(tail_strategy_name(d.tail)) + " ";
      }
    }
  } catch (const CompileError &e) {
    text = e.what();
  }
  return text;
}

TEST(tail, automatic_by_stage_and_variable) {
  EXPECT_EQ(tails("f.split(x, xo, xi, 8)"), "ShiftInwards ");
  EXPECT_EQ(tails("f.update(0).split(x, xo, xi, 8)"), "RoundUp ");
  EXPECT_EQ(tails("f.update(0).split(r, ro, ri, 8)"), "GuardWithIf ");
}

TEST(tail, automatic_of_an_inner_loop_by_divisibility) {
  EXPECT_EQ(tails("f.split(x, xo, xi, 8)\nf.split(xi, xj, xk, 4)"), "ShiftInwards RoundUp ");
  EXPECT_EQ(tails("f.split(x, xo, xi, 8)\nf.split(xi, xj, xk, 3)"), "ShiftInwards GuardWithIf ");
  EXPECT_EQ(tails("f.split(x, xo, xi, 8)\nf.split(xi, xj, xk, 16)"), "ShiftInwards GuardWithIf ");
  EXPECT_EQ(tails("f.update(0).split(r, ro, ri, 8)\nf.update(0).split(ri, rj, rk, 4)"),
            "GuardWithIf RoundUp ");
  // ro has ceil(100/8) = 13 iterations.
  EXPECT_EQ(tails("f.update(0).split(r, ro, ri, 8)\nf.update(0).split(ro, rj, rk, 13)"),
            "GuardWithIf RoundUp ");
}

TEST(tail, automatic_of_fused_loops) {
  EXPECT_EQ(tails("f.fuse(x, y, t)\nf.split(t, to, ti, 8)"), "GuardWithIf ");
  EXPECT_EQ(tails("f.update(0).fuse(x, y, t)\nf.update(0).split(t, to, ti, 8)"), "GuardWithIf ");
  EXPECT_EQ(tails("f.update(0).fuse(r, x, t)\nf.update(0).split(t, to, ti, 8)"), "GuardWithIf ");
}

// Of bounds that leave room for a tile.
TEST(tail, fused_loops_of_known_sizes_shift_inwards) {
  const std::string fused = "f.fuse(x, y, t)\nf.split(t, to, ti, 5, ShiftInwards)";
  EXPECT_EQ(tails("f.bound(x, 0, 3)\nf.bound(y, 2, 2)\n" + fused), "ShiftInwards ");
  EXPECT_EQ(tails(fused + "\nf.bound(x, 0, 3)\nf.bound(y, 2, 2)"), "ShiftInwards ");
  EXPECT_EQ(tails("f.bound(x, 0, 3)\n" + fused), "GuardWithIf ");
  EXPECT_EQ(tails("f.bound(x, 0, 2)\nf.bound(y, 2, 2)\n" + fused), "GuardWithIf ");
}

TEST(tail, shift_inwards_of_an_update_is_refused) {
  EXPECT_EQ(tails("f.update(0).split(x, xo, xi, 8, ShiftInwards)"),
            "s.txt:1: error: cannot split 'x' of update 0 of 'f' with ShiftInwards\n"
            "  why: an update that runs twice on one point changes the result\n"
            "  fix: use TailStrategy::RoundUp or GuardWithIf");
}

TEST(tail, reduction_loops_guard) {
  for (std::string tail : {"RoundUp", "ShiftInwards"}) {
    EXPECT_EQ(tails("f.update(0).split(r, ro, ri, 8, " + tail + ")"),
              "s.txt:1: error: cannot split 'r' of update 0 of 'f' with " + tail +
                  "\n  why: 'r' is a reduction loop: extra iterations change the result\n"
                  "  fix: use TailStrategy::GuardWithIf");
  }
  EXPECT_EQ(tails("f.update(0).split(r, ro, ri, 10, RoundUp)"), "RoundUp ");
}

TEST(tail, round_up_of_an_inner_loop_needs_a_dividing_factor) {
  EXPECT_EQ(
      tails("f.split(x, xo, xi, 8)\nf.split(xi, xj, xk, 3, RoundUp)"),
      "s.txt:2: error: cannot split 'xi' of 'f' with RoundUp: factor 3 does not divide extent 8\n"
      "  why: the loop around 'xi' fixes its extent\n"
      "  fix: use a factor that divides 8, or TailStrategy::GuardWithIf");
  EXPECT_EQ(tails("f.split(x, xo, xi, 8)\nf.split(xi, xj, xk, 2, RoundUp)"),
            "ShiftInwards RoundUp ");
}

TEST(tail, shift_inwards_of_an_inner_loop_without_room_guards) {
  EXPECT_EQ(tails("f.split(x, xo, xi, 8)\nf.split(xi, xj, xk, 16, ShiftInwards)"),
            "ShiftInwards GuardWithIf ");
}

TEST(tail, automatic_of_an_inner_loop_of_unknown_extent_guards) {
  constexpr const char *kScaled = "param n: int32\nimage in: int32, 1\nf(x) = in(x)*n\noutput f\n";
  LoopTree t =
      build(kScaled, "f.split(x, xo, xi, n)\nf.split(xi, xj, xk, 4)\nf.split(xo, a, b, 2)");
  const auto &d = t.nests[0][0].derivations;
  EXPECT_EQ(d[0].tail, TailStrategy::ShiftInwards);
  EXPECT_EQ(d[1].tail, TailStrategy::GuardWithIf);
  EXPECT_EQ(d[2].tail, TailStrategy::ShiftInwards);
  t = build(kScaled, "f.split(x, xo, xi, n)\nf.split(xi, xj, xk, 4, RoundUp)");
  EXPECT_EQ(t.nests[0][0].derivations[1].tail, TailStrategy::GuardWithIf);
}

TEST(tail, fused_loops_guard) {
  for (std::string tail : {"RoundUp", "ShiftInwards"}) {
    EXPECT_EQ(tails("f.fuse(x, y, t)\nf.split(t, to, ti, 8, " + tail + ")"), "GuardWithIf ");
  }
  EXPECT_EQ(tails("f.split(x, xo, xi, 4)\nf.split(xi, xj, xk, 2)\nf.fuse(xj, xk, t)\n"
                  "f.split(t, a, b, 2, ShiftInwards)"),
            "ShiftInwards RoundUp ShiftInwards ");
}

}  // namespace
}  // namespace polyhalite::tail_test
