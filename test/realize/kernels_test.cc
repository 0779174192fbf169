// Kernels of linear algebra and dynamic programming, loops with an order of their own in reduction
// domains: accepted as they are and where a schedule is legal, and equal to the interpreter.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::kernels_test {
namespace {

constexpr int kN = 13;

// Symmetric and diagonally dominant, so that factorisations exist.
Buffer<double> matrix() {
  Buffer<double> a(kN, kN, "a");
  a.for_each_element([&](int i, int j) { a(i, j) = i == j ? 2 * kN : 1.0 / (1 + i + j); });
  return a;
}

Buffer<double> vector() {
  Buffer<double> b(kN, "b");
  b.for_each_element([&](int i) { b(i) = 1 + i % 5; });
  return b;
}

template <typename T>
void expect_as_interpreted(Func f, const std::vector<int> &sizes) {
  Buffer<T> compiled(sizes), expected(sizes);
  f.realize(compiled);
  interpret(freeze({f.function()}).algorithm, {}, {}, {expected.raw_buffer()});
  const T *a = compiled.data(), *b = expected.data();
  size_t wrong = 0;
  for (size_t i = 0; i < compiled.number_of_elements(); i++) {
    wrong += !(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) < 1e-9);
  }
  EXPECT_EQ(wrong, 0u);
}

class Kernels : public ::testing::Test {
 protected:
  Var x{"x"}, y{"y"}, t{"t"};
  Func f{"f"};
};

// Row by row below the pivot: multipliers stand left of the diagonal.
RDom lu(Func f, const Buffer<double> &a, Var x, Var y) {
  RDom r(0, kN, 0, kN, 0, kN, "r");  // column, row, pivot
  r.where(r.y > r.z && r.x >= r.z);
  f(x, y) = a(x, y);
  f(r.x, r.y) =
      select(r.x == r.z, f(r.z, r.y) / f(r.z, r.z), f(r.x, r.y) - f(r.z, r.y) * f(r.x, r.z));
  return r;
}

TEST_F(Kernels, Lu) {
  lu(f, matrix(), x, y);
  expect_as_interpreted<double>(f, {kN, kN});
}

TEST_F(Kernels, RowsOfLuAreIndependent) {
  RDom r = lu(f, matrix(), x, y);
  f.parallel(y).vectorize(x, 4);
  f.update().parallel(r.y);
  expect_as_interpreted<double>(f, {kN, kN});
}

TEST_F(Kernels, PivotsOfLuAreNot) {
  RDom r = lu(f, matrix(), x, y);
  f.update().parallel(r.z);
  EXPECT_NE(message_of([&] { f.compile_jit(); }).find("in parallel"), std::string::npos);
}

TEST_F(Kernels, Cholesky) {
  const Buffer<double> a = matrix();
  RDom r(0, kN, 0, kN, 0, kN, "r");  // column, row, pivot
  r.where(r.z <= r.x && r.x <= r.y);
  f(x, y) = a(x, y);
  f(r.x, r.y) = select(r.y == r.z, sqrt(f(r.z, r.z)), r.x == r.z, f(r.z, r.y) / f(r.z, r.z),
                       f(r.x, r.y) - f(r.z, r.y) * f(r.z, r.x));
  expect_as_interpreted<double>(f, {kN, kN});
}

TEST_F(Kernels, TriangularSolve) {
  const Buffer<double> a = matrix(), b = vector();
  RDom r(0, kN, 0, kN, "r");  // column, row
  r.where(r.x <= r.y);
  f(x) = b(x);
  f(r.y) = select(r.x < r.y, f(r.y) - a(r.x, r.y) * f(r.x), f(r.y) / a(r.y, r.y));
  expect_as_interpreted<double>(f, {kN});
}

TEST_F(Kernels, JacobiOverTime) {
  constexpr int kSteps = 6;
  RDom r(1, kN - 2, 0, kSteps, "r");
  auto define = [&](Func g) {
    g(x, t) = cast<double>(x * x % 7);
    g(r.x, r.y + 1) = (g(r.x - 1, r.y) + g(r.x, r.y) + g(r.x + 1, r.y)) / 3;
  };
  define(f);
  expect_as_interpreted<double>(f, {kN, kSteps + 1});
  Func g("g");
  define(g);
  g.vectorize(x, 4);
  g.update().vectorize(r.x, 4);
  expect_as_interpreted<double>(g, {kN, kSteps + 1});
  Func h("h");
  define(h);
  h.update().parallel(r.x);
  expect_as_interpreted<double>(h, {kN, kSteps + 1});
}

TEST_F(Kernels, SeidelInPlace) {
  RDom r(1, kN - 2, 1, kN - 2, 0, 4, "r");
  f(x, y) = cast<double>((x * 5 + y * 3) % 11);
  f(r.x, r.y) = (f(r.x - 1, r.y) + f(r.x + 1, r.y) + f(r.x, r.y - 1) + f(r.x, r.y + 1)) / 4;
  expect_as_interpreted<double>(f, {kN, kN});
  f.update().vectorize(r.x, 4);
  EXPECT_NE(message_of([&] { f.compile_jit(); }).find("cannot vectorize"), std::string::npos);
}

TEST_F(Kernels, Correlation) {
  const Buffer<double> a = matrix();
  RDom r(0, kN, "r");
  Func mean("mean"), deviation("deviation"), centred("centred");
  mean(x) += a(x, r) / kN;
  deviation(x) += (a(x, r) - mean(x)) * (a(x, r) - mean(x));
  centred(x, y) = (a(x, y) - mean(x)) / sqrt(deviation(x));
  f(x, y) += centred(x, r) * centred(y, r);
  mean.compute_root();
  deviation.compute_root();
  centred.compute_root().parallel(y).vectorize(x, 4);
  f.update().parallel(y).vectorize(x, 4, TailStrategy::GuardWithIf);
  expect_as_interpreted<double>(f, {kN, kN});
}

// The best split of every interval, shorter intervals first.
TEST_F(Kernels, IntervalsOfADynamicProgram) {
  RDom r(0, kN, 0, kN, 0, kN, "r");  // split, end, start from behind
  const Expr start = kN - 1 - r.z;
  r.where(start <= r.x && r.x < r.y);
  f(x, y) = (x * 7 + y * 3) % 5;
  f(start, r.y) = max(f(start, r.y), f(start, r.x) + f(r.x + 1, r.y));
  expect_as_interpreted<int>(f, {kN, kN});
}

TEST_F(Kernels, ShortestPaths) {
  RDom r(0, kN, 0, kN, 0, kN, "r");
  f(x, y) = select(x == y, 0, 1 + (x * 31 + y * 17) % 23);
  f(r.x, r.y) = min(f(r.x, r.y), f(r.x, r.z) + f(r.z, r.y));
  expect_as_interpreted<int>(f, {kN, kN});
}

TEST_F(Kernels, MatrixProductInTiles) {
  const Buffer<double> a = matrix();
  Var xi("xi"), yi("yi");
  RDom r(0, kN, "r");
  f(x, y) += a(r, y) * a(x, r);
  f.tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf).vectorize(xi, 4);
  f.update()
      .tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf)
      .reorder(xi, yi, r, x, y)
      .vectorize(xi, 4)
      .parallel(y);
  expect_as_interpreted<double>(f, {kN, kN});
}

}  // namespace
}  // namespace polyhalite::kernels_test
