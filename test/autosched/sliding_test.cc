// Windows that slide inside of parallel strips: found where stencils follow each other, and right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autosched/analytic_cost.h"
#include "autosched/group_boxes.h"
#include "autosched/row_sharing.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::sliding_test {
namespace {

const Target kTarget("x86-64-linux-avx2-fma-sse41");
Var x("x"), y("y");

Expr sum_3x3(const Func &f) {
  Expr sum = 0.0f;
  for (int j = 0; j < 3; j++) {
    for (int i = 0; i < 3; i++) sum += f(x + i, y + j);
  }
  return sum;
}

// A corner detector: derivatives of brightness, sums of their products, a response.
struct Corners {
  ImageParam in{Float(32), 3, "in"};
  Func gray{"gray"}, dx{"dx"}, dy{"dy"}, dxx{"dxx"}, dyy{"dyy"}, dxy{"dxy"}, out{"out"};
  Corners() {
    gray(x, y) = 0.3f * in(x, y, 0) + 0.6f * in(x, y, 1) + 0.1f * in(x, y, 2);
    dx(x, y) = gray(x + 2, y) - gray(x, y) + 2.0f * (gray(x + 2, y + 1) - gray(x, y + 1)) +
               gray(x + 2, y + 2) - gray(x, y + 2);
    dy(x, y) = gray(x, y + 2) - gray(x, y) + 2.0f * (gray(x + 1, y + 2) - gray(x + 1, y)) +
               gray(x + 2, y + 2) - gray(x + 2, y);
    dxx(x, y) = dx(x, y) * dx(x, y);
    dyy(x, y) = dy(x, y) * dy(x, y);
    dxy(x, y) = dx(x, y) * dy(x, y);
    const Expr xx = sum_3x3(dxx), yy = sum_3x3(dyy), xy = sum_3x3(dxy);
    out(x, y) = xx * yy - xy * xy - 0.04f * (xx + yy) * (xx + yy);
    in.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    out.set_estimates({{0, 1532}, {0, 2556}});
  }
};

// Several rows of a long strip at a time, and of what they read only what is new.
TEST(Sliding, StencilsSlideInsideParallelStrips) {
  Corners c;
  const AutoSchedulerResults r = auto_schedule(Pipeline(c.out), kTarget, {{"parallelism", "2"}});
  EXPECT_EQ(r.schedule_text,
            "schedule 1\n"
            "out.split(y, y, yi, 128)\n"
            "out.split(x, x, xv, 8)\n"
            "out.split(yi, yi, yu, 8)\n"
            "out.reorder(xv, yu, x, yi, y)\n"
            "out.vectorize(xv)\n"
            "out.unroll(yu)\n"
            "out.parallel(y)\n"
            "dy.store_at(out, y)\n"
            "dy.compute_at(out, yi)\n"
            "dy.split(x, x, xv, 8)\n"
            "dy.vectorize(xv)\n"
            "dx.store_at(out, y)\n"
            "dx.compute_at(out, yi)\n"
            "dx.split(x, x, xv, 8)\n"
            "dx.vectorize(xv)\n"
            "gray.store_at(out, y)\n"
            "gray.compute_at(out, yi)\n"
            "gray.split(x, x, xv, 8)\n"
            "gray.vectorize(xv)\n")
      << r.report;
}

TEST(Sliding, ResultsAreThoseOfThePlainProgram) {
  const int width = 397, height = 331;
  Buffer<float, 3> image(width + 4, height + 4, 3);
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < height + 4; j++) {
      for (int i = 0; i < width + 4; i++) {
        image(i, j, k) = static_cast<float>((i * 7 + j * 13 + k * 5) % 32);
      }
    }
  }
  const auto program = [&](bool automatic) {
    Corners c;
    c.in.set(image);
    if (automatic) auto_schedule(Pipeline(c.out), kTarget, {{"parallelism", "2"}});
    return Buffer<float, 2>(c.out.realize({width, height}));
  };
  const Buffer<float, 2> expected = program(false), result = program(true);
  float largest = 0;
  expected.for_each_value([&](float v) { largest = std::max(largest, std::abs(v)); });
  for (int j = 0; j < height; j++) {
    for (int i = 0; i < width; i++) {
      // Sums may be fused with products in other ways.
      ASSERT_NEAR(result(i, j), expected(i, j), 1e-4f * largest) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace polyhalite::sliding_test

namespace polyhalite::autosched::sliding_test {
namespace {

using polyhalite::sliding_test::kTarget, polyhalite::sliding_test::x, polyhalite::sliding_test::y;

struct Blur {
  ImageParam in{UInt(16), 2, "in"};
  Func across{"across"}, out{"out"};
  FrozenPipeline frozen;
  Estimates estimates;
  PipelineModel model;
  Blur() {
    across(x, y) = in(x, y) + in(x + 1, y);
    out(x, y) = across(x, y) + across(x, y + 1) + across(x, y + 4);
    out.set_estimates({{0, 640}, {0, 480}});
    frozen = freeze({out.function()});
    estimates = find_estimates(frozen);
    model = build_model(frozen, {}, &estimates);
  }
  int func(const std::string &name) const { return model.algorithm.index_of(name); }
};

// across at rows y, y + 1 and y + 4: alone a row needs 3. Of 4 rows, 0 to 3 need rows 0 to 7; of 2,
// 0 to 2 and 4 to 5.
TEST(RowSharing, CountsWhatRowsHaveInCommonOnce) {
  const Blur b;
  const StageModel &out = b.model.funcs[static_cast<size_t>(b.func("out"))].stages[0];
  std::vector<const Access *> reads;
  for (const Access &a : out.accesses) reads.push_back(&a);
  ASSERT_EQ(reads.size(), 3u);
  RowSharing rows;
  rows.add(reads, 2);
  EXPECT_EQ(rows.per_row(1), 2 * 3);
  EXPECT_EQ(rows.per_row(2), 2 * 5 / 2.0);
  EXPECT_EQ(rows.per_row(4), 2 * 8 / 4.0);
  EXPECT_EQ(rows.per_row(4, false), 2 * 3);
  EXPECT_EQ(rows.used_again(2), 1);  // the row below is
  EXPECT_EQ(rows.waiting(2), 1);
  EXPECT_EQ(rows.used_again(4), 2);  // and the one three rows on
  EXPECT_EQ(rows.waiting(4), 1 + 3);
}

// The row loop of a host steps over the rows that are unrolled.
TEST(GroupBoxes, RowsThatAreUnrolledAreOneStep) {
  const Blur b;
  const auto out = static_cast<size_t>(b.func("out")),
             across = static_cast<size_t>(b.func("across"));
  Plan plan;
  for (size_t f = 0; f < b.model.funcs.size(); f++) {
    FuncPlan p;
    p.nests.resize(1);
    if (f == out) {
      p.outer = {{1, 32}};
      p.nests[0] = {16, 1, 4, false};
    } else {
      p.where = Where::At;
      p.host = static_cast<int>(out);
      p.level = 1;
      p.slides = true;
    }
    plan.funcs.push_back(p);
  }
  const std::optional<GroupBoxes> g = find_group_boxes(b.model, plan, static_cast<int>(out));
  ASSERT_TRUE(g);
  EXPECT_EQ(g->trips, (std::vector<double>{1, 15, 8}));
  EXPECT_EQ(g->boxes[2][out][1].extent(), 4);
  EXPECT_EQ(g->boxes[2][across][1].extent(), 4 + 4);
  EXPECT_EQ(describe(b.model, plan, static_cast<int>(across)), "in 4 rows of 'out', sliding");
  // A window that slides computes each row of a strip once, and what the strip's rim adds.
  AnalyticCost cost(b.model, machine_for(kTarget, 2));
  const auto points_of_across = [&](const Plan &p) {
    for (const StageCost &s : cost.group(p, static_cast<int>(out)).stages) {
      if (s.func == static_cast<int>(across)) return s.points;
    }
    return 0.0;
  };
  EXPECT_EQ(points_of_across(plan), 15.0 * (32 + 4) * 640);
  FuncPlan anew = plan.funcs[across];
  anew.slides = false;
  Plan other = plan;
  other.funcs.set(across, anew);
  EXPECT_EQ(points_of_across(other), 15.0 * 8 * (4 + 4) * 640);
}

}  // namespace
}  // namespace polyhalite::autosched::sliding_test
