// Stages that share loops, against plain loops.
#include <gtest/gtest.h>

#include "polyhalite/polyhalite.h"

namespace polyhalite::compute_with_test {
namespace {

class ComputeWith : public ::testing::Test {
 protected:
  ComputeWith() {
    p(x, y) = x + 10 * y;
    f(x, y) = p(x, y) + 1;
    g(x, y) = p(x, y) * 2;
    h(x, y) = f(x, y) + f(x + 3, y + 2) + g(x - 1, y - 4) + g(x, y + 1);
    f.compute_root();
    g.compute_root();
  }
  void expect_right(int width, int height) {
    Buffer<int32_t> out = h.realize({width, height});
    int wrong = 0;
    out.for_each_element([&](int i, int j) {
      auto p_at = [](int x, int y) { return x + 10 * y; };
      wrong += out(i, j) != p_at(i, j) + 1 + p_at(i + 3, j + 2) + 1 + 2 * p_at(i - 1, j - 4) +
                                2 * p_at(i, j + 1);
    });
    EXPECT_EQ(wrong, 0);
  }
  Func p{"p"}, f{"f"}, g{"g"}, h{"h"};
  Var x{"x"}, y{"y"}, xi{"xi"};
};

TEST_F(ComputeWith, RangesThatDiffer) {
  g.compute_with(f, x);
  expect_right(12, 7);
}

TEST_F(ComputeWith, AlignedStarts) {
  g.compute_with(f, y, LoopAlignStrategy::AlignStart);
  expect_right(12, 7);
}

TEST_F(ComputeWith, AlignedEndsWithAProducerInTheSharedLoop) {
  g.compute_with(f, x, {{x, LoopAlignStrategy::AlignStart}, {y, LoopAlignStrategy::AlignEnd}});
  p.compute_at(f, y);
  expect_right(9, 11);
}

TEST_F(ComputeWith, SplitVectorsAndThreads) {
  for (Func k : {f, g}) k.split(x, x, xi, 4, TailStrategy::GuardWithIf).vectorize(xi).parallel(y);
  g.compute_with(f, x);
  p.compute_at(g, x);
  expect_right(21, 6);
}

// Each slides for itself: f over three rows, g over six.
TEST_F(ComputeWith, WindowsThatDiffer) {
  for (Func k : {f, g}) k.store_root().compute_at(h, y);
  g.compute_with(f, x);
  p.store_root().compute_at(h, y);
  expect_right(12, 7);
}

TEST_F(ComputeWith, WindowsOfVectorsWithAlignedEnds) {
  for (Func k : {f, g}) k.store_root().compute_at(h, y).vectorize(x, 4);
  f.compute_with(g, x, {{x, LoopAlignStrategy::AlignStart}, {y, LoopAlignStrategy::AlignEnd}});
  expect_right(16, 9);
}

TEST_F(ComputeWith, WindowsOfPiecesInTilesOfRows) {
  Var yi("yi");
  h.split(y, y, yi, 4, TailStrategy::GuardWithIf).split(x, x, xi, 8);
  h.reorder(xi, x, yi, y).parallel(y);
  for (Func k : {f, g}) k.store_at(h, y).compute_at(h, x);
  g.compute_with(f, x, LoopAlignStrategy::AlignStart);
  expect_right(21, 11);
}

TEST(ComputeWithUpdates, OneLoopForEachPairOfStages) {
  Func f("f"), g("g"), h("h");
  Var x("x"), y("y");
  f(x, y) = x + 10 * y + 1;
  f(x, y) += x;
  g(x, y) = 2 * x + 20 * y;
  g(x, y) += y;
  h(x, y) = f(x, y) + f(x + 3, y + 2) + g(x - 1, y - 4) + g(x, y + 1);
  f.compute_root();
  g.compute_root();
  g.compute_with(f, y);
  g.update().compute_with(f.update(), x);
  Buffer<int32_t> out = h.realize({8, 5});
  auto f_at = [](int x, int y) { return 2 * x + 10 * y + 1; };
  auto g_at = [](int x, int y) { return 2 * x + 21 * y; };
  int wrong = 0;
  out.for_each_element([&](int i, int j) {
    wrong += out(i, j) != f_at(i, j) + f_at(i + 3, j + 2) + g_at(i - 1, j - 4) + g_at(i, j + 1);
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ComputeWithUpdates, LoopsOfReductionsThatTheyShare) {
  Func f("f"), g("g"), h("h");
  Var x("x");
  RDom r(0, 8, "r");
  f(x) = x;
  g(x) = 2 * x;
  f(x) += r * x;
  g(x) += r + x;
  h(x) = f(x) + 100 * g(x);
  f.compute_root().update().reorder(x, r);
  g.compute_root().update().reorder(x, r);
  g.compute_with(f, x);
  g.update().compute_with(f.update(), r);
  const Buffer<int> out = h.realize({9});
  for (int i = 0; i < 9; i++) EXPECT_EQ(out(i), i + 28 * i + 100 * (2 * i + 28 + 8 * i));
}

}  // namespace
}  // namespace polyhalite::compute_with_test
