// Producers in tasks of their own, against plain loops.
#include <gtest/gtest.h>

#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::async_test {
namespace {

class Async : public ::testing::Test {
 protected:
  Async() {
    a(x, y) = x * 5 + y;
    b(x, y) = a(x, y) + a(x + 1, y + 1);
    c(x, y) = b(x - 1, y) + b(x, y + 2);
  }
  void expect_right(int width, int height) {
    for (int round = 0; round < 20; round++) {
      Buffer<int32_t> out = c.realize({width, height});
      int wrong = 0;
      out.for_each_element([&](int i, int j) {
        auto a_at = [](int x, int y) { return x * 5 + y; };
        auto b_at = [&](int x, int y) { return a_at(x, y) + a_at(x + 1, y + 1); };
        wrong += out(i, j) != b_at(i - 1, j) + b_at(i, j + 2);
      });
      EXPECT_EQ(wrong, 0);
    }
  }
  Func a{"a"}, b{"b"}, c{"c"};
  Var x{"x"}, y{"y"}, yi{"yi"};
};

TEST_F(Async, TwoAtRoot) {
  a.compute_root().async();
  b.compute_root().async();
  expect_right(17, 9);
}

TEST_F(Async, RingOfRows) {
  b.store_root().compute_at(c, y).async();
  expect_right(17, 33);
}

TEST_F(Async, ChainOfRings) {
  a.store_root().compute_at(c, y).async();
  b.store_root().compute_at(c, y).async();
  expect_right(11, 40);
}

TEST_F(Async, ForkInsideAProducer) {
  b.store_root().compute_at(c, y).async();
  a.store_root().compute_at(b, x).async();
  expect_right(7, 12);
}

TEST_F(Async, AForkAroundTheProductionAlone) {
  Func d("d");
  d(x, y) = c(x - 1, y) + c(x + 1, y);
  b.store_root().compute_at(d, y).async();
  a.store_at(d, y).compute_at(b, x).async();
  c.store_at(d, y).compute_at(d, x).async();
  for (int round = 0; round < 50; round++) {
    Buffer<int32_t> out = d.realize({9, 21});
    int wrong = 0;
    out.for_each_element([&](int i, int j) {
      auto b_at = [](int x, int y) { return 10 * x + 2 * y + 6; };
      auto c_at = [&](int x, int y) { return b_at(x - 1, y) + b_at(x, y + 2); };
      wrong += out(i, j) != c_at(i - 1, j) + c_at(i + 1, j);
    });
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(Async, HoistedRing) {
  c.split(y, y, yi, 4, TailStrategy::GuardWithIf);
  b.compute_at(c, y).hoist_storage_root().ring_buffer(2).async();
  a.compute_at(b, y);
  expect_right(13, 26);
}

TEST_F(Async, InsideParallelLoopsWithOneThread) {
  c.parallel(y);
  b.compute_at(c, y).async().parallel(y);
  a.compute_at(b, y).async();
  const int before = polyhalite_set_num_threads(1);
  expect_right(9, 12);
  polyhalite_set_num_threads(3);
  expect_right(9, 12);
  polyhalite_set_num_threads(before);
}

TEST_F(Async, TwoConsumersInTwoTasks) {
  Func d("d");
  d(x, y) = c(x, y) + b(x, y);
  b.store_root().compute_at(d, y).async();
  c.store_root().compute_at(d, y).async();
  for (int round = 0; round < 20; round++) {
    Buffer<int32_t> out = d.realize({5, 30});
    auto b_at = [](int x, int y) { return 10 * x + 5 + 2 * y + 1; };
    int wrong = 0;
    out.for_each_element(
        [&](int i, int j) { wrong += out(i, j) != b_at(i - 1, j) + b_at(i, j + 2) + b_at(i, j); });
    EXPECT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace polyhalite::async_test
