// Operators of com.microsoft against the same in standard operators, or in plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::microsoft_test {
namespace {

TEST_F(Microsoft, gelu_of_a_sum) {
  operand("x", {2, 3, 5});
  operand("b", {5}, true);
  ours("BiasGelu", {"x", "b"}, {"y"});
  ours("FastGelu", {"x", "b"}, {"z"});
  ours("FastGelu", {"x"}, {"v"});
  ours("Gelu", {"x"}, {"u"});
  plain("Add", {"x", "b"}, {"sum"});
  plain("Gelu", {"sum"}, {"y"});
  plain("Gelu", {"sum"}, {"z"}, {text_attribute("approximate", "tanh")});
  plain("Gelu", {"x"}, {"v"}, {text_attribute("approximate", "tanh")});
  plain("Gelu", {"x"}, {"u"});
  expect_same({"y", "z", "v", "u"}, 1e-6);
}

TEST_F(Microsoft, quick_gelu_has_a_slope) {
  std::vector<double> usual, given;
  for (const double v : operand("x", {3, 7})) {
    usual.push_back(v / (1 + std::exp(-1.702 * v)));
    given.push_back(v / (1 + std::exp(-3 * v)));
  }
  ours("QuickGelu", {"x"}, {"y"});
  ours("QuickGelu", {"x"}, {"z"}, {real_attribute("alpha", 3)});
  expect("y", {3, 7}, usual);
  expect("z", {3, 7}, given);
}

// The sum is an output, with its bias.
TEST_F(Microsoft, normalised_sums) {
  operand("x", {2, 3, 8});
  operand("s", {3, 8});
  for (const char *name : {"gamma", "beta", "bias"}) operand(name, {8}, true);
  const Message epsilon = real_attribute("epsilon", 1e-2f);
  ours("SkipLayerNormalization", {"x", "s", "gamma", "beta", "bias"}, {"y", "", "", "sum"},
       {epsilon});
  ours("SkipLayerNormalization", {"x", "s", "gamma"}, {"z"}, {epsilon});
  ours("SkipSimplifiedLayerNormalization", {"x", "s", "gamma", "bias"}, {"r", "", "", "sum2"},
       {epsilon});
  plain("Add", {"x", "s"}, {"unbiased"});
  plain("Add", {"unbiased", "bias"}, {"sum"});
  plain("Identity", {"sum"}, {"sum2"});
  plain("LayerNormalization", {"sum", "gamma", "beta"}, {"y"}, {epsilon});
  plain("LayerNormalization", {"unbiased", "gamma"}, {"z"}, {epsilon});
  plain("RMSNormalization", {"sum", "gamma"}, {"r"}, {epsilon});
  expect_same({"y", "sum", "z", "r", "sum2"});
}

// onnxruntime writes both into models of opsets that have neither.
TEST_F(Microsoft, normalisations_in_the_main_domain) {
  ModelBuilder old(12);
  old.input("x", {2, 8}).weights("g", {8}, random_floats(8, 9)).output("y").output("z");
  old.node("LayerNormalization", {"x", "g"}, {"y"});
  old.node("SimplifiedLayerNormalization", {"x", "g"}, {"z"},
           {int_attribute("axis", -1), int_attribute("stash_type", 1)});
  ModelBuilder fresh(23);
  fresh.input("x", {2, 8}).weights("g", {8}, random_floats(8, 9)).output("y").output("z");
  fresh.node("LayerNormalization", {"x", "g"}, {"y"}).node("RMSNormalization", {"x", "g"}, {"z"});
  const Program::Tensors in{{"x", floats({2, 8}, random_floats(16, 3))}};
  const Program::Tensors got = Session(old.load()).run(in), wanted = Session(fresh.load()).run(in);
  for (const char *name : {"y", "z"})
    EXPECT_EQ(compare(got.at(name), wanted.at(name), 1e-6, 1e-6), "") << name;
}

// All ways in which operands may lie; `known` ones are turned when the model is read.
TEST_F(Microsoft, products_of_turned_operands) {
  constexpr int64_t kBatch = 2, kRows = 3, kSums = 4, kColumns = 5;
  struct Layout {
    Shape64 shape, strides;  // strides of batch, rows and columns
  };
  auto layout = [](int64_t rows, int64_t columns, bool turned, bool inside) -> Layout {
    const int64_t front = turned ? columns : rows, back = turned ? rows : columns;
    const int64_t batch = inside ? back : front * back, step = inside ? kBatch * back : back;
    return {inside ? Shape64{front, kBatch, back} : Shape64{kBatch, front, back},
            {batch, turned ? 1 : step, turned ? step : 1}};
  };
  for (int flags = 0; flags < 32; flags++) {
    ours_ = ModelBuilder(23);
    ours_.import("com.microsoft", 1);
    auto flag = [&](int bit) { return (flags >> bit & 1) != 0; };
    const Layout a = layout(kRows, kSums, flag(0), flag(1)),
                 b = layout(kSums, kColumns, flag(2), flag(3));
    const std::vector<float> x = operand("a", a.shape), z = operand("b", b.shape, flag(4));
    ours("FusedMatMul", {"a", "b"}, {"y"},
         {int_attribute("transA", flag(0)), int_attribute("transBatchA", flag(1)),
          int_attribute("transB", flag(2)), int_attribute("transBatchB", flag(3)),
          real_attribute("alpha", 0.5f)});
    std::vector<double> wanted;
    for (int64_t batch = 0; batch < kBatch; batch++) {
      for (int64_t i = 0; i < kRows; i++) {
        for (int64_t k = 0; k < kColumns; k++) {
          double sum = 0;
          for (int64_t j = 0; j < kSums; j++) {
            sum +=
                static_cast<double>(x[static_cast<size_t>(batch * a.strides[0] + i * a.strides[1] +
                                                          j * a.strides[2])]) *
                z[static_cast<size_t>(batch * b.strides[0] + j * b.strides[1] + k * b.strides[2])];
          }
          wanted.push_back(sum / 2);
        }
      }
    }
    SCOPED_TRACE(flags);
    expect("y", {kBatch, kRows, kColumns}, wanted);
    in_.clear();
  }
}

TEST_F(Microsoft, convolution_with_a_sum_and_an_activation) {
  operand("x", {1, 2, 5, 6});
  operand("z", {1, 3, 5, 6});
  operand("w", {3, 2, 3, 3}, true);
  operand("b", {3}, true);
  weights<float>("least", 1, {}, {-0.25f});
  weights<float>("most", 1, {}, {0.5f});
  const Message pads = ints_attribute("pads", {1, 1, 1, 1});
  ours("FusedConv", {"x", "w", "b", "z"}, {"y"},
       {pads, text_attribute("activation", "Clip"),
        reals_attribute("activation_params", {-0.25f, 0.5f})});
  ours("FusedConv", {"x", "w"}, {"h"},
       {pads, text_attribute("activation", "HardSigmoid"),
        reals_attribute("activation_params", {0.3f, 0.4f})});
  plain("Conv", {"x", "w", "b"}, {"c"}, {pads});
  plain("Add", {"c", "z"}, {"sum"});
  plain("Clip", {"sum", "least", "most"}, {"y"});
  plain("Conv", {"x", "w"}, {"d"}, {pads});
  plain("HardSigmoid", {"d"}, {"h"}, {real_attribute("alpha", 0.3f), real_attribute("beta", 0.4f)});
  expect_same({"y", "h"});
}

TEST_F(Microsoft, gemm_with_an_activation) {
  operand("x", {3, 7});
  operand("w", {5, 7}, true);
  operand("b", {5}, true);
  const std::vector<Message> scaled{int_attribute("transB", 1), real_attribute("beta", 2)};
  std::vector<Message> fused = scaled;
  fused.push_back(text_attribute("activation", "LeakyRelu"));
  fused.push_back(real_attribute("activation_alpha", 0.1f));
  ours("FusedGemm", {"x", "w", "b"}, {"y"}, fused);
  plain("Gemm", {"x", "w", "b"}, {"g"}, scaled);
  plain("LeakyRelu", {"g"}, {"y"}, {real_attribute("alpha", 0.1f)});
  expect_same();
}

// Nodes of a region, too.
TEST_F(Microsoft, inside_of_a_branch) {
  const std::vector<float> x = operand("x", {4});
  ours_.input("c", {}, 9);
  ModelBuilder yes, no;
  yes.node("QuickGelu", {"x"}, {"a"}, {}, "com.microsoft").output("a");
  no.node("Neg", {"x"}, {"b"}).output("b");
  ours_.node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", yes.region("yes")),
              graph_attribute("else_branch", no.region("no"))});
  ours_.output("y");
  in_["c"] = Constant::of_bytes(ElementType::Bool, {}, {1});
  std::vector<double> wanted;
  for (const double v : x) wanted.push_back(v / (1 + std::exp(-1.702 * v)));
  expect("y", {4}, wanted);
}

TEST_F(Microsoft, refused_with_reasons) {
  operand("x", {1, 2, 5, 6});
  operand("w", {3, 2, 3, 3}, true);
  ours("FusedConv", {"x", "w"}, {"y"}, {text_attribute("activation", "Mystery")});
  ours("SkipLayerNormalization", {"x", "x", "w"}, {"z", "mean"});  // both are outputs
  ours("Gelu", {"x"}, {"u"}, {int_attribute("novelty", 1)});
  const std::string text = error();
  for (const char *part :
       {"node 'make_y' (com.microsoft.FusedConv): its activation is 'Mystery'",
        "node 'make_z' (com.microsoft.SkipLayerNormalization): its output 1, the mean, is read",
        "node 'make_u' (com.microsoft.Gelu): its attribute novelty is set",
        "that is not supported"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

// (x - 120) and (w - the column's zero point), times both scales.
TEST_F(Microsoft, products_of_bytes_as_numbers) {
  constexpr int64_t kRows = 3, kSums = 20, kColumns = 4;
  const std::vector<uint8_t> x = random_bytes(kRows * kSums, 1),
                             w = random_bytes(kSums * kColumns, 2), points{100, 0, 255, 128};
  const std::vector<float> scales{0.01f, 0.02f, 0.03f, 0.04f};
  ours_.input("x", {kRows, kSums}, 2);
  in_["x"] = Constant::of_bytes(ElementType::UInt8, {kRows, kSums}, x);
  weights<uint8_t>("w", 2, {kSums, kColumns}, w);
  weights<uint8_t>("wp", 2, {kColumns}, points);
  weights<uint8_t>("xp", 2, {}, {120});
  weights<float>("xs", 1, {1}, {0.5f});
  weights<float>("ws", 1, {kColumns}, scales);
  const std::vector<float> bias = operand("b", {kColumns}, true);
  ours("MatMulIntegerToFloat", {"x", "w", "xs", "ws", "xp", "wp", "b"}, {"y"});
  std::vector<double> wanted;
  for (int64_t i = 0; i < kRows; i++) {
    for (int64_t k = 0; k < kColumns; k++) {
      const auto column = static_cast<size_t>(k);
      int64_t sum = 0;
      for (int64_t j = 0; j < kSums; j++) {
        sum += (x[static_cast<size_t>(i * kSums + j)] - 120) *
               (w[static_cast<size_t>(j * kColumns + k)] - points[column]);
      }
      wanted.push_back(static_cast<double>(sum) * 0.5 * scales[column] + bias[column]);
    }
  }
  expect("y", {kRows, kColumns}, wanted, 1e-2);
}

TEST_F(Microsoft, operands_quantised_on_the_way) {
  operand("x", {2, 3, 16});
  operand("b", {5}, true);
  weights<uint8_t>("w", 2, {16, 5}, random_bytes(80, 4));
  weights<uint8_t>("wp", 2, {}, {99});
  weights<float>("ws", 1, {}, {0.02f});
  ours("DynamicQuantizeMatMul", {"x", "w", "ws", "wp", "b"}, {"y"});
  plain("DynamicQuantizeLinear", {"x"}, {"q", "qs", "qp"});
  plain("DequantizeLinear", {"q", "qs", "qp"}, {"r"});
  plain("DequantizeLinear", {"w", "ws", "wp"}, {"v"});
  plain("MatMul", {"r", "v"}, {"p"});
  plain("Add", {"p", "b"}, {"y"});
  expect_same();
}

TEST_F(Microsoft, steps_as_in_the_main_domain) {
  operand("x", {2, 3, 4});
  weights<float>("s", 1, {3}, {0.01f, 0.02f, 0.05f});
  weights<uint8_t>("p", 2, {3}, {100, 120, 140});
  const Message axis = int_attribute("axis", 1);
  ours("QuantizeLinear", {"x", "s", "p"}, {"q"}, {axis});
  ours("DequantizeLinear", {"q", "s", "p"}, {"y"}, {axis});
  plain("QuantizeLinear", {"x", "s", "p"}, {"q"}, {axis});
  plain("DequantizeLinear", {"q", "s", "p"}, {"y"}, {axis});
  expect_same({"q", "y"}, 0);
}

// Scales for directions and for gates, in both directions: the states of an LSTM of numbers.
TEST_F(Microsoft, lstm_of_bytes) {
  constexpr int64_t kInputs = 3, kHidden = 2, kGates = 4 * kHidden;
  operand("x", {5, 2, kInputs});
  operand("b", {2, 2 * kGates}, true);
  struct Part {
    const char *name;
    int64_t inputs;
    bool each_gate;
  };
  for (const Part &p : {Part{"w", kInputs, true}, Part{"r", kHidden, false}}) {
    const std::vector<uint8_t> codes = random_bytes(2 * p.inputs * kGates, 7);
    const int64_t n = p.each_gate ? 2 * kGates : 2;
    std::vector<float> scales = random_floats(n, 8);
    for (float &s : scales) s = std::fabs(s) / 64;
    const std::vector<uint8_t> points = random_bytes(n, 9);
    std::vector<float> numbers(codes.size());
    for (int64_t d = 0; d < 2; d++) {
      for (int64_t i = 0; i < p.inputs; i++) {
        for (int64_t gate = 0; gate < kGates; gate++) {
          const auto at = static_cast<size_t>(p.each_gate ? d * kGates + gate : d);
          numbers[static_cast<size_t>((d * kGates + gate) * p.inputs + i)] =
              static_cast<float>(codes[static_cast<size_t>((d * p.inputs + i) * kGates + gate)] -
                                 points[at]) *
              scales[at];
        }
      }
    }
    const std::string name = p.name;
    const Shape64 list = p.each_gate ? Shape64{2, kGates} : Shape64{2};
    weights<uint8_t>(name, 2, {2, p.inputs, kGates}, codes);
    weights<float>(name + "s", 1, list, scales);
    weights<uint8_t>(name + "p", 2, list, points);
    weights<float>(name + "n", 1, {2, kGates, p.inputs}, numbers);
  }
  const std::vector<Message> both{int_attribute("hidden_size", kHidden),
                                  text_attribute("direction", "bidirectional")};
  ours("DynamicQuantizeLSTM", {"x", "w", "r", "b", "", "", "", "", "ws", "wp", "rs", "rp"},
       {"y", "h", "c"}, both);
  plain("LSTM", {"x", "wn", "rn", "b"}, {"y", "h", "c"}, both);
  expect_same({"y", "h", "c"}, 1e-6);
}

// Codes of 2, 4 and 8 bits; the last block has rows that are not there.
TEST_F(Microsoft, products_with_weights_of_few_bits) {
  constexpr int64_t kRows = 2, kSums = 37, kColumns = 3, kBlock = 16, kBlocks = 3;
  for (const int64_t bits : {2, 4, 8}) {
    for (const bool has_points : {false, true}) {
      ours_ = ModelBuilder(23);
      ours_.import("com.microsoft", 1);
      const int64_t row_bytes = kBlocks * kBlock * bits / 8, point_bytes = (kBlocks * bits + 7) / 8;
      const std::vector<uint8_t> codes = random_bytes(kColumns * row_bytes, 3),
                                 points = random_bytes(kColumns * point_bytes, 4);
      const std::vector<float> scales = random_floats(kColumns * kBlocks, 5);
      ours_.initializer(
          ModelBuilder::tensor<uint8_t>("w", 2, {kColumns, kBlocks, kBlock * bits / 8}, codes));
      ours_.initializer(ModelBuilder::tensor<uint8_t>("p", 2, {kColumns, point_bytes}, points));
      ours_.weights("s", {kColumns, kBlocks}, scales);
      const std::vector<float> x = operand("x", {kRows, kSums}), bias = operand("b", {3}, true);
      ours("MatMulNBits", {"x", "w", "s", has_points ? "p" : "", "", "b"}, {"y"},
           {int_attribute("K", kSums), int_attribute("N", kColumns), int_attribute("bits", bits),
            int_attribute("block_size", kBlock)});
      // Bits from the lowest on.
      auto code = [&](const std::vector<uint8_t> &list, int64_t first_byte, int64_t i) {
        int64_t v = 0;
        for (int64_t bit = 0; bit < bits; bit++) {
          const int64_t at = i * bits + bit;
          v |= (list[static_cast<size_t>(first_byte + at / 8)] >> (at % 8) & 1) << bit;
        }
        return v;
      };
      std::vector<double> wanted;
      for (int64_t i = 0; i < kRows; i++) {
        for (int64_t n = 0; n < kColumns; n++) {
          double sum = bias[static_cast<size_t>(n)];
          for (int64_t k = 0; k < kSums; k++) {
            const int64_t block = k / kBlock;
            const int64_t zero =
                has_points ? code(points, n * point_bytes, block) : int64_t{1} << (bits - 1);
            sum += static_cast<double>(code(codes, n * row_bytes, k) - zero) *
                   scales[static_cast<size_t>(n * kBlocks + block)] *
                   x[static_cast<size_t>(i * kSums + k)];
          }
          wanted.push_back(sum);
        }
      }
      SCOPED_TRACE(std::to_string(bits) + (has_points ? " with zero points" : ""));
      expect("y", {kRows, kColumns}, wanted, bits == 8 ? 2e-3 : 1e-4);
      in_.clear();
      values_.clear();
    }
  }
}

TEST_F(Microsoft, weights_of_few_bits_are_checked) {
  operand("x", {2, 32});
  weights<uint8_t>("w", 2, {3, 1, 16}, random_bytes(48, 1));
  weights<float>("s", 1, {3}, {1, 1, 1});
  ours("MatMulNBits", {"x", "w", "s"}, {"y"},
       {int_attribute("K", 32), int_attribute("N", 4), int_attribute("bits", 4),
        int_attribute("block_size", 32)});
  EXPECT_NE(error().find("it has 48 bytes of weights"), std::string::npos) << error();
}

}  // namespace
}  // namespace polyhalite::onnx::microsoft_test
