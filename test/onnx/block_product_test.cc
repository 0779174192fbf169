// Products with weights of few bits: laid out for dot products and for multiply-adds, of all block
// sizes, for one row and for many in one program, against sums in double.
#include <gtest/gtest.h>

#include <cmath>

#include "polyhalite/ops.h"
#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::block_product_test {
namespace {

struct BlockWeights {
  int64_t bits, block, sums, columns;
  enum Zeros { None, Bytes, Floats } zeros;

  int64_t blocks() const { return (sums + block - 1) / block; }
  std::string text() const {
    return std::to_string(bits) + " bits, blocks of " + std::to_string(block) + ", " +
           std::to_string(sums) + "x" + std::to_string(columns) + ", zeros " +
           std::to_string(zeros);
  }
};

// Without dot products rows stay as they are.
bool has_dots() {
  return ops::dot_strips(Int(8), UInt(8), 8, get_jit_target_from_environment()).has_value();
}

class BlockProduct : public testing::Test {
 protected:
  void make(const BlockWeights &w, int64_t accuracy, int type = 1) {
    w_ = w;
    const int64_t row_bytes = w.blocks() * w.block * w.bits / 8;
    point_bytes_ = (w.blocks() * w.bits + 7) / 8;
    codes_ = random_bytes(w.columns * row_bytes, 3);
    points_ = random_bytes(w.columns * point_bytes_, 4);
    zeros_ = random_floats(w.columns * w.blocks(), 6);
    scales_ = random_floats(w.columns * w.blocks(), 5);
    b_ = ModelBuilder(23);
    b_.import("com.microsoft", 1);
    b_.input("x", {"n", "rows", static_cast<int>(w.sums)}, type);
    b_.initializer(ModelBuilder::tensor<uint8_t>(
        "w", 2, {w.columns, w.blocks(), w.block * w.bits / 8}, codes_));
    if (w.zeros == BlockWeights::Bytes)
      b_.initializer(ModelBuilder::tensor<uint8_t>("p", 2, {w.columns, point_bytes_}, points_));
    if (w.zeros == BlockWeights::Floats) b_.weights("p", {w.columns * w.blocks()}, zeros_);
    b_.weights("s", {w.columns * w.blocks()}, scales_);
    std::vector<std::string> operands{"x", "w", "s"};
    if (w.zeros != BlockWeights::None) operands.emplace_back("p");
    b_.node(
        "MatMulNBits", operands, {"y"},
        {int_attribute("K", w.sums), int_attribute("N", w.columns), int_attribute("bits", w.bits),
         int_attribute("block_size", w.block), int_attribute("accuracy_level", accuracy)},
        "com.microsoft");
    b_.output("y");
  }

  double number(int64_t k, int64_t n) const {
    const int64_t each = 8 / w_.bits, mask = (1 << w_.bits) - 1, b = k / w_.block;
    const int64_t row = n * w_.blocks() * w_.block / each;
    const int64_t code = codes_[static_cast<size_t>(row + k / each)] >> (k % each * w_.bits) & mask;
    const auto at = static_cast<size_t>(n * w_.blocks() + b);
    double zero = static_cast<double>(1 << (w_.bits - 1));
    if (w_.zeros == BlockWeights::Floats) zero = zeros_[at];
    if (w_.zeros == BlockWeights::Bytes)
      zero = static_cast<double>(
          points_[static_cast<size_t>(n * point_bytes_ + b / each)] >> (b % each * w_.bits) & mask);
    return (static_cast<double>(code) - zero) * scales_[at];
  }

  // Of rows that are rounded to bytes, each block with a scale of its own.
  std::vector<float> rounded(std::vector<float> x) const {
    for (size_t row = 0; row < x.size(); row += static_cast<size_t>(w_.sums)) {
      for (int64_t first = 0; first < w_.sums; first += w_.block) {
        const int64_t end = std::min(first + w_.block, w_.sums);
        float largest = 0;
        for (int64_t k = first; k < end; k++)
          largest = std::max(largest, std::fabs(x[row + static_cast<size_t>(k)]));
        for (int64_t k = first; k < end && largest > 0; k++) {
          float &v = x[row + static_cast<size_t>(k)];
          v = std::nearbyint(v * (127 / largest)) * (largest / 127);
        }
      }
    }
    return x;
  }

  void expect(const Constant &y, const std::vector<float> &x, double off) const {
    const auto rows = static_cast<int64_t>(x.size()) / w_.sums;
    ASSERT_EQ(y.elements(), rows * w_.columns);
    for (int64_t row = 0; row < rows; row++) {
      for (int64_t n = 0; n < w_.columns; n++) {
        double sum = 0, size = 0;
        for (int64_t k = 0; k < w_.sums; k++) {
          const double term = x[static_cast<size_t>(row * w_.sums + k)] * number(k, n);
          sum += term;
          size += std::fabs(term);
        }
        ASSERT_NEAR(y.number(row * w_.columns + n), sum, off * size + 1e-6)
            << w_.text() << " at " << row << ", " << n << " of " << rows;
      }
    }
  }

  ModelBuilder b_;
  BlockWeights w_{};
  int64_t point_bytes_ = 0;
  std::vector<uint8_t> codes_, points_;
  std::vector<float> scales_, zeros_;
};

const BlockWeights kWeights[] = {
    {4, 32, 96, 64, BlockWeights::None},   {4, 32, 200, 70, BlockWeights::Bytes},
    {4, 16, 48, 33, BlockWeights::Floats}, {4, 128, 300, 5, BlockWeights::None},
    {8, 32, 100, 40, BlockWeights::Bytes}, {8, 16, 33, 96, BlockWeights::None},
    {2, 16, 64, 50, BlockWeights::Bytes},  {2, 64, 130, 31, BlockWeights::Floats},
};

TEST_F(BlockProduct, rows_of_any_number) {
  for (const BlockWeights &w : kWeights) {
    for (const int64_t accuracy : {0, 4}) {
      make(w, accuracy);
      Session s(b_.load());
      for (const int64_t rows : {1, 3, 4, 6, 7, 13, 30}) {
        const std::vector<float> x = random_floats(2 * rows * w.sums, 9);
        const Constant y = s.run({{"x", floats({2, rows, w.sums}, x)}}).at("y");
        EXPECT_EQ(y.shape(), (Shape64{2, rows, w.columns}));
        const bool rounds = accuracy == 4 && has_dots();
        expect(y, rounds ? rounded(x) : x, rounds ? 2e-5 : 2e-6);
      }
    }
  }
}

// Codes as they are in the file, unpacked by a kernel.
TEST_F(BlockProduct, without_packing) {
  for (const BlockWeights &w : kWeights) {
    make(w, 0);
    CompileOptions options;
    options.switched_off = {"pack_blocks"};
    const std::vector<float> x = random_floats(3 * w.sums, 9);
    expect(Session(b_.load(), options).run({{"x", floats({1, 3, w.sums}, x)}}).at("y"), x, 2e-6);
    const std::string packed = to_text(Program(b_.load(), {}).graph());
    EXPECT_NE(packed.find("strips_of"), std::string::npos) << packed;
  }
}

// Rows of zeros have no scale; the last block has numbers beside what is not there.
TEST_F(BlockProduct, blocks_of_zeros) {
  const BlockWeights w{4, 32, 70, 36, BlockWeights::Bytes};
  make(w, 4);
  std::vector<float> x = random_floats(2 * w.sums, 9);
  std::fill(x.begin(), x.begin() + 32, 0.0f);
  std::fill(x.begin() + w.sums, x.end(), 0.0f);
  expect(Session(b_.load()).run({{"x", floats({1, 2, w.sums}, x)}}).at("y"),
         has_dots() ? rounded(x) : x, 2e-5);
}

TEST_F(BlockProduct, of_halves) {
  const BlockWeights w{4, 32, 96, 40, BlockWeights::None};
  make(w, 0, 10);
  std::vector<float> x = random_floats(3 * w.sums, 9);
  std::vector<uint8_t> bytes;
  for (float &v : x) append_number(&bytes, ElementType::Float16, v);
  const Constant halves = Constant::of_bytes(ElementType::Float16, {1, 3, w.sums}, bytes);
  for (size_t i = 0; i < x.size(); i++)
    x[i] = static_cast<float>(halves.number(static_cast<int64_t>(i)));
  const Constant y = Session(b_.load()).run({{"x", halves}}).at("y");
  EXPECT_EQ(y.type(), ElementType::Float16);
  expect(y, x, 1e-3);
}

}  // namespace
}  // namespace polyhalite::onnx::block_product_test
