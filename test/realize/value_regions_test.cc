// Regions and indices that values give: floats of loops, of Params, of Funcs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"
#include "test/support/guarded_pages.h"
#include "test/support/lowered_text.h"

namespace polyhalite::value_regions_test {
namespace {

class ValueRegions : public ::testing::Test {
 protected:
  Var x{"x"}, y{"y"};
  Func f{"f"}, g{"g"};
};

TEST_F(ValueRegions, FloatsOfLoopsGiveRegions) {
  ImageParam in(Int(32), 1, "in");
  g(x) = in(cast<int>(floor(x * 0.7f)) + cast<int>(abs(cast<float>(x) - 3.0f)));
  g.infer_input_bounds({11});
  Buffer<int> need = in.get();
  EXPECT_EQ(need.dim(0).min(), 0);
  EXPECT_EQ(need.dim(0).max(), 7 + 7);
  for (int i = 0; i < need.width(); i++) need(i) = i;
  Buffer<int> out = g.realize({11});
  for (int i = 0; i < 11; i++) {
    EXPECT_EQ(out(i), static_cast<int>(std::floor(i * 0.7f)) + std::abs(i - 3));
  }
}

TEST_F(ValueRegions, OfFuncsGiveRegions) {
  ImageParam in(Int(32), 1, "in");
  Param<int> p("p");
  f(x) = Tuple(clamp(x * x, 3, 9), min(x, p));
  f.compute_root();
  g(x) = in(f(x)[0] + max(f(x)[1], 1));
  p.set(20);
  g.infer_input_bounds({50});
  EXPECT_EQ(in.get().dim(0).min(), 4);
  EXPECT_EQ(in.get().dim(0).max(), 29);
}

TEST_F(ValueRegions, LimitsOfParamsCount) {
  Param<float> p("p", 2.0f, 1.0f, 10.0f);
  f(x) = x;
  f.compute_root();
  g(x) = f(cast<int>(x / p));
  Buffer<int> out = g.realize({9});
  EXPECT_EQ(out(8), 4);
}

// What has no order and what nobody wrote leads nowhere else.
TEST_F(ValueRegions, NoNumberLeadsOutOfMemory) {
  Buffer<float> data(8, "data");
  for (int i = 0; i < 8; i++) data(i) = static_cast<float>(i);
  data(3) = std::numeric_limits<float>::quiet_NaN();
  Buffer<int> table(4, "table");
  for (int i = 0; i < 4; i++) table(i) = 10 + i;
  g(x) = table(cast<int>(clamp(data(x), 0.0f, 3.0f)));
  Buffer<int> out = g.realize({8});
  EXPECT_EQ(out(1), 11);
  EXPECT_EQ(out(7), 13);
  EXPECT_TRUE(out(3) >= 10 && out(3) <= 13);
}

// What loops and taps add to one value is held once, by the value: f(r + max(min(v, ...), ...)).
TEST_F(ValueRegions, StepsAroundOneValueAreHeldByIt) {
  Param<float> scale("scale");
  ImageParam in(Int(32), 1, "in");
  RDom r(0, 4, "r");
  const Expr at = clamp(cast<int>(ceil(x * scale)), in.dim(0).min(), in.dim(0).max() - 5);
  f(x) = in(x) * 3;
  g(x) = in(at) + in(at + 2) + sum(f(at + r + 2), "total");
  Var xo("xo");
  g.split(x, xo, x, 8, TailStrategy::GuardWithIf);
  f.compute_at(g, xo);
  Buffer<int> data(40);
  for (int i = 0; i < 40; i++) data(i) = i * i;
  in.set(data);
  for (const float s : {0.0f, 0.25f, 1.0f, 3.5f, -1.0f}) {
    scale.set(s);
    Buffer<int> out = g.realize({29});
    for (int i = 0; i < 29; i++) {
      const float v = std::ceil(static_cast<float>(i) * s);
      const int a = v >= 34 ? 34 : v <= 0 ? 0 : static_cast<int>(v);
      int expected = a * a + (a + 2) * (a + 2);
      for (int k = 2; k < 6; k++) expected += 3 * (a + k) * (a + k);
      ASSERT_EQ(out(i), expected) << i << " at scale " << s;
    }
  }
  scale.set(std::nanf(""));
  EXPECT_NE(message_of([&] { g.realize({29}); }).find("no number"), std::string::npos);
  const std::string text = lowered_text(g, {in, scale});
  EXPECT_NE(text.find("f[int64(total.s1.r) + int64(max(f.lo.0, min(f.hi.0,"), std::string::npos)
      << text;
}

// Lanes of a tail lead beyond the steps' range, and nowhere else.
TEST_F(ValueRegions, TailsOfStepsStayInsideOfTheImage) {
  Param<float> scale("scale");
  ImageParam in(Int(32), 1, "in");
  const Expr at = clamp(cast<int>(ceil(x * scale)), in.dim(0).min(), in.dim(0).max() - 3);
  g(y, x) = in(at + y) + 1;
  g.bound(y, 0, 3).vectorize(y, 4, TailStrategy::PredicateStores);
  test::GuardedPages<int> pages(64);
  for (int *p = pages.first(); p < pages.end(); p++) *p = static_cast<int>(p - pages.first());
  in.set(Buffer<int>(pages.end() - 41, 41));
  scale.set(1.0f);
  Buffer<int> out = g.realize({3, 60});
  for (int i = 0; i < 60; i++) {
    for (int c = 0; c < 3; c++) ASSERT_EQ(out(c, i), pages.end()[std::min(i, 37) + c - 41] + 1);
  }
}

// As many steps as scalars say.
TEST_F(ValueRegions, StepsOfScalarsAreHeldByTheValue) {
  Param<float> scale("scale");
  Param<int> taps("taps");
  ImageParam in(Int(32), 1, "in");
  RDom r(0, taps, "r");
  const Expr at = clamp(cast<int>(ceil(x * scale)), in.dim(0).min(), in.dim(0).max() + 1 - taps);
  g(x) = sum(in(at + r), "total");
  Buffer<int> data(40);
  for (int i = 0; i < 40; i++) data(i) = i * i;
  in.set(data);
  for (const int n : {0, 1, 5, 40}) {
    taps.set(n);
    scale.set(1.5f);
    Buffer<int> out = g.realize({29});
    for (int i = 0; i < 29; i++) {
      const int first = std::max(0, std::min((i * 3 + 1) / 2, 40 - n));
      int expected = 0;
      for (int k = 0; k < n; k++) expected += (first + k) * (first + k);
      ASSERT_EQ(out(i), expected) << i << " of " << n;
    }
  }
  taps.set(41);
  EXPECT_NE(message_of([&] { g.realize({29}); }).find("'in'"), std::string::npos);
  const std::string text = lowered_text(g, {in, scale, taps});
  EXPECT_NE(text.find("in[int64(total.s1.r) + int64(max("), std::string::npos) << text;
}

// Nothing makes room in a box that is given: each index is held in it.
TEST_F(ValueRegions, StepsStayInsideOfGivenBounds) {
  Param<float> scale("scale");
  Param<int> last("last");
  RDom r(0, 6, "r");
  f(x) = x + 10;
  g(x) = sum(f(clamp(cast<int>(x * scale), 0, last) + r), "total");
  f.compute_root().bound(x, 0, 15);
  scale.set(2.5f);
  last.set(9);
  Buffer<int> out = g.realize({9});
  for (int i = 0; i < 9; i++) {
    int expected = 0;
    for (int k = 0; k < 6; k++) expected += std::min(i * 5 / 2, 9) + k + 10;
    ASSERT_EQ(out(i), expected) << i;
  }
  const std::string text = lowered_text(g, {scale, last});
  EXPECT_NE(text.find("f[int64(min(total.s1.r + max(min(last, "), std::string::npos) << text;
}

// The room is what is read, and no more: of an image that has just that, to its last cell.
TEST_F(ValueRegions, StepsAskForWhatTheyRead) {
  Param<float> scale("scale");
  Param<int> last("last");
  ImageParam in(Int(32), 1, "in");
  RDom r(0, 6, "r");
  const Expr at = cast<int>(ceil(x * scale));
  g(x) = sum(in(clamp(at, 2, last) + r), "total") + in(clamp(at, 0, last / 2));
  scale.set(1.5f);
  last.set(10);
  test::GuardedPages<int> pages(64);
  for (int *p = pages.first(); p < pages.end(); p++) *p = static_cast<int>(p - pages.first());
  const int *data = pages.end() - 16;
  in.set(Buffer<int>(pages.end() - 16, 16));
  Buffer<int> out = g.realize({12});
  for (int i = 0; i < 12; i++) {
    const int v = (3 * i + 1) / 2;
    int expected = data[std::min(v, 5)];
    for (int k = 0; k < 6; k++) expected += data[std::clamp(v, 2, 10) + k];
    ASSERT_EQ(out(i), expected) << i;
  }
  in.set(Buffer<int>(pages.end() - 15, 15));
  EXPECT_NE(message_of([&] { g.realize({12}); }).find("accessed at 0 to 15"), std::string::npos);
}

}  // namespace
}  // namespace polyhalite::value_regions_test
