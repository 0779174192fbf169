// Skewed, reversed and shifted loops, compiled and run: stencils that are repeated in place or
// between two planes, tiled in time, give what plain loops give.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"
#include "test/realize/repeated_stencil.h"

namespace polyhalite::skew_test {
namespace {

// f(j, i) out of its eight neighbours and itself, again and again, in place.
class GaussSeidel : public RepeatedStencil<uint32_t> {
 protected:
  Func f{"f"};

  GaussSeidel() {
    f(x, y) = cast<uint32_t>(x * 7 + y * 131 + x * y);
    Expr sum = f(j - 1, i - 1) + f(j, i - 1) * 2 + f(j + 1, i - 1) * 3 + f(j - 1, i) * 5 +
               f(j, i) * 7 + f(j + 1, i) * 11 + f(j - 1, i + 1) * 13 + f(j, i + 1) * 17 +
               f(j + 1, i + 1) * 19;
    f(j, i) = sum / 9 + cast<uint32_t>(t);
  }

  Values expected(int n, int m, int steps) const override {
    Values a(static_cast<size_t>(n) * m);
    auto at = [&](int j, int i) -> uint32_t & { return a[static_cast<size_t>(i) * n + j]; };
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) at(j, i) = static_cast<uint32_t>(j * 7 + i * 131 + j * i);
    }
    for (int t = 0; t < steps; t++) {
      for (int i = 1; i < m - 1; i++) {
        for (int j = 1; j < n - 1; j++) {
          const uint32_t sum = at(j - 1, i - 1) + at(j, i - 1) * 2 + at(j + 1, i - 1) * 3 +
                               at(j - 1, i) * 5 + at(j, i) * 7 + at(j + 1, i) * 11 +
                               at(j - 1, i + 1) * 13 + at(j, i + 1) * 17 + at(j + 1, i + 1) * 19;
          at(j, i) = sum / 9 + static_cast<uint32_t>(t);
        }
      }
    }
    return a;
  }

  Values computed(int width, int height) override {
    Values values;
    append(values, f.realize({width, height}));
    return values;
  }
};

TEST_F(GaussSeidel, AsItStands) { expect_right(); }

TEST_F(GaussSeidel, TiledInTime) {
  tile_in_time(f);
  expect_right();
}

TEST_F(GaussSeidel, TiledInTimeAndBothDimensions) {
  f.update(0)
      .skew(i, t, 1)
      .skew(j, i, 1)
      .skew(j, t, 1)
      .split(t, to, ti, 3)
      .split(i, io, ii, 8)
      .split(j, jo, ji, 16)
      .reorder(ji, ii, ti, jo, io, to);
  expect_right();
}

TEST_F(GaussSeidel, WavefrontsOfTiles) {
  tile_in_waves(f);
  expect_right();
}

TEST_F(GaussSeidel, WavefrontsOfPoints) {
  f.update(0).skew(j, i, 2).reorder(i, j).parallel(i);
  expect_right();
}

TEST_F(GaussSeidel, StepsBehindEachOtherAsAVector) {
  f.update(0)
      .split(t, to, ti, 4)
      .skew(i, ti, 1)
      .skew(j, i, 1)
      .skew(j, ti, 2)
      .reorder(ti, j, i, to)
      .vectorize(ti);
  expect_right();
}

TEST_F(GaussSeidel, StepsBehindEachOtherUnrolledInWavefronts) {
  f.update(0)
      .split(t, to, ti, 4)
      .skew(i, ti, 1)
      .skew(j, ti, 2)
      .skew(j, i, 1)
      .skew(i, to, 4)
      .split(i, io, ii, 8)
      .reorder(ti, j, ii, io, to)
      .unroll(ti)
      .skew(io, to, wave, 1)
      .reorder(ti, j, ii, to, wave)
      .parallel(to);
  expect_right();
}

TEST_F(GaussSeidel, AnOrderThatBreaksADependenceIsRefused) {
  f.update(0).split(t, to, ti, 4).split(i, io, ii, 8).reorder(j, ii, ti, io, to);
  const std::string where = at(__LINE__ - 1);
  EXPECT_EQ(
      message_of([&] { f.compile_jit(); }),
      where +
          "error: cannot reorder 'ti' inside 'io' on update 0 of 'f'\n"
          "  why: f at (r_z=1, r_y=8, r_x=2) reads what (r_z=0, r_y=9, r_x=1) writes; with io "
          "outside, (0,9,1) would run after (1,8,2) (with steps=2, m=11, n=4)\n"
          "  fix: keep ti outside io, or skew io by ti first");
}

// u(j, i, p) out of the five points of the other plane.
class TwoPlanes : public RepeatedStencil<uint32_t> {
 protected:
  Var p{"p"};
  Func u{"u"};

  TwoPlanes() {
    u(x, y, p) = cast<uint32_t>(x * 7 + y * 131 + x * y + p);
    const Expr from = t % 2;
    u(j, i, (t + 1) % 2) = u(j, i, from) * 3 + u(j - 1, i, from) + u(j + 1, i, from) * 5 +
                           u(j, i - 1, from) * 7 + u(j, i + 1, from) * 9;
  }

  Values expected(int n, int m, int steps) const override {
    Values a(static_cast<size_t>(n) * m * 2);
    auto at = [&](int j, int i, int p) -> uint32_t & {
      return a[(static_cast<size_t>(p) * m + i) * n + j];
    };
    for (int p = 0; p < 2; p++) {
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
          at(j, i, p) = static_cast<uint32_t>(j * 7 + i * 131 + j * i + p);
      }
    }
    for (int t = 0; t < steps; t++) {
      const int from = t % 2, into = (t + 1) % 2;
      for (int i = 1; i < m - 1; i++) {
        for (int j = 1; j < n - 1; j++) {
          at(j, i, into) = at(j, i, from) * 3 + at(j - 1, i, from) + at(j + 1, i, from) * 5 +
                           at(j, i - 1, from) * 7 + at(j, i + 1, from) * 9;
        }
      }
    }
    return a;
  }

  Values computed(int width, int height) override {
    Values values;
    append(values, u.realize({width, height, 2}));
    return values;
  }
};

TEST_F(TwoPlanes, RowsAtOnceAndVectors) {
  u.update(0).parallel(i).vectorize(j, 8);
  expect_right();
}

TEST_F(TwoPlanes, TiledInTimeWithVectors) {
  tile_in_time(u).vectorize(j, 8);
  expect_right();
}

TEST_F(TwoPlanes, BothDimensionsSkewedWithVectors) {
  u.update(0)
      .skew(i, t, 1)
      .skew(j, t, 1)
      .split(t, to, ti, 4)
      .split(i, io, ii, 8)
      .split(j, jo, ji, 16)
      .reorder(ji, ii, ti, jo, io, to)
      .vectorize(ji, 8);
  expect_right();
}

TEST_F(TwoPlanes, WavefrontsOfTiles) {
  tile_in_waves(u).vectorize(j, 8);
  expect_right();
}

TEST_F(TwoPlanes, LoopsOverSpaceBackwards) {
  u.update(0).reverse(i).reverse(j).shift(i, 3).vectorize(j, 8);
  expect_right();
}

TEST(Skew, OfAPureDefinition) {
  Var x("x"), y("y"), d("d"), yo("yo"), dd("do"), di("di");
  Func f("f"), g("g");
  g(x, y) = x * 3 + y;
  f(x, y) = g(x, y) + g(x + 1, y) + g(x, y + 2);
  f.skew(x, y, d, 2).split(d, dd, di, 8).reorder(di, y, dd).parallel(dd);
  g.compute_at(f, dd);
  Buffer<int> out = f.realize({23, 17});
  auto value = [](int a, int b) { return a * 3 + b; };
  out.for_each_element([&](int a, int b) {
    EXPECT_EQ(out(a, b), value(a, b) + value(a + 1, b) + value(a, b + 2)) << a << ", " << b;
  });
}

TEST(Skew, BadUse) {
  Var x("x"), y("y"), z("z");
  Param<int> n("n");
  Func f("f");
  f(x, y) = x + y;
  const std::string constant =
      " by what is no integer constant\n  why: the order of its iterations would be known at run "
      "time "
      "only\n  fix: give a constant";
  const std::string loops = "\n  fix: its loops are, outermost first: y, x";
  EXPECT_EQ(message_of([&] { f.skew(x, y, n); }),
            at(__LINE__ - 1) + "error: cannot skew 'x' of 'f'" + constant);
  EXPECT_EQ(message_of([&] { f.shift(x, 1.5f); }),
            at(__LINE__ - 1) + "error: cannot shift 'x' of 'f'" + constant);
  EXPECT_EQ(message_of([&] { f.skew(x, y, 0); }),
            at(__LINE__ - 1) +
                "error: cannot skew 'x' of 'f' by 0 times 'y'\n  why: the loop would stay what it "
                "is\n  fix: give a factor other than 0");
  EXPECT_EQ(message_of([&] { f.skew(x, x, 1); }),
            at(__LINE__ - 1) +
                "error: cannot skew 'x' of 'f' by itself\n  why: a skew adds another loop's "
                "counter\n  fix: name two different loops");
  EXPECT_EQ(message_of([&] { f.skew(x, z, 1); }),
            at(__LINE__ - 1) + "error: cannot skew 'z': 'f' has no such loop" + loops);
  EXPECT_EQ(message_of([&] { f.reverse(z); }),
            at(__LINE__ - 1) + "error: cannot reverse 'z': 'f' has no such loop" + loops);
  EXPECT_EQ(message_of([&] { f.skew(x, y, y, 1); }),
            at(__LINE__ - 1) +
                "error: cannot skew: 'f' already has a loop 'y'\n  fix: give the new loop a name "
                "other than: y, x");
}

}  // namespace
}  // namespace polyhalite::skew_test
