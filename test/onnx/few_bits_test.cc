// Weights of few bits of com.microsoft in another order, and rows of them.
#include <gtest/gtest.h>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::few_bits_test {
namespace {

class FewBits : public Microsoft {
 protected:
  // Bits from the lowest on.
  static int64_t code(const std::vector<uint8_t> &list, int64_t first_byte, int64_t i,
                      int64_t bits) {
    return list[static_cast<size_t>(first_byte + i * bits / 8)] >> (i * bits % 8) &
           ((1 << bits) - 1);
  }
  void again() {
    ours_ = ModelBuilder(23);
    ours_.import("com.microsoft", 1);
    in_.clear();
    values_.clear();
  }
};

// Each row says which block it belongs to.
TEST_F(FewBits, products_with_rows_in_any_order) {
  constexpr int64_t kRows = 2, kSums = 45, kColumns = 3, kBlock = 16, kBlocks = 3;
  for (const int64_t bits : {2, 4, 8}) {
    again();
    const int64_t row_bytes = kBlocks * kBlock * bits / 8, point_bytes = (kBlocks * bits + 7) / 8;
    const std::vector<uint8_t> codes = random_bytes(kColumns * row_bytes, 3),
                               points = random_bytes(kColumns * point_bytes, 4);
    const std::vector<float> scales = random_floats(kColumns * kBlocks, 5);
    std::vector<int32_t> order;
    for (int32_t k = 0; k < kBlocks * kBlock; k++) order.push_back(k * 7 % 3);
    ours_.initializer(
        ModelBuilder::tensor<uint8_t>("w", 2, {kColumns, kBlocks, kBlock * bits / 8}, codes));
    ours_.initializer(ModelBuilder::tensor<uint8_t>("p", 2, {kColumns, point_bytes}, points));
    ours_.initializer(ModelBuilder::tensor<int32_t>("g", 6, {kBlocks * kBlock}, order));
    ours_.weights("s", {kColumns, kBlocks}, scales);
    const std::vector<float> x = operand("x", {kRows, kSums});
    ours("MatMulNBits", {"x", "w", "s", "p", "g"}, {"y"},
         {int_attribute("K", kSums), int_attribute("N", kColumns), int_attribute("bits", bits),
          int_attribute("block_size", kBlock)});
    std::vector<double> wanted;
    for (int64_t i = 0; i < kRows * kColumns; i++) {
      const int64_t n = i % kColumns;
      double sum = 0;
      for (int64_t k = 0; k < kSums; k++) {
        const int64_t block = order[static_cast<size_t>(k)];
        sum += static_cast<double>(code(codes, n * row_bytes, k, bits) -
                                   code(points, n * point_bytes, block, bits)) *
               scales[static_cast<size_t>(n * kBlocks + block)] *
               x[static_cast<size_t>(i / kColumns * kSums + k)];
      }
      wanted.push_back(sum);
    }
    SCOPED_TRACE(bits);
    expect("y", {kRows, kColumns}, wanted, bits == 8 ? 2e-3 : 1e-4);
  }
}

TEST_F(FewBits, blocks_that_are_not_there_are_refused) {
  operand("x", {2, 32});
  weights<uint8_t>("w", 2, {1, 1, 16}, random_bytes(16, 1));
  weights<float>("s", 1, {1}, {1});
  std::vector<int32_t> order(32);
  order[5] = 1;
  weights<int32_t>("g", 6, {32}, order);
  ours("MatMulNBits", {"x", "w", "s", "", "g"}, {"y"},
       {int_attribute("K", 32), int_attribute("N", 1), int_attribute("bits", 4),
        int_attribute("block_size", 32)});
  EXPECT_NE(error().find("row 5 is in block 1\n  why: there are 1"), std::string::npos) << error();
}

TEST_F(FewBits, rows_are_gathered_and_unpacked) {
  constexpr int64_t kRows = 9, kWidth = 40, kBlock = 16, kBlocks = 3;
  for (const int64_t bits : {2, 4, 8}) {
    for (const bool has_points : {false, true}) {
      again();
      const int64_t row_bytes = kWidth * bits / 8, point_bytes = (kBlocks * bits + 7) / 8;
      const std::vector<uint8_t> codes = random_bytes(kRows * row_bytes, 3),
                                 points = random_bytes(kRows * point_bytes, 4);
      const std::vector<float> scales = random_floats(kRows * kBlocks, 5);
      ours_.initializer(ModelBuilder::tensor<uint8_t>("w", 2, {kRows, row_bytes}, codes));
      ours_.initializer(ModelBuilder::tensor<uint8_t>("p", 2, {kRows, point_bytes}, points));
      ours_.weights("s", {kRows, kBlocks}, scales);
      const std::vector<int64_t> rows{3, 0, 8, 3, 7, 1};
      ours_.input("i", {2, "n"}, 7);
      const auto *bytes = reinterpret_cast<const uint8_t *>(rows.data());
      in_["i"] = Constant::of_bytes(ElementType::Int64, {2, 3}, {bytes, bytes + 48});
      ours("GatherBlockQuantized", {"w", "i", "s", has_points ? "p" : ""}, {"y"},
           {int_attribute("bits", bits), int_attribute("block_size", kBlock)});
      std::vector<double> wanted;
      for (int64_t row : rows) {
        for (int64_t k = 0; k < kWidth; k++) {
          const int64_t zero = has_points ? code(points, row * point_bytes, k / kBlock, bits)
                                          : int64_t{1} << (bits - 1);
          wanted.push_back(static_cast<double>(code(codes, row * row_bytes, k, bits) - zero) *
                           scales[static_cast<size_t>(row * kBlocks + k / kBlock)]);
        }
      }
      SCOPED_TRACE(std::to_string(bits) + (has_points ? " with zero points" : ""));
      expect("y", {2, 3, kWidth}, wanted);
    }
  }
}

TEST_F(FewBits, other_axes_are_refused) {
  ours_.input("i", {2}, 7);
  weights<uint8_t>("w", 2, {4, 16}, random_bytes(64, 1));
  weights<float>("s", 1, {4, 1}, {1, 1, 1, 1});
  ours("GatherBlockQuantized", {"w", "i", "s"}, {"y"}, {int_attribute("gather_axis", 1)});
  EXPECT_NE(error().find("its data have rank 2, gather_axis is 1 and quantize_axis 1\n  why: rows "
                         "of matrices with blocks in rows are supported"),
            std::string::npos)
      << error();
}

}  // namespace
}  // namespace polyhalite::onnx::few_bits_test
