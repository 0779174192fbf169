// Fourier transforms: what is exact, and how far the rest is from sums in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::fourier_test {
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

// Of a real signal what stands at half of all steps is real, but for float64's roundings.
TEST(onnx_fourier, half_a_turn_leaves_no_rest) {
  constexpr int kLength = 10;
  std::vector<float> x(2 * kLength);
  for (int n = 0; n < kLength; n++) x[static_cast<size_t>(2 * n)] = static_cast<float>(10 * n);
  for (const bool inverse : {false, true}) {
    const Constant y = transformed(x, {1, kLength, 2}, inverse);
    EXPECT_EQ(y.number(kLength), inverse ? -5 : -50);
    EXPECT_NEAR(y.number(kLength + 1), 0, 1e-12);
  }
}

// sum over n of x[n] e^(-+2 pi i n k/length), of places from `first` on, `parts` numbers each.
Complex term_sum(const std::vector<float> &x, size_t first, int parts, int length, int k,
                 bool inverse) {
  Complex sum = 0;
  for (int n = 0; n < length; n++) {
    const double angle = 2 * M_PI * static_cast<double>(int64_t{n} * k % length) / length;
    const size_t at = first + static_cast<size_t>(n * parts);
    sum += Complex(x[at], parts == 2 ? x[at + 1] : 0) * std::polar(1.0, inverse ? angle : -angle);
  }
  return inverse ? sum / static_cast<double>(length) : sum;
}

void expect_rounded(const Constant &y, int64_t at, Complex sum, const std::string &where) {
  // One rounding, to 24 bits.
  const auto off = [](double v) { return std::ldexp(std::fabs(v), -23) + 1e-13; };
  EXPECT_NEAR(y.number(2 * at), sum.real(), off(sum.real())) << where;
  EXPECT_NEAR(y.number(2 * at + 1), sum.imag(), off(sum.imag())) << where;
}

// Lengths of one pass and of several, of each factor, of none; one row and as many as have vectors.
TEST(onnx_fourier, results_are_as_exact_as_their_type) {
  for (const int rows : {1, 3, 19}) {
    for (const int length : {1, 2, 7, 32, 60, 64, 77, 121, 130, 257, 360, 1024}) {
      if (rows > 3 && length > 400) continue;
      for (const bool inverse : {false, true}) {
        const std::vector<float> x = random_floats(2 * length * rows, 3);
        const Constant y = transformed(x, {rows, length, 2}, inverse);
        for (int row = 0; row < rows; row++) {
          for (int k = 0; k < length; k += 1 + length / 40) {
            const auto first = static_cast<size_t>(2 * length * row);
            expect_rounded(y, row * length + k, term_sum(x, first, 2, length, k, inverse),
                           std::to_string(rows) + " rows of " + std::to_string(length) + " at " +
                               std::to_string(k));
          }
        }
      }
    }
  }
}

// Halves of the spectra of real signals, and back.
TEST(onnx_fourier, halves) {
  for (const int length : {9, 48, 100, 257, 320}) {
    const std::vector<float> x = random_floats(2 * length, 5);
    ModelBuilder b(20);
    b.input("x", {2, length, 1});
    b.initializer(ModelBuilder::tensor<int64_t>("axis", 7, {}, {1}));
    b.initializer(ModelBuilder::tensor<int64_t>("length", 7, {}, {length}));
    b.node("DFT", {"x", "", "axis"}, {"y"}, {int_attribute("onesided", 1)});
    b.node("DFT", {"y", "length", "axis"}, {"z"},
           {int_attribute("onesided", 1), int_attribute("inverse", 1)});
    b.output("y").output("z");
    const auto out = Session(b.load()).run({{"x", floats({2, length, 1}, x)}});
    const int half = length / 2 + 1;
    EXPECT_EQ(out.at("y").shape(), (std::vector<int64_t>{2, half, 2}));
    EXPECT_EQ(out.at("z").shape(), (std::vector<int64_t>{2, length, 1}));
    for (int row = 0; row < 2; row++) {
      for (int k = 0; k < half; k++) {
        expect_rounded(out.at("y"), row * half + k,
                       term_sum(x, static_cast<size_t>(row * length), 1, length, k, false),
                       std::to_string(length) + " at " + std::to_string(k));
      }
    }
    for (size_t i = 0; i < x.size(); i++) {
      EXPECT_NEAR(out.at("z").number(static_cast<int64_t>(i)), x[i], 2e-6) << length;
    }
  }
}

// Frames of a known number and of an open one, with a window and without.
TEST(onnx_fourier, frames) {
  for (const bool open : {false, true}) {
    for (const int length : {16, 100, 257}) {
      constexpr int kStep = 37, kSamples = 700;
      const std::vector<float> x = random_floats(kSamples, 7), window = random_floats(length, 8);
      ModelBuilder b(17);
      b.input("x", {1, open ? TestDim("samples") : TestDim(kSamples), 1});
      b.initializer(ModelBuilder::tensor<int64_t>("step", 7, {}, {kStep}));
      b.weights("w", {length}, window);
      b.node("STFT", {"x", "step", "w"}, {"y"}).output("y");
      CompileOptions options;
      options.first_sizes = false;
      const Constant y =
          Session(b.load(), options).run({{"x", floats({1, kSamples, 1}, x)}}).at("y");
      const int frames = (kSamples - length) / kStep + 1, half = length / 2 + 1;
      ASSERT_EQ(y.shape(), (std::vector<int64_t>{1, frames, half, 2}));
      for (int frame = 0; frame < frames; frame++) {
        std::vector<float> part(static_cast<size_t>(length));
        for (size_t n = 0; n < part.size(); n++)
          part[n] = x[static_cast<size_t>(frame * kStep) + n] * window[n];
        for (int k = 0; k < half; k++) {
          expect_rounded(y, frame * half + k, term_sum(part, 0, 1, length, k, false),
                         std::to_string(length) + ", frame " + std::to_string(frame));
        }
      }
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx::fourier_test
