// GridSample against plain loops: each mode and padding, with places far outside of the image.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::grid_sample_test {
namespace {

struct Case {
  std::string mode, padding;
  bool align;
};

// One dimension of the image: where the grid points, and what its taps are.
struct Axis {
  const Case &c;
  int n;

  double low() const { return c.align ? 0 : -0.5; }
  double high() const { return c.align ? n - 1 : n - 0.5; }
  double reflected(double v) const {
    while (v < low() || v > high()) v = v < low() ? 2 * low() - v : 2 * high() - v;
    return v;
  }
  double place(double g) const {
    double p = c.align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    if (c.mode == "nearest") p = std::nearbyint(p);
    const bool clamps = c.padding == "border" && c.mode != "cubic";  // of cubics, taps alone
    if (clamps && (p < low() || p > high())) p = std::clamp(p, 0.0, n - 1.0);
    return c.padding == "reflection" ? reflected(p) : p;
  }
  int first(double p) const {
    if (c.mode == "nearest") return static_cast<int>(std::nearbyint(p));
    return static_cast<int>(std::floor(p)) - (c.mode == "cubic" ? 1 : 0);
  }
  std::vector<double> weights(double p) const {
    const double r = p - std::floor(p), a = -0.75;
    if (c.mode == "nearest") return {1};
    if (c.mode == "linear") return {1 - r, r};
    std::vector<double> w;
    for (const double t : {r + 1, r, 1 - r, 2 - r})
      w.push_back(t > 1 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
                        : ((a + 2) * t - (a + 3)) * t * t + 1);
    return w;
  }
  // The pixel of a tap; -1: it is 0.
  int pixel(int i) const {
    if (c.padding == "zeros") return i < 0 || i >= n ? -1 : i;
    if (c.padding == "reflection") i = static_cast<int>(reflected(i));
    return std::clamp(i, 0, n - 1);
  }
};

TEST(onnx_grid_sample, equals_plain_loops) {
  constexpr int kChannels = 3, kRows = 6, kColumns = 7, kPoints = 50;
  std::mt19937 engine(4);
  std::uniform_real_distribution<float> values(-1, 1), places(-1.7f, 1.7f);
  std::vector<float> x(kChannels * kRows * kColumns), grid(2 * kPoints);
  for (float &v : x) v = values(engine);
  for (float &v : grid) v = places(engine);
  for (const char *mode : {"linear", "nearest", "cubic"}) {
    for (const char *padding : {"zeros", "border", "reflection"}) {
      for (const bool align : {false, true}) {
        const Case c{mode, padding, align};
        SCOPED_TRACE(c.mode + ", " + c.padding + (align ? ", corners" : ""));
        ModelBuilder b(20);
        b.input("x", {1, kChannels, kRows, kColumns}).input("g", {1, kPoints, 1, 2});
        b.node("GridSample", {"x", "g"}, {"y"},
               {text_attribute("mode", mode), text_attribute("padding_mode", padding),
                int_attribute("align_corners", align ? 1 : 0)});
        b.output("y");
        const Constant y = Session(b.load(), {})
                               .run({{"x", floats({1, kChannels, kRows, kColumns}, x)},
                                     {"g", floats({1, kPoints, 1, 2}, grid)}})
                               .at("y");
        const Axis down{c, kRows}, across{c, kColumns};
        for (int i = 0; i < kPoints; i++) {
          const auto at = static_cast<size_t>(2 * i);
          const double column = across.place(grid[at]), row = down.place(grid[at + 1]);
          for (int channel = 0; channel < kChannels; channel++) {
            double sum = 0;
            for (size_t j = 0; j < down.weights(row).size(); j++)
              for (size_t k = 0; k < across.weights(column).size(); k++) {
                const int r = down.pixel(down.first(row) + static_cast<int>(j));
                const int q = across.pixel(across.first(column) + static_cast<int>(k));
                if (r < 0 || q < 0) continue;
                sum += down.weights(row)[j] * across.weights(column)[k] *
                       x[static_cast<size_t>((channel * kRows + r) * kColumns + q)];
              }
            ASSERT_NEAR(y.number(channel * kPoints + i), sum, 2e-5) << i;
          }
        }
      }
    }
  }
}

// A place outside of the image is 0 there, whatever the pixels beside it are.
TEST(onnx_grid_sample, infinite_pixels_outside_are_zeros) {
  ModelBuilder b(20);
  b.input("x", {1, 1, 1, 2}).input("g", {1, 1, 2, 2});
  b.node("GridSample", {"x", "g"}, {"y"}, {int_attribute("align_corners", 1)}).output("y");
  const Constant y = Session(b.load(), {})
                         .run({{"x", floats({1, 1, 1, 2}, {INFINITY, 3})},
                               {"g", floats({1, 1, 2, 2}, {-4, 0, 1, 0})}})
                         .at("y");
  EXPECT_EQ(y.number(0), 0);
  EXPECT_EQ(y.number(1), 3);
}

}  // namespace
}  // namespace polyhalite::onnx::grid_sample_test
