// Shapes with a size of 1, or a bit more than a tile: each is a case that schedules tell apart from
// the usual one. Results are held against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "apps/onnx/session.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::odd_shapes_test {
namespace {

constexpr int kUnsigned = 2, kSigned = 3;

std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> d(-2, 2);
  std::vector<float> v(n);
  for (float &f : v) f = d(bits);
  return v;
}
template <typename T>
std::vector<T> random_bytes(size_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<T> v(n);
  for (T &b : v) b = static_cast<T>(bits());
  return v;
}
template <typename T>
Constant bytes(ElementType type, const std::vector<int64_t> &shape, const std::vector<T> &v) {
  return Constant::of_bytes(type, shape, {v.begin(), v.end()});
}

void expect_near(const Constant &y, const std::vector<int64_t> &shape,
                 const std::vector<double> &wanted) {
  ASSERT_EQ(y.shape(), shape);
  for (size_t i = 0; i < wanted.size(); i++) {
    ASSERT_NEAR(y.number(static_cast<int64_t>(i)), wanted[i], 1e-5) << i;
  }
}

TEST(onnx_odd_shapes, softmax_of_many_rows_with_one_column) {
  constexpr size_t kImages = 33, kRows = 64;
  const std::vector<float> x = random_floats(kImages * kRows, 1);
  ModelBuilder b;
  b.input("x", {33, 64, 1}).node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 1)}).output("y");
  std::vector<double> wanted;
  for (size_t n = 0; n < kImages; n++) {
    double total = 0;
    for (size_t r = 0; r < kRows; r++) total += std::exp(double{x[n * kRows + r]});
    for (size_t r = 0; r < kRows; r++) wanted.push_back(std::exp(double{x[n * kRows + r]}) / total);
  }
  expect_near(Session(b.load()).run({{"x", floats({33, 64, 1}, x)}}).at("y"), {33, 64, 1}, wanted);
}

// The indices of ScatterND are one cell's alone, or one row's.
TEST(onnx_odd_shapes, one_place_is_scattered_to) {
  const std::vector<float> x = random_floats(6, 2);
  ModelBuilder cell, row;
  cell.input("x", {2, 3}).input("u", {}).integers("at", {1, -1});
  cell.node("ScatterND", {"x", "at", "u"}, {"y"}).output("y");
  row.input("x", {2, 3}).input("u", {3}).integers("at", {1});
  row.node("ScatterND", {"x", "at", "u"}, {"y"}).output("y");
  const Constant of_x = floats({2, 3}, x);
  EXPECT_EQ(list(Session(cell.load()).run({{"x", of_x}, {"u", floats({}, {9})}}).at("y")),
            (std::vector<float>{x[0], x[1], x[2], x[3], x[4], 9}));
  EXPECT_EQ(list(Session(row.load()).run({{"x", of_x}, {"u", floats({3}, {7, 8, 9})}}).at("y")),
            (std::vector<float>{x[0], x[1], x[2], 7, 8, 9}));
}

TEST(onnx_odd_shapes, powers_of_global_pools) {
  const std::vector<float> x = random_floats(12, 3);
  for (const int p : {1, 2, 3, 5}) {
    ModelBuilder b(18);
    b.input("x", {1, 2, 2, 3}).node("GlobalLpPool", {"x"}, {"y"}, {int_attribute("p", p)});
    std::vector<double> wanted(2, 0);
    for (size_t i = 0; i < x.size(); i++) wanted[i / 6] += std::pow(std::abs(double{x[i]}), p);
    for (double &w : wanted) w = std::pow(w, 1.0 / p);
    expect_near(Session(b.output("y").load()).run({{"x", floats({1, 2, 2, 3}, x)}}).at("y"),
                {1, 2, 1, 1}, wanted);
  }
}

// Without a number of samples there is one for each pixel of a region: of whole pixels of a slope
// the mean lies in the middle. Regions outside of the image are 0.
TEST(onnx_odd_shapes, regions_choose_their_samples) {
  std::vector<float> x(8 * 8);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i / 8 * 10 + i % 8);
  ModelBuilder b(18);
  b.input("x", {1, 1, 8, 8}).input("regions", {4, 4}).input("images", {4}, 7);
  b.node("RoiAlign", {"x", "regions", "images"}, {"y"},
         {int_attribute("output_height", 1), int_attribute("output_width", 2)});
  const std::vector<float> regions{1, 1, 5, 4, 2, 3, 3, 4, 20, 20, 30, 30, 1e9f, 0, 2e9f, 1e9f};
  const Constant y = Session(b.output("y").load())
                         .run({{"x", floats({1, 1, 8, 8}, x)},
                               {"regions", floats({4, 4}, regions)},
                               {"images", Constant::integers({0, 0, 0, 0})}})
                         .at("y");
  expect_near(y, {4, 1, 1, 2}, {21.5, 23.5, 31.75, 32.25, 0, 0, 0, 0});
}

// Of zeros alone the scale is 1: by 0 one could not divide.
TEST(onnx_odd_shapes, zeros_are_quantized) {
  ModelBuilder b;
  b.input("x", {3}).node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
  const auto out = Session(b.output("y").output("scale").output("zero").load())
                       .run({{"x", floats({3}, {0, 0, 0})}});
  EXPECT_EQ(out.at("scale").number(0), 1);
  EXPECT_EQ(out.at("zero").number(0), 0);
  EXPECT_EQ(out.at("y").number(2), 0);
}

TEST(onnx_odd_shapes, instances_of_one_column) {
  constexpr size_t kInstances = 2 * 48, kRows = 4;
  const std::vector<float> x = random_floats(kInstances * kRows, 1), scale = random_floats(48, 2),
                           bias = random_floats(48, 3);
  ModelBuilder b;
  b.input("x", {2, 48, 4, 1}).weights("scale", {48}, scale).weights("bias", {48}, bias);
  b.node("InstanceNormalization", {"x", "scale", "bias"}, {"y"}).output("y");
  std::vector<double> wanted;
  for (size_t n = 0; n < kInstances; n++) {
    const float *rows = &x[n * kRows];
    double mean = 0, variance = 0;
    for (size_t r = 0; r < kRows; r++) mean += rows[r] / double{kRows};
    for (size_t r = 0; r < kRows; r++) variance += (rows[r] - mean) * (rows[r] - mean) / kRows;
    for (size_t r = 0; r < kRows; r++) {
      wanted.push_back(scale[n % 48] * (rows[r] - mean) / std::sqrt(variance + 1e-5) +
                       bias[n % 48]);
    }
  }
  expect_near(Session(b.load()).run({{"x", floats({2, 48, 4, 1}, x)}}).at("y"), {2, 48, 4, 1},
              wanted);
}

TEST(onnx_odd_shapes, channels_on_their_own_skip_pixels) {
  constexpr size_t kChannels = 48, kRows = 5, kColumns = 8;
  const std::vector<float> x = random_floats(kChannels * kRows * kColumns, 1),
                           w = random_floats(kChannels, 2);
  ModelBuilder b;
  b.input("x", {1, 48, 5, 8}).weights("w", {48, 1, 1, 1}, w);
  b.node("Conv", {"x", "w"}, {"y"},
         {int_attribute("group", 48), ints_attribute("strides", {2, 2})});
  b.output("y");
  std::vector<double> wanted;
  for (size_t c = 0; c < kChannels; c++) {
    for (size_t r = 0; r < kRows; r += 2) {
      for (size_t i = 0; i < kColumns; i += 2) {
        wanted.push_back(double{w[c]} * x[(c * kRows + r) * kColumns + i]);
      }
    }
  }
  expect_near(Session(b.load()).run({{"x", floats({1, 48, 5, 8}, x)}}).at("y"), {1, 48, 3, 4},
              wanted);
}

TEST(onnx_odd_shapes, products_of_few_bytes) {
  constexpr size_t kRows = 17, kTerms = 8, kColumns = 17;
  const auto a = random_bytes<uint8_t>(kRows * kTerms, 1);
  const auto c = random_bytes<int8_t>(kTerms * kColumns, 2);
  ModelBuilder b;
  b.input("a", {17, 8}, kUnsigned).input("c", {8, 17}, kSigned);
  b.node("MatMulInteger", {"a", "c"}, {"y"}).output("y");
  const Constant y = Session(b.load())
                         .run({{"a", bytes(ElementType::UInt8, {17, 8}, a)},
                               {"c", bytes(ElementType::Int8, {8, 17}, c)}})
                         .at("y");
  ASSERT_EQ(y.shape(), (std::vector<int64_t>{17, 17}));
  for (size_t r = 0; r < kRows; r++) {
    for (size_t i = 0; i < kColumns; i++) {
      int64_t sum = 0;
      for (size_t k = 0; k < kTerms; k++) sum += int64_t{a[r * kTerms + k]} * c[k * kColumns + i];
      ASSERT_EQ(y.integer_at(static_cast<int64_t>(r * kColumns + i)), sum) << r << ", " << i;
    }
  }
}

// As in MatMul a vector is a row on the left, a column on the right.
TEST(onnx_odd_shapes, products_of_bytes_and_vectors) {
  const auto a = random_bytes<uint8_t>(2 * 3 * 20, 1);
  const auto c = random_bytes<int8_t>(20 * 7, 2);
  struct Case {
    std::vector<int64_t> a, c, y;
  };
  const Case cases[] = {{{20}, {20, 7}, {7}}, {{2, 3, 20}, {20}, {2, 3}}, {{20}, {20}, {}}};
  for (const Case &k : cases) {
    ModelBuilder b;
    b.input("a", {k.a.begin(), k.a.end()}, kUnsigned).input("c", {k.c.begin(), k.c.end()}, kSigned);
    b.node("MatMulInteger", {"a", "c"}, {"y"}).output("y");
    const Constant y = Session(b.load())
                           .run({{"a", bytes(ElementType::UInt8, k.a, a)},
                                 {"c", bytes(ElementType::Int8, k.c, c)}})
                           .at("y");
    ASSERT_EQ(y.shape(), k.y);
    const size_t columns = k.c.size() == 1 ? 1 : 7;
    for (size_t i = 0; i < static_cast<size_t>(y.elements()); i++) {
      int64_t sum = 0;
      for (size_t t = 0; t < 20; t++)
        sum += int64_t{a[i / columns * 20 + t]} * c[t * columns + i % columns];
      EXPECT_EQ(y.integer_at(static_cast<int64_t>(i)), sum) << i;
    }
  }
}

TEST(onnx_odd_shapes, steps_beyond_all_sizes) {
  ModelBuilder b(13);
  b.input("x", {4, 6}).integers("from", {1, 4}).integers("to", {4, INT64_MIN});
  b.integers("axes", {0, 1}).integers("steps", {int64_t{1} << 40, -(int64_t{1} << 33)});
  b.node("Slice", {"x", "from", "to", "axes", "steps"}, {"y"}).output("y");
  const auto x = random_floats(24, 1);
  expect_near(Session(b.load()).run({{"x", floats({4, 6}, x)}}).at("y"), {1, 1}, {double{x[10]}});
}

// Two rows below the image, which are the zero point throughout.
TEST(onnx_odd_shapes, one_cell_reaches_past_the_image) {
  constexpr int64_t kChannels = 64, kSize = 5, kRows = 7;
  constexpr int kPoint = 120;
  const auto x = random_bytes<uint8_t>(kChannels * kSize * kSize, 1);
  const auto w = random_bytes<int8_t>(kChannels * kChannels, 2);
  ModelBuilder b;
  b.input("x", {1, 64, 5, 5}, kUnsigned);
  b.initializer(ModelBuilder::tensor("w", kSigned, {64, 64, 1, 1}, w));
  b.initializer(ModelBuilder::tensor<uint8_t>("p", kUnsigned, {}, {kPoint}));
  b.initializer(ModelBuilder::tensor<int8_t>("wp", kSigned, {}, {0}));
  b.weights("xs", {}, {1.0f / 64}).weights("ws", {}, {1.0f / 128}).weights("ys", {}, {1.0f / 8});
  b.node("QLinearConv", {"x", "xs", "p", "w", "ws", "wp", "ys", "p"}, {"y"},
         {ints_attribute("pads", {0, 0, 2, 0})});
  b.output("y");
  const Constant y =
      Session(b.load()).run({{"x", bytes(ElementType::UInt8, {1, 64, 5, 5}, x)}}).at("y");
  ASSERT_EQ(y.shape(), (std::vector<int64_t>{1, kChannels, kRows, kSize}));
  for (int64_t i = 0; i < y.elements(); i++) {
    const int64_t made = i / (kRows * kSize), row = i / kSize % kRows, column = i % kSize;
    double sum = 0;
    for (int64_t c = 0; c < kChannels && row < kSize; c++) {
      const int pixel = x[static_cast<size_t>((c * kSize + row) * kSize + column)];
      sum += (pixel - kPoint) * w[static_cast<size_t>(made * kChannels + c)];
    }
    const double exact = std::clamp(sum / 64 / 128 * 8 + kPoint, 0.0, 255.0);
    ASSERT_LE(std::fabs(y.number(i) - exact), 0.5001) << i;
  }
}

// One program for rows of any length, none included.
TEST(onnx_odd_shapes, nothing_along_an_open_axis) {
  for (const char *op : {"ReduceSum", "ReduceMax", "ReduceProd"}) {
    for (const int64_t axis : {0, 1}) {
      ModelBuilder b(18);
      b.input("x", {"m", "n"}).integers("axis", {axis});
      b.node(op, {"x", "axis"}, {"y"}, {int_attribute("keepdims", 0)}).output("y");
      Session s(b.load());
      for (const int64_t length : {3, 40, 0}) {
        std::vector<int64_t> shape{2, 2};
        shape[static_cast<size_t>(axis)] = length;
        const std::vector<float> ones(static_cast<size_t>(2 * length), 1);
        const Constant y = s.run({{"x", floats(shape, ones)}}).at("y");
        ASSERT_EQ(y.shape(), std::vector<int64_t>{2});
        const bool sums = std::string(op) == "ReduceSum", most = std::string(op) == "ReduceMax";
        const double wanted = sums                  ? static_cast<double>(length)
                              : most && length == 0 ? -HUGE_VAL
                                                    : 1;
        for (int64_t i = 0; i < 2; i++) EXPECT_EQ(y.number(i), wanted) << op << " of " << length;
      }
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx::odd_shapes_test
