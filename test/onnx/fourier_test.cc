// Fourier transforms: what is exact, and how far the rest is from sums in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx {
namespace {

using Complex = std::complex<double>;

Constant transformed(const std::vector<float> &x, const Shape64 &shape, bool inverse) {
  ModelBuilder b(20);
  b.input("x", std::vector<TestDim>(shape.begin(), shape.end()));
  b.initializer(ModelBuilder::tensor<int64_t>("axis", 7, {}, {1}));
  b.node("DFT", {"x", "", "axis"}, {"y"}, {int_attribute("inverse", inverse)}).output("y");
  return Session(b.load()).run({{"x", floats(shape, x)}}).at("y");
}

// Quarters of a turn are exact: sums of whole numbers are whole numbers.
TEST(onnx_fourier, quarters_of_a_turn_are_exact) {
  const std::vector<float> x{3, 1, -4, 1, 5, 9, -2, 6};
  const Constant y = transformed(x, {1, 4, 2}, false);
  Complex sums[4];
  for (int k = 0; k < 4; k++) {
    for (int n = 0; n < 4; n++) {
      const Complex quarters[] = {{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
      sums[k] += Complex(x[static_cast<size_t>(2 * n)], x[static_cast<size_t>(2 * n + 1)]) *
                 quarters[n * k % 4];
    }
    EXPECT_EQ(y.number(2 * k), sums[k].real()) << k;
    EXPECT_EQ(y.number(2 * k + 1), sums[k].imag()) << k;
  }
}

// Of a real signal what stands at half of all steps is real, with no rest that depends on pi.
TEST(onnx_fourier, half_a_turn_leaves_no_rest) {
  constexpr int kLength = 10;
  std::vector<float> x(2 * kLength);
  for (int n = 0; n < kLength; n++) x[static_cast<size_t>(2 * n)] = static_cast<float>(10 * n);
  for (const bool inverse : {false, true}) {
    const Constant y = transformed(x, {1, kLength, 2}, inverse);
    EXPECT_EQ(y.number(kLength), inverse ? -5 : -50);
    EXPECT_EQ(y.number(kLength + 1), 0);
  }
}

TEST(onnx_fourier, results_are_as_exact_as_their_type) {
  for (const int length : {7, 60, 257}) {
    for (const bool inverse : {false, true}) {
      const std::vector<float> x = random_floats(2 * length, 3);
      const Constant y = transformed(x, {1, length, 2}, inverse);
      for (int k = 0; k < length; k++) {
        Complex sum = 0;
        for (int n = 0; n < length; n++) {
          const double angle = 2 * M_PI * (n * k % length) / length;
          sum += Complex(x[static_cast<size_t>(2 * n)], x[static_cast<size_t>(2 * n + 1)]) *
                 std::polar(1.0, inverse ? angle : -angle);
        }
        if (inverse) sum /= length;
        // One rounding, to 24 bits.
        EXPECT_NEAR(y.number(2 * k), sum.real(), std::ldexp(std::fabs(sum.real()), -23) + 1e-13);
        EXPECT_NEAR(y.number(2 * k + 1), sum.imag(),
                    std::ldexp(std::fabs(sum.imag()), -23) + 1e-13);
      }
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx
