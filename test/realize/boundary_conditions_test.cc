// Boundary conditions, against what each says about a row of values.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"
#include "test/support/lowered_text.h"

namespace polyhalite::boundary_conditions_test {
namespace {

using namespace BoundaryConditions;

// out over [-first, first + 3 * extent) of an image row of `extent` values from `min` on.
std::vector<int> around(const std::function<Func(const Buffer<int> &)> &condition, int min,
                        int extent, bool vector) {
  Buffer<int> row(extent);
  for (int i = 0; i < extent; i++) row(i) = 10 + i;
  row.set_min(min);
  Func inside = condition(row), out("out");
  Var x("x");
  out(x) = inside(x);
  if (vector) out.vectorize(x, 4);
  Buffer<int> result(5 * extent);
  result.set_min(min - 2 * extent);
  out.realize(result);
  return std::vector<int>(result.begin(), result.end());
}

// The value at distance d from the image's min.
std::vector<int> expected(int extent, const std::function<int(int)> &at) {
  std::vector<int> values;
  for (int d = -2 * extent; d < 3 * extent; d++) values.push_back(10 + at(d));
  return values;
}

int modulo(int a, int b) { return b == 0 ? 0 : ((a % b) + b) % b; }

TEST(BoundaryConditions, RowsOfAnyExtent) {
  for (int min : {-3, 7}) {
    for (int n : {1, 2, 5}) {
      for (bool vector : {false, true}) {
        if (vector && n != 5) continue;
        EXPECT_EQ(around([](const Buffer<int> &b) { return repeat_image(b); }, min, n, vector),
                  expected(n, [&](int d) { return modulo(d, n); }));
        EXPECT_EQ(around([](const Buffer<int> &b) { return mirror_image(b); }, min, n, vector),
                  expected(n, [&](int d) {
                    const int p = modulo(d, 2 * n);
                    return p < n ? p : 2 * n - 1 - p;
                  }));
        EXPECT_EQ(around([](const Buffer<int> &b) { return mirror_interior(b); }, min, n, vector),
                  expected(n, [&](int d) {
                    const int p = modulo(d, 2 * n - 2);
                    return p < n ? p : 2 * n - 2 - p;
                  }));
        EXPECT_EQ(around([](const Buffer<int> &b) { return repeat_edge(b); }, min, n, vector),
                  expected(n, [&](int d) { return std::clamp(d, 0, n - 1); }));
        EXPECT_EQ(
            around([](const Buffer<int> &b) { return constant_exterior(b, 9); }, min, n, vector),
            expected(n, [&](int d) { return d < 0 || d >= n ? -1 : d; }));
      }
    }
  }
}

TEST(BoundaryConditions, BoundsOfFuncsAndImages) {
  Func f("f");
  Var x("x"), y("y");
  f(x, y) = x + 100 * y;
  const Func by_list = mirror_image(f, {{2, 3}, {Expr(), Expr()}});
  const Func by_pairs = repeat_image(f, 2, 3);
  Func out("out");
  out(x, y) = Tuple(by_list(x, y), by_pairs(x, y));
  Realization r = out.realize({8, 2});
  const Buffer<int> mirrored = r[0], repeated = r[1];
  for (int i = 0; i < 8; i++) {
    const int in_period = modulo(i - 2, 6);
    EXPECT_EQ(mirrored(i, 1), 102 + (in_period < 3 ? in_period : 5 - in_period));
    EXPECT_EQ(repeated(i, 1), 102 + modulo(i - 2, 3));
  }
  ImageParam in(UInt(8), 1, "in");
  Func of_param = mirror_interior(in), result("result");
  result(x) = of_param(x);
  Buffer<uint8_t> row(4);
  for (int i = 0; i < 4; i++) row(i) = static_cast<uint8_t>(i);
  in.set(row);
  const Buffer<uint8_t> values = result.realize({8});
  EXPECT_EQ(std::vector<uint8_t>(values.begin(), values.end()),
            (std::vector<uint8_t>{0, 1, 2, 3, 2, 1, 0, 1}));
}

TEST(BoundaryConditions, EveryValueHasItsExterior) {
  Var x("x");
  Func f("f");
  f(x) = {x, cast<float>(x) / 2};
  Func g = constant_exterior(f, {-1, 0.25f}, 1, 2);
  Realization r = g.realize({4});
  Buffer<int> whole = r[0];
  Buffer<float> half = r[1];
  EXPECT_EQ(std::vector<int>(whole.begin(), whole.end()), (std::vector<int>{-1, 1, 2, -1}));
  EXPECT_EQ(std::vector<float>(half.begin(), half.end()),
            (std::vector<float>{0.25f, 0.5f, 1.0f, 0.25f}));
  EXPECT_EQ(message_of([&] { constant_exterior(f, 0, 1, 2); }),
            "error: constant_exterior of 'f' is given 1 values\n"
            "  why: the Func has 2 at each point\n"
            "  fix: give a Tuple with one for each");
}

TEST(BoundaryConditions, RowsAreReadInOrderBetweenTheirEdges) {
  ImageParam in(Float(32), 2, "in");
  Var x("x"), y("y");
  for (const Func &f : {repeat_edge(in), repeat_image(in), mirror_image(in), mirror_interior(in)}) {
    Func g("g");
    g(x, y) = f(x - 1, y - 1) + f(x + 1, y + 1);
    g.vectorize(x, 4);
    const std::string text = lowered_text(g, {in});
    EXPECT_NE(text.find("] = in[ramp("), std::string::npos) << f.name() << "\n" << text;
  }
}

TEST(BoundaryConditions, DimensionsAreNamedLikeTheSources) {
  Var u("u"), v("v");
  Func f("f");
  f(u, v) = u * v;
  const Region bounds = {{0, 4}, {0, 4}};
  for (const Func &g : {repeat_edge(f, bounds), repeat_image(f, bounds), mirror_image(f, bounds),
                        mirror_interior(f, bounds), constant_exterior(f, 0, bounds)}) {
    ASSERT_EQ(g.args().size(), 2u) << g.name();
    EXPECT_EQ(g.args()[0].name(), u.name()) << g.name();
    EXPECT_EQ(g.args()[1].name(), v.name()) << g.name();
  }
}

}  // namespace
}  // namespace polyhalite::boundary_conditions_test
