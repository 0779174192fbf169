// Where storage lives, against plain loops.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite::storage_test {
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

// What pipelines ask of the heap.
struct HeapLog {
  static inline std::vector<size_t> sizes;
  static void watch(Func &f) {
    sizes.clear();
    f.jit_handlers().custom_malloc = [](JITUserContext *, size_t n) {
      sizes.push_back(n);
      return std::aligned_alloc(64, (n + 63) / 64 * 64);
    };
    f.jit_handlers().custom_free = [](JITUserContext *, void *p) { std::free(p); };
  }
};

TEST_F(Storage, HoistedCopiesOfBranchesHaveOneMemory) {
  g.specialize(g.output_buffer().dim(0).extent() > 8).vectorize(x, 4);
  f.compute_at(g, x).hoist_storage_root().store_in(MemoryType::Heap);
  for (int width : {16, 5}) {
    HeapLog::watch(g);
    expect_right(width, 6);
    EXPECT_EQ(HeapLog::sizes, (std::vector<size_t>{(4 + 2) * 3 * 4})) << width;
  }
}

TEST_F(Storage, HoistedCopiesOfStagesHaveTheirOwn) {
  g(x, y) += f(x, y + 2);
  f.compute_at(g, x).hoist_storage_root().store_in(MemoryType::Heap);
  HeapLog::watch(g);
  Buffer<int32_t> out = g.realize({5, 4});
  EXPECT_EQ(out(3, 2), 2 * (3 * 3 + 2) + 3 * 3 + 4);
  EXPECT_EQ(HeapLog::sizes, (std::vector<size_t>{3 * 3 * 4, 4}));
}

// What iterations read that store nothing has room, and is not computed.
TEST(PredicatedStores, ReadsBesideThemNeedNoValues) {
  Var x("x");
  const int width = 100;
  ImageParam in(Int(32), 1, "in");
  Buffer<int> cells(width);
  cells.for_each_element([&](int i) { cells(i) = 5 * i; });
  in.set(cells);
  for (const TailStrategy tail : {TailStrategy::PredicateLoads, TailStrategy::GuardWithIf}) {
    Func f("f"), g("g");
    f(x) = in(x) + 1;
    g(x) = f(x) * 2;
    g.vectorize(x, 8, TailStrategy::PredicateStores);
    f.compute_root().vectorize(x, 8, tail);
    Buffer<int> out = g.realize({width});
    out.for_each_element([&](int i) { ASSERT_EQ(out(i), 10 * i + 2) << i; });
  }
  Func h("h");
  h(x) = in(x);
  h.vectorize(x, 8, TailStrategy::PredicateStores);
  EXPECT_THROW(h.realize({width}), RuntimeError) << "an image has no such room";
}

// Each row of a level needs three of the next coarser one, but the first iteration needs whole
// windows of all of them: there the rings of 4 hold one row too few, and grow.
TEST(Folding, RingsOfPyramidsHoldTheFirstIteration) {
  Var x("x"), y("y"), yo("yo");
  auto chain = [&](bool slides) {
    std::vector<Func> levels;
    Func coarse("coarse");
    coarse(x, y) = x + 3 * y * y;
    levels.push_back(coarse);
    for (int l = 0; l < 5; l++) {
      Func finer("finer_" + std::to_string(l));
      const Func below = levels.back();
      finer(x, y) = below(x, y / 2 - 1 + 2 * (y % 2)) + 3 * below(x, y / 2);
      levels.push_back(finer);
    }
    Func out = levels.back();
    if (slides) {
      out.split(y, yo, y, 32).parallel(yo);
      for (size_t l = 1; l + 1 < levels.size(); l++) {
        levels[l].store_at(out, yo).compute_at(out, y).fold_storage(y, 4);
      }
    }
    return out.realize({7, 160});
  };
  const Buffer<int> expected = chain(false), folded = chain(true);
  folded.for_each_element([&](int i, int j) { ASSERT_EQ(folded(i, j), expected(i, j)); });
}

// The first iteration of a strip needs a row more than the others; neither Func slides, since their
// loops are one.
TEST(StorageRings, OfFuncsThatShareLoopsHoldTheWindowOfASlidingConsumer) {
  auto image = [](bool scheduled) {
    Var x("x"), y("y"), xi("xi"), yi("yi"), yii("yii"), yo("yo"), yt("yt");
    Func in("in"), f1("f1"), f2("f2"), c("c"), out("out");
    in(x, y) = (x * 7 + y * 13) % 101;
    f1(x, y) = in(x, y) + 1;
    f2(x, y) = in(x, y) * 2;
    c(x, y) = f1(x, y / 2 - 1) + f2(x, y / 2 + 1);
    out(x, y) = c(x, y - 1) + c(x, y) + c(x, y + 1);
    if (scheduled) {
      const TailStrategy up = TailStrategy::RoundUp;
      in.compute_root();
      out.split(y, yi, yii, 2, up).split(yi, yo, yi, 16).parallel(yo);
      c.compute_at(out, yi).store_at(out, yo);
      c.tile(x, y, x, y, xi, yt, 8, 2, up).vectorize(xi).unroll(yt);
      for (Func f : {f1, f2}) {
        f.compute_at(out, yi).store_at(out, yo).vectorize(x, 8, up).fold_storage(y, 4);
      }
      f2.compute_with(f1, x, LoopAlignStrategy::AlignStart);
    }
    return Buffer<int, 2>(out.realize({64, 128}));
  };
  const Buffer<int, 2> plain = image(false), folded = image(true);
  for (int y = 0; y < 128; y++) {
    for (int x = 0; x < 64; x++) ASSERT_EQ(folded(x, y), plain(x, y)) << x << ", " << y;
  }
}

// The consumer's new rows are whole tiles in the first iteration and in the others: what makes them
// slides along, so that its ring is the window of one iteration.
TEST(StorageRings, OfWhatTilesOfNewRowsReadHoldOneIteration) {
  auto image = [](bool scheduled) {
    Var x("x"), y("y"), xi("xi"), yi("yi"), yii("yii"), yo("yo"), yt("yt");
    Func in("in"), mean("mean"), f1("f1"), f2("f2"), c("c"), out("out");
    in(x, y) = (x * 7 + y * 13) % 101;
    mean(x, y) = in(x, 2 * y) + in(x, 2 * y + 1);
    f1(x, y) = mean(x, y - 1) + mean(x, y);
    f2(x, y) = mean(x, y) * 2 + mean(x, y + 1);
    c(x, y) = select(y % 2 == 0, f1(x, y / 2) + f1(x, y / 2 + 1), f2(x, y / 2) + f2(x, y / 2 - 1));
    out(x, y) = c(x, y - 1) + c(x, y) + c(x, y + 1);
    if (scheduled) {
      const TailStrategy up = TailStrategy::RoundUp;
      out.bound(y, 0, 128).split(y, yi, yii, 2, up).split(yi, yo, yi, 16).parallel(yo);
      c.compute_at(out, yi).store_at(out, yo);
      c.tile(x, y, x, y, xi, yt, 8, 2, up).vectorize(xi).unroll(yt);
      for (Func f : {f1, f2}) {
        f.compute_at(out, yi).store_at(out, yo).vectorize(x, 8, up).fold_storage(y, 4);
      }
      f2.compute_with(f1, x, LoopAlignStrategy::AlignStart);
      mean.compute_at(out, yi).store_at(out, yo).vectorize(x, 8, up).fold_storage(y, 4);
      in.compute_at(out, yi).store_at(out, yo).fold_storage(y, 4);
      in.tile(x, y, x, y, xi, yt, 8, 2).vectorize(xi).unroll(yt);
    }
    return Buffer<int, 2>(out.realize({64, 128}));
  };
  const Buffer<int, 2> plain = image(false), folded = image(true);
  for (int y = 0; y < 128; y++) {
    for (int x = 0; x < 64; x++) ASSERT_EQ(folded(x, y), plain(x, y)) << x << ", " << y;
  }
}

// Shifts by constants are quotients and products to the region engine.
TEST(storage, IndicesThatShift) {
  Var x("x"), y("y"), yi("yi");
  Func coarse("coarse"), fine("fine");
  coarse(x, y) = x * 5 + y;
  fine(x, y) = coarse((x - 3) >> 1, y >> 2) + coarse(x << 2, (y >> 2) + 1);
  fine.split(y, y, yi, 4).vectorize(x, 8);
  coarse.compute_at(fine, yi).store_at(fine, y).vectorize(x, 4);
  const Buffer<int, 2> out = fine.realize({40, 24});
  for (int j = 0; j < 24; j++) {
    for (int i = 0; i < 40; i++) {
      const int wanted = ((i - 3) >> 1) * 5 + j / 4 + i * 20 + j / 4 + 1;
      ASSERT_EQ(out(i, j), wanted) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace polyhalite::storage_test
