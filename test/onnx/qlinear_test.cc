// Operators of com.microsoft from bytes to bytes, against dequantisation, operator, quantisation
// one after the other; and those that the main domain has as well.
#include <gtest/gtest.h>

#include <cmath>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::qlinear_test {
namespace {

class QLinear : public Microsoft {
 protected:
  // Bytes that are known to nobody before the run, and steps of them under the names x.s and x.z.
  void bytes(const std::string &name, const Shape64 &shape, float scale, int64_t zero) {
    const std::vector<uint8_t> v = random_bytes(count(shape), static_cast<uint32_t>(++seed_));
    for (ModelBuilder *b : {&ours_, &plain_})
      b->input(name, std::vector<TestDim>(shape.begin(), shape.end()), type_);
    in_[name] = Constant::of_bytes(static_cast<ElementType>(type_), shape, v);
    steps(name, scale, zero);
    plain("DequantizeLinear", {name, name + ".s", name + ".z"}, {name + ".f"});
  }
  void steps(const std::string &name, float scale, int64_t zero) {
    weights<float>(name + ".s", 1, {}, {scale});
    weights<uint8_t>(name + ".z", type_, {}, {static_cast<uint8_t>(zero)});
  }
  // `y` of the plain model is what `y.f` has there, in steps.
  void expect_steps(float scale, int64_t zero) {
    steps("y", scale, zero);
    plain("QuantizeLinear", {"y.f", "y.s", "y.z"}, {"y"});
  }
  void expect_steps_near() {
    plain_.output("y");
    const Constant got = Session(ours_.load()).run(in_).at("y"),
                   wanted = Session(plain_.load(), unjoined()).run(in_).at("y");
    EXPECT_EQ(got.type(), wanted.type());
    ASSERT_EQ(got.shape(), wanted.shape());
    int64_t different = 0;
    for (int64_t i = 0; i < got.elements(); i++) {
      ASSERT_NEAR(got.number(i), wanted.number(i), 1) << i;  // halves may be rounded either way
      different += got.number(i) != wanted.number(i);
    }
    EXPECT_LE(different, got.elements() / 10);
  }
  static CompileOptions unjoined() {
    CompileOptions options;
    options.switched_off = {"join_quantized"};
    return options;
  }
  void of_type(int type) {
    type_ = type;
    ours_ = ModelBuilder(23);
    ours_.import("com.microsoft", 1);
    plain_ = ModelBuilder(23);
    in_.clear();
  }

  int type_ = 2, seed_ = 0;
};

constexpr int kBytes[] = {2, 3};

TEST_F(QLinear, of_two_operands) {
  for (int type : kBytes) {
    for (const char *op : {"Add", "Mul"}) {
      SCOPED_TRACE(std::string(op) + std::to_string(type));
      of_type(type);
      bytes("a", {2, 3, 20}, 0.1f, 3);
      bytes("b", {20}, 0.05f, 7);
      ours(std::string("QLinear") + op, {"a", "a.s", "a.z", "b", "b.s", "b.z", "y.s", "y.z"},
           {"y"});
      plain(op, {"a.f", "b.f"}, {"y.f"});
      expect_steps(0.2f, 5);
      expect_steps_near();
    }
  }
}

TEST_F(QLinear, of_one_operand) {
  struct One {
    const char *ours, *plain;
    std::vector<Message> attributes, of_plain;
  };
  const One all[] = {{"QLinearSigmoid", "Sigmoid", {}, {}},
                     {"QLinearLeakyRelu",
                      "LeakyRelu",
                      {real_attribute("alpha", 0.2f)},
                      {real_attribute("alpha", 0.2f)}},
                     {"QLinearSoftmax",
                      "Softmax",
                      {int_attribute("axis", 1), int_attribute("opset", 13)},
                      {int_attribute("axis", 1)}},
                     {"QLinearAveragePool",
                      "AveragePool",
                      {ints_attribute("kernel_shape", {3, 2}), ints_attribute("pads", {1, 0, 1, 0}),
                       ints_attribute("strides", {2, 1})},
                      {ints_attribute("kernel_shape", {3, 2}), ints_attribute("pads", {1, 0, 1, 0}),
                       ints_attribute("strides", {2, 1})}},
                     {"QLinearGlobalAveragePool", "GlobalAveragePool", {}, {}}};
  for (int type : kBytes) {
    for (const One &o : all) {
      SCOPED_TRACE(std::string(o.ours) + std::to_string(type));
      of_type(type);
      bytes("x", {2, 3, 7, 6}, 0.05f, 9);
      ours(o.ours, {"x", "x.s", "x.z", "y.s", "y.z"}, {"y"}, o.attributes);
      plain(o.plain, {"x.f"}, {"y.f"}, o.of_plain);
      expect_steps(0.01f, 2);
      expect_steps_near();
    }
  }
}

// All cells of a window count, also where its last row lies beyond the padding.
TEST_F(QLinear, means_of_windows_beyond_the_padding) {
  of_type(2);
  bytes("x", {1, 3, 14, 5}, 0.05f, 9);
  const std::vector<Message> shared{ints_attribute("kernel_shape", {3, 3}),
                                    ints_attribute("strides", {2, 2}),
                                    int_attribute("count_include_pad", 1)};
  std::vector<Message> own = shared, of_plain = shared;
  own.push_back(ints_attribute("pads", {1, 1, 1, 1}));
  own.push_back(int_attribute("ceil_mode", 1));
  of_plain.push_back(ints_attribute("pads", {1, 1, 2, 1}));
  ours("QLinearAveragePool", {"x", "x.s", "x.z", "y.s", "y.z"}, {"y"}, own);
  plain("AveragePool", {"x.f"}, {"y.f"}, of_plain);
  expect_steps(0.01f, 2);
  expect_steps_near();
}

// Softmax of old versions is one of all dimensions from the axis on.
TEST_F(QLinear, softmax_of_old_versions) {
  of_type(2);
  bytes("x", {2, 3, 5}, 0.05f, 9);
  ours("QLinearSoftmax", {"x", "x.s", "x.z", "y.s", "y.z"}, {"y"},
       {int_attribute("axis", 1), int_attribute("opset", 12)});
  weights<int64_t>("flat", 7, {2}, {2, 15});
  weights<int64_t>("shape", 7, {3}, {2, 3, 5});
  plain("Reshape", {"x.f", "flat"}, {"r"});
  plain("Softmax", {"r"}, {"t"}, {int_attribute("axis", 1)});
  plain("Reshape", {"t", "shape"}, {"y.f"});
  expect_steps(1 / 256.0f, 0);
  expect_steps_near();
}

TEST_F(QLinear, images_with_channels_last) {
  for (int type : kBytes) {
    for (const char *op : {"AveragePool", "GlobalAveragePool", "Conv", "MaxPool"}) {
      SCOPED_TRACE(std::string(op) + std::to_string(type));
      of_type(type);
      const std::string name = op;
      bytes("x", {2, 6, 7, 3}, 0.05f, 9);
      std::vector<Message> attributes;
      if (name == "AveragePool" || name == "MaxPool")
        attributes = {ints_attribute("kernel_shape", {2, 3})};
      std::vector<Message> last = attributes;
      last.push_back(int_attribute("channels_last", 1));
      plain("Transpose", {"x.f"}, {"t"}, {ints_attribute("perm", {0, 3, 1, 2})});
      Names operands{"t"};
      if (name == "Conv") {
        weights<uint8_t>("w", type, {4, 3, 2, 2}, random_bytes(48, 5));
        steps("w", 0.02f, type == 2 ? 7 : 0);
        weights<int32_t>("b", 6, {4}, {100, -200, 0, 7});
        weights<float>("b.s", 1, {}, {0.05f * 0.02f});
        ours("QLinearConv", {"x", "x.s", "x.z", "w", "w.s", "w.z", "y.s", "y.z", "b"}, {"y"}, last);
        plain("DequantizeLinear", {"w", "w.s", "w.z"}, {"w.f"});
        plain("DequantizeLinear", {"b", "b.s"}, {"b.f"});
        operands = {"t", "w.f", "b.f"};
      } else if (name == "MaxPool") {
        ours("NhwcMaxPool", {"x"}, {"y"}, attributes);
      } else {
        ours("QLinear" + name, {"x", "x.s", "x.z", "y.s", "y.z"}, {"y"}, last);
      }
      plain(op, operands, {"u"}, attributes);
      plain("Transpose", {"u"}, {"y.f"}, {ints_attribute("perm", {0, 2, 3, 1})});
      if (name == "MaxPool") {
        expect_steps(0.05f, 9);
      } else {
        expect_steps(name == "Conv" ? 0.3f : 0.03f, 2);
      }
      expect_steps_near();
    }
  }
}

TEST_F(QLinear, parts_and_choices) {
  for (int type : kBytes) {
    of_type(type);
    bytes("a", {2, 3}, 0.1f, 4);
    bytes("b", {2, 5}, 0.2f, 1);
    ours("QLinearConcat", {"y.s", "y.z", "a", "a.s", "a.z", "b", "b.s", "b.z"}, {"y"},
         {int_attribute("axis", 1)});
    plain("Concat", {"a.f", "b.f"}, {"y.f"}, {int_attribute("axis", 1)});
    expect_steps(0.15f, 8);
    expect_steps_near();
    of_type(type);
    bytes("a", {2, 3}, 0.1f, 4);
    bytes("b", {2, 3}, 0.2f, 1);
    weights<uint8_t>("c", 9, {2, 1}, {1, 0});
    ours("QLinearWhere", {"c", "a", "a.s", "a.z", "b", "b.s", "b.z", "y.s", "y.z"}, {"y"});
    plain("Where", {"c", "a.f", "b.f"}, {"y.f"});
    expect_steps(0.15f, 8);
    expect_steps_near();
  }
}

// With the right operand's scale for each column, and results that are numbers.
TEST_F(QLinear, products_of_matrices) {
  for (int type : kBytes) {
    for (const bool numbers : {false, true}) {
      of_type(type);
      bytes("a", {5, 3}, 0.1f, 4);
      const std::vector<uint8_t> w = random_bytes(20, 6);
      weights<uint8_t>("w", type, {4, 5}, w);
      weights<float>("ws", 1, {4}, {0.02f, 0.03f, 0.01f, 0.05f});
      weights<uint8_t>("wz", type, {4}, {1, 1, 1, 1});
      weights<int32_t>("c", 6, {4}, {100, -200, 0, 7});
      Names in{"a", "a.s", "a.z", "w", "ws", "wz", "c"};
      if (!numbers) in.insert(in.end(), {"y.s", "y.z"});
      ours("QGemm", in, {"y"},
           {int_attribute("transA", 1), int_attribute("transB", 1), real_attribute("alpha", 0.5f)});
      plain("DequantizeLinear", {"w", "ws", "wz"}, {"w.f"}, {int_attribute("axis", 0)});
      weights<float>("cs", 1, {4}, {0.002f, 0.003f, 0.001f, 0.005f});
      plain("DequantizeLinear", {"c", "cs"}, {"c.f"}, {int_attribute("axis", 0)});
      plain("Gemm", {"a.f", "w.f", "c.f"}, {numbers ? "y" : "y.f"},
            {int_attribute("transA", 1), int_attribute("transB", 1), real_attribute("alpha", 0.5f),
             real_attribute("beta", 0.5f)});
      if (numbers) {
        expect_same({"y"}, 1e-4);
      } else {
        expect_steps(0.3f, 3);
        expect_steps_near();
      }
    }
  }
}

TEST_F(QLinear, attention_with_weights_of_bytes) {
  for (int type : kBytes) {
    of_type(type);
    bytes("w", {6, 24}, 0.01f, type == 2 ? 128 : 0);
    const int weight_type = type_;
    type_ = 2;
    bytes("x", {2, 3, 6}, 0.02f, 120);
    type_ = weight_type;
    operand("b", {24}, true);
    weights<int32_t>("mask", 6, {2, 3}, {1, 1, 1, 1, 0, 1});
    const std::vector<Message> heads{int_attribute("num_heads", 2),
                                     int_attribute("unidirectional", 1)};
    ours("QAttention", {"x", "w", "b", "x.s", "w.s", "mask", "x.z", "w.z"}, {"y", "present"},
         heads);
    plain_.import("com.microsoft", 1);
    plain_.node("Attention", {"x.f", "w.f", "b", "mask"}, {"y", "present"}, heads, "com.microsoft");
    expect_same({"y", "present"}, 1e-5);
  }
}

TEST_F(QLinear, embeddings_in_tables_of_bytes) {
  for (int type : kBytes) {
    of_type(type);
    Names in{"ids", "segment"};
    const std::pair<const char *, Shape64> tables[] = {{"words", {10, 8}},
                                                       {"places", {6, 8}},
                                                       {"segments", {2, 8}},
                                                       {"gamma", {8}},
                                                       {"beta", {8}}};
    for (const auto &[name, shape] : tables) {
      weights<uint8_t>(name, type, shape,
                       random_bytes(count(shape), static_cast<uint32_t>(++seed_)));
      steps(name, 0.01f * static_cast<float>(in.size()), 3);
      plain("DequantizeLinear", {name, std::string(name) + ".s", std::string(name) + ".z"},
            {std::string(name) + ".f"});
      in.emplace_back(name);
    }
    in.emplace_back("mask");
    for (const char *part : {".s", ".z"}) {
      for (const auto &[name, shape] : tables) in.push_back(std::string(name) + part);
    }
    weights<int32_t>("ids", 6, {2, 3}, {1, 9, 4, 0, 2, 2});
    weights<int32_t>("segment", 6, {2, 3}, {0, 0, 1, 1, 0, 1});
    weights<int32_t>("mask", 6, {2, 3}, {1, 1, 0, 1, 1, 1});
    ours("QEmbedLayerNormalization", in, {"y", "lengths"}, {real_attribute("epsilon", 1e-5f)});
    plain_.import("com.microsoft", 1);
    plain_.node(
        "EmbedLayerNormalization",
        {"ids", "segment", "words.f", "places.f", "segments.f", "gamma.f", "beta.f", "mask"},
        {"y", "lengths"}, {real_attribute("epsilon", 1e-5f)}, "com.microsoft");
    expect_same({"y", "lengths"}, 1e-5);
  }
}

TEST_F(QLinear, operators_of_the_main_domain) {
  of_type(2);
  operand("x", {4, 5});
  operand("z", {3, 5});
  weights<int64_t>("k", 7, {}, {1});
  weights<int64_t>("axis", 7, {}, {-1});
  weights<int64_t>("axes", 7, {1}, {-1});
  weights<int64_t>("pads", 7, {4}, {1, 0, 0, 2});
  weights<int64_t>("places", 7, {2, 2}, {1, 2, 3, 0});
  weights<float>("three", 1, {}, {3});
  const std::vector<Message> low{int_attribute("upper", 0)};
  ours("Trilu", {"x", "k"}, {"t"}, low);
  plain("Trilu", {"x", "k"}, {"t"}, low);
  ours("Pad", {"x", "pads", "three"}, {"p"});
  plain("Pad", {"x", "pads", "three"}, {"p"});
  ours("GatherND", {"x", "places"}, {"g"});
  plain("GatherND", {"x", "places"}, {"g"});
  ours("ExpandDims", {"x", "axis"}, {"e"});
  plain("Unsqueeze", {"x", "axes"}, {"e"});
  expect_same({"t", "p", "g", "e"}, 0);
}

TEST_F(QLinear, distances_of_all_pairs) {
  const std::vector<float> x = operand("x", {4, 5}), z = operand("z", {3, 5});
  ours("CDist", {"x", "z"}, {"y"}, {text_attribute("metric", "euclidean")});
  ours("CDist", {"x", "z"}, {"s"}, {text_attribute("metric", "sqeuclidean")});
  std::vector<double> squares, roots;
  for (size_t i = 0; i < 12; i++) {
    double sum = 0;
    for (size_t k = 0; k < 5; k++) {
      const double d = static_cast<double>(x[i / 3 * 5 + k]) - z[i % 3 * 5 + k];
      sum += d * d;
    }
    squares.push_back(sum);
    roots.push_back(std::sqrt(sum));
  }
  expect("s", {4, 3}, squares);
  expect("y", {4, 3}, roots);
}

TEST_F(QLinear, refused_with_reasons) {
  operand("x", {4, 5});
  ours("CDist", {"x", "x"}, {"y"}, {text_attribute("metric", "cosine")});
  EXPECT_NE(error().find("node 'make_y' (com.microsoft.CDist): its metric is 'cosine'"),
            std::string::npos)
      << error();
  of_type(2);
  bytes("x", {4, 5}, 0.1f, 1);
  steps("y", 0.1f, 1);
  ours("QLinearConcat", {"y.s", "y.z", "x", "x.s", "x.z", "x"}, {"y"});
  EXPECT_NE(error().find("it has 6 operands\n  why: they are a scale and a zero point, and three "
                         "for each part"),
            std::string::npos)
      << error();
}

}  // namespace
}  // namespace polyhalite::onnx::qlinear_test
