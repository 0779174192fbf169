// Where storage lives, against plain loops.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "polyhalite/polyhalite.h"

namespace polyhalite {
namespace {

class Storage : public ::testing::Test {
 protected:
  Storage() {
    f(x, y) = x * 3 + y;
    g(x, y) = f(x - 1, y - 1) + f(x + 1, y + 1);
  }
  void expect_right(int width, int height) {
    Buffer<int32_t> out = g.realize({width, height});
    int wrong = 0;
    out.for_each_element([&](int i, int j) { wrong += out(i, j) != 2 * (i * 3 + j); });
    EXPECT_EQ(wrong, 0);
  }
  Func f{"f"}, g{"g"};
  Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
};

TEST_F(Storage, HoistedOutOfTiles) {
  g.tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
  f.compute_at(g, x).hoist_storage(g, y);
  expect_right(30, 17);
}

TEST_F(Storage, HoistedToRootInARing) {
  g.tile(x, y, xi, yi, 8, 4);
  f.compute_at(g, x).hoist_storage_root().ring_buffer(3).vectorize(x, 4);
  expect_right(33, 12);
}

TEST_F(Storage, HoistedWindow) {
  g.split(y, y, yi, 8, TailStrategy::GuardWithIf);
  f.store_at(g, y).compute_at(g, yi).hoist_storage_root();
  expect_right(9, 21);
}

TEST_F(Storage, RingOfParamExtent) {
  Param<int> n("n", 2);
  f.compute_at(g, y).hoist_storage(g, Var::outermost()).ring_buffer(n);
  // The Param is no part of the algorithm.
  g(x, y) += 0 * n;
  Buffer<int32_t> out = g.realize({5, 7});
  EXPECT_EQ(out(4, 6), 2 * (4 * 3 + 6));
}

}  // namespace
}  // namespace polyhalite
