// Operators of com.microsoft against the same in standard operators, or in plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx {
namespace {

using Shape64 = std::vector<int64_t>;
using Names = std::vector<std::string>;

Message real_attribute(const std::string &name, float v) {
  return Message().text(1, name).real(2, v).number(20, 1);
}
Message reals_attribute(const std::string &name, const std::vector<float> &list) {
  Message m;
  m.text(1, name);
  for (float v : list) m.real(7, v);
  return m.number(20, 6);
}

int64_t count(const Shape64 &shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

std::vector<float> random_floats(int64_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  std::vector<float> v(static_cast<size_t>(n));
  for (float &f : v) f = d(bits);
  return v;
}
std::vector<uint8_t> random_bytes(int64_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<uint8_t> v(static_cast<size_t>(n));
  for (uint8_t &b : v) b = static_cast<uint8_t>(bits());
  return v;
}

// Two models with the same operands, one of com.microsoft's operators and one without.
class Microsoft : public testing::Test {
 protected:
  Microsoft() { ours_.import("com.microsoft", 1); }

  const std::vector<float> &operand(const std::string &name, const Shape64 &shape,
                                    bool known = false) {
    values_[name] = random_floats(count(shape), static_cast<uint32_t>(values_.size()) + 1);
    for (ModelBuilder *b : {&ours_, &plain_}) {
      if (known) {
        b->weights(name, shape, values_[name]);
      } else {
        b->input(name, std::vector<TestDim>(shape.begin(), shape.end()));
      }
    }
    if (!known) in_[name] = floats(shape, values_[name]);
    return values_[name];
  }
  template <typename T>
  void weights(const std::string &name, int type, const Shape64 &shape, const std::vector<T> &v) {
    for (ModelBuilder *b : {&ours_, &plain_})
      b->initializer(ModelBuilder::tensor<T>(name, type, shape, v));
  }
  void ours(const std::string &op, const Names &in, const Names &out,
            const std::vector<Message> &attributes = {}) {
    ours_.node(op, in, out, attributes, "com.microsoft");
    for (const std::string &o : out) {
      if (!o.empty()) ours_.output(o);
    }
  }
  void plain(const std::string &op, const Names &in, const Names &out,
             const std::vector<Message> &attributes = {}) {
    plain_.node(op, in, out, attributes);
  }
  void expect_same(const Names &outputs = {"y"}, double tolerance = 1e-5) {
    for (const std::string &o : outputs) plain_.output(o);
    const Program::Tensors got = Session(ours_.load()).run(in_),
                           wanted = Session(plain_.load()).run(in_);
    for (const std::string &o : outputs)
      EXPECT_EQ(compare(got.at(o), wanted.at(o), tolerance, tolerance), "") << o;
  }
  void expect(const std::string &output, const Shape64 &shape, const std::vector<double> &wanted,
              double tolerance = 1e-5) {
    const Constant got = Session(ours_.load()).run(in_).at(output);
    EXPECT_EQ(got.shape(), shape);
    ASSERT_EQ(got.elements(), static_cast<int64_t>(wanted.size()));
    for (int64_t i = 0; i < got.elements(); i++)
      ASSERT_NEAR(got.number(i), wanted[static_cast<size_t>(i)], tolerance) << output << " " << i;
  }
  std::string error() {
    return error_of([&] { Session(ours_.load()).run(in_); });
  }

  ModelBuilder ours_{23}, plain_{23};
  Program::Tensors in_;
  std::map<std::string, std::vector<float>> values_;
};

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
  ours("SkipLayerNormalization", {"x", "x", "w"}, {"z", "mean"});
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

// Heads of queries, keys and values [batch, positions, heads * width], with what is added to
// scores.
struct Scores {
  int64_t batch, queries, keys, heads, width;
  double scale;
  std::function<double(int64_t b, int64_t q, int64_t k)> added;

  std::vector<double> of(
      const std::function<double(int64_t b, int64_t at, int64_t e)> &query,
      const std::function<double(int64_t b, int64_t at, int64_t e)> &key,
      const std::function<double(int64_t b, int64_t at, int64_t e)> &value) const {
    std::vector<double> result;
    for (int64_t b = 0; b < batch; b++) {
      for (int64_t q = 0; q < queries; q++) {
        for (int64_t e = 0; e < heads * width; e++) {
          const int64_t first = e / width * width;
          double sum = 0, weights = 0;
          for (int64_t k = 0; k < keys; k++) {
            double score = 0;
            for (int64_t i = first; i < first + width; i++) score += query(b, q, i) * key(b, k, i);
            const double weight = std::exp(score * scale + added(b, q, k));
            weights += weight;
            sum += weight * value(b, k, e);
          }
          result.push_back(sum / weights);
        }
      }
    }
    return result;
  }
};

// Masks of all ranks, known where nodes are read (an input) or later (another node's result).
TEST_F(Microsoft, attention_under_masks) {
  constexpr int64_t kBatch = 2, kPast = 2, kNew = 3, kHeads = 2, kWidth = 4;
  constexpr int64_t kKeys = kPast + kNew, kHidden = kHeads * kWidth, kInputs = 5;
  const std::vector<std::vector<int32_t>> masks = {
      {4, 5},                                        // ends
      {4, 5, 1, 2},                                  // and beginnings
      {1, 0, 1, 1, 1, 1, 1, 0, 1, 1},                // keys
      {1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1,  // keys of each query
       1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}};
  const std::vector<Shape64> shapes = {
      {kBatch}, {2 * kBatch}, {kBatch, kKeys}, {kBatch, kNew, kKeys}};
  for (size_t kind = 0; kind < masks.size(); kind++) {
    for (const bool hidden : {false, true}) {
      ours_ = ModelBuilder(23);
      ours_.import("com.microsoft", 1);
      const std::vector<float> x = operand("x", {kBatch, kNew, kInputs}),
                               w = operand("w", {kInputs, 3 * kHidden}, true),
                               bias = operand("b", {3 * kHidden}, true),
                               past = operand("past", {2, kBatch, kHeads, kPast, kWidth});
      const std::vector<int32_t> &mask = masks[kind];
      ours_.input("given", std::vector<TestDim>(shapes[kind].begin(), shapes[kind].end()), 6);
      in_["given"] =
          Constant::of_bytes(ElementType::Int32, shapes[kind],
                             {reinterpret_cast<const uint8_t *>(mask.data()),
                              reinterpret_cast<const uint8_t *>(mask.data() + mask.size())});
      if (hidden) ours_.node("Neg", {"given"}, {"turned"}).node("Neg", {"turned"}, {"mask"});
      const std::vector<Message> attributes{int_attribute("num_heads", kHeads),
                                            int_attribute("unidirectional", 1)};
      ours("Attention", {"x", "w", "b", hidden ? "mask" : "given", "past"}, {"y", "present"},
           attributes);
      // Column `part` of the product, part 0 being queries.
      auto fresh = [&](int64_t part, int64_t b, int64_t at, int64_t e) {
        const int64_t column = part * kHidden + e;
        double sum = bias[static_cast<size_t>(column)];
        for (int64_t i = 0; i < kInputs; i++) {
          sum += static_cast<double>(x[static_cast<size_t>((b * kNew + at) * kInputs + i)]) *
                 w[static_cast<size_t>(i * 3 * kHidden + column)];
        }
        return sum;
      };
      auto with_past = [&](int64_t part) {
        return [&, part](int64_t b, int64_t at, int64_t e) -> double {
          if (at >= kPast) return fresh(part, b, at - kPast, e);
          const int64_t head = ((part - 1) * kBatch + b) * kHeads + e / kWidth;
          return past[static_cast<size_t>((head * kPast + at) * kWidth + e % kWidth)];
        };
      };
      auto taken = [&](int64_t b, int64_t q, int64_t k) {
        auto element = [&](int64_t i) { return mask[static_cast<size_t>(i)]; };
        if (kind < 2) return k < element(b) && (kind == 0 || k >= element(kBatch + b));
        return element(kind == 2 ? b * kKeys + k : (b * kNew + q) * kKeys + k) != 0;
      };
      const Scores scores{
          kBatch, kNew, kKeys, kHeads, kWidth, 0.5, [&](int64_t b, int64_t q, int64_t k) {
            if (k > q + kPast) return -1e6;
            return taken(b, q, k) ? 0.0 : -1e4;
          }};
      SCOPED_TRACE(std::to_string(kind) + (hidden ? " hidden" : ""));
      expect("y", {kBatch, kNew, kHidden},
             scores.of([&](int64_t b, int64_t at, int64_t e) { return fresh(0, b, at, e); },
                       with_past(1), with_past(2)));
      std::vector<double> present;
      for (int64_t part = 1; part < 3; part++) {
        for (int64_t i = 0; i < kBatch * kHeads; i++) {
          for (int64_t at = 0; at < kKeys; at++) {
            for (int64_t e = 0; e < kWidth; e++)
              present.push_back(with_past(part)(i / kHeads, at, i % kHeads * kWidth + e));
          }
        }
      }
      expect("present", {2, kBatch, kHeads, kKeys, kWidth}, present);
      in_.clear();
      values_.clear();
    }
  }
}

// Two sequences of different lengths get one position more, in a past that has room for it; both
// heads of queries see one of keys, through a window of 3.
TEST_F(Microsoft, grouped_attention_with_room) {
  constexpr int64_t kRoom = 6, kWidth = 4;
  const std::vector<int32_t> last{2, 4};
  const std::vector<float> q = operand("q", {2, 1, 2 * kWidth}), k = operand("k", {2, 1, kWidth}),
                           v = operand("v", {2, 1, kWidth}),
                           past_k = operand("pk", {2, 1, kRoom, kWidth}),
                           past_v = operand("pv", {2, 1, kRoom, kWidth});
  weights<int32_t>("last", 6, {2}, last);
  weights<int32_t>("total", 6, {}, {5});
  ours("GroupQueryAttention", {"q", "k", "v", "pk", "pv", "last", "total"}, {"y", "nk", "nv"},
       {int_attribute("num_heads", 2), int_attribute("kv_num_heads", 1),
        int_attribute("local_window_size", 3)});
  auto with_past = [&](const std::vector<float> &past, const std::vector<float> &fresh) {
    return [&](int64_t b, int64_t at, int64_t e) -> double {
      const int64_t end = last[static_cast<size_t>(b)];
      if (at > end) return 0;
      return at == end ? fresh[static_cast<size_t>(b * kWidth + e % kWidth)]
                       : past[static_cast<size_t>((b * kRoom + at) * kWidth + e % kWidth)];
    };
  };
  const Scores scores{2, 1, kRoom, 2, kWidth, 0.5, [&](int64_t b, int64_t, int64_t at) {
                        const int64_t end = last[static_cast<size_t>(b)];
                        return at > end || at <= end - 3 ? -1e6 : 0.0;
                      }};
  expect("y", {2, 1, 2 * kWidth},
         scores.of([&](int64_t b, int64_t,
                       int64_t e) -> double { return q[static_cast<size_t>(b * 2 * kWidth + e)]; },
                   with_past(past_k, k), with_past(past_v, v)));
  std::vector<double> keys;
  for (int64_t i = 0; i < 2 * kRoom * kWidth; i++)
    keys.push_back(with_past(past_k, k)(i / kWidth / kRoom, i / kWidth % kRoom, i % kWidth));
  expect("nk", {2, 1, kRoom, kWidth}, keys);
}

// Packed operands without a past are those of the standard's, after their rotation.
TEST_F(Microsoft, grouped_attention_of_packed_operands) {
  operand("x", {2, 3, 16});
  operand("c", {5, 2}, true);
  operand("s", {5, 2}, true);
  weights<int32_t>("last", 6, {2}, {2, 2});
  weights<int32_t>("total", 6, {}, {3});
  ours("GroupQueryAttention", {"x", "", "", "", "", "last", "total", "c", "s"}, {"y", "k", "v"},
       {int_attribute("num_heads", 2), int_attribute("kv_num_heads", 1),
        int_attribute("do_rotary", 1)});
  weights<int64_t>("parts", 7, {3}, {8, 4, 4});
  weights<int64_t>("at", 7, {2, 3}, {0, 1, 2, 0, 1, 2});
  plain_.node("Split", {"x", "parts"}, {"xq", "xk", "xv"}, {int_attribute("axis", 2)});
  plain("RotaryEmbedding", {"xq", "c", "s", "at"}, {"rq"}, {int_attribute("num_heads", 2)});
  plain("RotaryEmbedding", {"xk", "c", "s", "at"}, {"rk"}, {int_attribute("num_heads", 1)});
  plain("Attention", {"rq", "rk", "xv"}, {"y", "k", "v"},
        {int_attribute("q_num_heads", 2), int_attribute("kv_num_heads", 1),
         int_attribute("is_causal", 1)});
  expect_same({"y", "k", "v"});
}

// Keys with heads come from another sequence; others get their part of the bias.
TEST_F(Microsoft, attention_of_separate_operands) {
  operand("q", {2, 3, 8});
  operand("k", {2, 5, 8});
  operand("v", {2, 5, 6});
  operand("b", {22}, true);
  operand("added", {1, 2, 3, 5});
  for (const char *name : {"k", "v"}) {
    const std::string headed = std::string(name) + "4";
    weights<int64_t>(headed + "s", 7, {4}, {0, 0, 2, -1});
    for (ModelBuilder *b : {&ours_, &plain_}) {
      b->node("Reshape", {name, headed + "s"}, {headed + "r"});
      b->node("Transpose", {headed + "r"}, {headed}, {ints_attribute("perm", {0, 2, 1, 3})});
    }
  }
  const Message heads = int_attribute("num_heads", 2);
  ours("MultiHeadAttention", {"q", "k", "v", "b", "", "added"}, {"y", "pk", "pv"}, {heads});
  ours("MultiHeadAttention", {"q", "k4", "v4"}, {"z"}, {heads, real_attribute("scale", 0.25f)});
  weights<int64_t>("parts", 7, {3}, {8, 8, 6});
  plain("Split", {"b", "parts"}, {"bq", "bk", "bv"});
  for (const char *name : {"q", "k", "v"})
    plain("Add", {name, std::string("b") + name}, {std::string(name) + "b"});
  const std::vector<Message> both{int_attribute("q_num_heads", 2),
                                  int_attribute("kv_num_heads", 2)};
  plain("Attention", {"qb", "kb", "vb", "added"}, {"y", "pk", "pv"}, both);
  std::vector<Message> scaled = both;
  scaled.push_back(real_attribute("scale", 0.25f));
  plain("Attention", {"q", "k", "v"}, {"z"}, scaled);
  expect_same({"y", "pk", "pv", "z"});
}

// Positions from a first one on, and one for each element; heads side by side, or a dimension.
TEST_F(Microsoft, rotated_pairs) {
  operand("x", {2, 3, 8});
  operand("h", {2, 2, 3, 4});
  operand("c", {9, 2}, true);
  operand("s", {9, 2}, true);
  weights<int64_t>("first", 7, {1}, {4});
  weights<int64_t>("from_first", 7, {2, 3}, {4, 5, 6, 4, 5, 6});
  weights<int64_t>("each", 7, {2, 3}, {8, 1, 0, 2, 2, 7});
  const Message heads = int_attribute("num_heads", 2), pairs = int_attribute("interleaved", 1);
  ours("RotaryEmbedding", {"x", "first", "c", "s"}, {"y"});
  ours("RotaryEmbedding", {"x", "each", "c", "s"}, {"z"}, {heads, pairs});
  ours("RotaryEmbedding", {"h", "first", "c", "s"}, {"u"}, {pairs});
  plain("RotaryEmbedding", {"x", "c", "s", "from_first"}, {"y"}, {heads});
  plain("RotaryEmbedding", {"x", "c", "s", "each"}, {"z"}, {heads, pairs});
  plain("RotaryEmbedding", {"h", "c", "s", "from_first"}, {"u"}, {pairs});
  expect_same({"y", "z", "u"}, 1e-6);
}

TEST_F(Microsoft, embeddings_and_their_sum) {
  operand("words", {10, 8}, true);
  operand("places", {6, 8}, true);
  operand("segments", {2, 8}, true);
  operand("gamma", {8}, true);
  operand("beta", {8}, true);
  weights<int32_t>("ids", 6, {2, 3}, {1, 9, 4, 0, 2, 2});
  weights<int32_t>("segment", 6, {2, 3}, {0, 0, 1, 1, 0, 1});
  weights<int32_t>("mask", 6, {2, 3}, {1, 1, 0, 1, 1, 1});
  weights<int32_t>("at", 6, {1, 3}, {0, 1, 2});
  ours("EmbedLayerNormalization",
       {"ids", "segment", "words", "places", "segments", "gamma", "beta", "mask"},
       {"y", "lengths", "sum"});
  plain("Gather", {"words", "ids"}, {"w"});
  plain("Gather", {"places", "at"}, {"p"});
  plain("Gather", {"segments", "segment"}, {"s"});
  plain("Sum", {"w", "p", "s"}, {"sum"});
  plain("LayerNormalization", {"sum", "gamma", "beta"}, {"y"}, {real_attribute("epsilon", 1e-12f)});
  weights<int64_t>("one", 7, {1}, {1});
  plain("ReduceSum", {"mask", "one"}, {"lengths"}, {int_attribute("keepdims", 0)});
  expect_same({"y", "lengths", "sum"});
}

TEST_F(Microsoft, masks_of_other_sizes_are_refused) {
  operand("x", {2, 3, 8});
  operand("mask", {2, 2});
  ours_.node("Neg", {"mask"}, {"turned"});
  ours("MultiHeadAttention", {"x", "x", "x", "", "turned"}, {"y"}, {int_attribute("num_heads", 2)});
  EXPECT_NE(error().find("Reshape"), std::string::npos) << error();
}

TEST_F(Microsoft, packed_attention_is_refused) {
  operand("x", {1, 2, 2, 3, 4});
  ours("MultiHeadAttention", {"x"}, {"y"}, {int_attribute("num_heads", 2)});
  EXPECT_NE(error().find("node 'make_y' (com.microsoft.MultiHeadAttention): keys or values are "
                         "packed with the queries"),
            std::string::npos)
      << error();
}

}  // namespace
}  // namespace polyhalite::onnx
