// Models that dequantise in front of each operator and quantise behind it: what is joined computes
// the same, to one step of a value in the middle of two, and what cannot be joined is left alone.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "apps/onnx/session.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::join_quantized_test {
namespace {

constexpr int kUInt8 = 2, kInt8 = 3, kInt32 = 6;

// Values are named; steps of x are "x.q".
class Joined : public testing::Test {
 protected:
  Joined() { b_.import("com.microsoft", 1); }

  std::vector<uint8_t> bytes(size_t n) {
    std::vector<uint8_t> v(n);
    for (uint8_t &b : v) b = static_cast<uint8_t>(bits_());
    return v;
  }
  void scalar(const std::string &name, float scale, int point) {
    b_.weights(name + ".scale", {}, {scale});
    b_.initializer(
        ModelBuilder::tensor<uint8_t>(name + ".point", kUInt8, {}, {static_cast<uint8_t>(point)}));
  }
  // An input of bytes, dequantised.
  void input(const std::string &name, const std::vector<int> &shape, float scale, int point) {
    std::vector<TestDim> dims(shape.begin(), shape.end());
    std::vector<int64_t> sizes(shape.begin(), shape.end());
    b_.input(name + ".q", dims, kUInt8);
    scalar(name, scale, point);
    b_.node("DequantizeLinear", {name + ".q", name + ".scale", name + ".point"}, {name});
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    inputs_[name + ".q"] =
        Constant::of_bytes(ElementType::UInt8, sizes, bytes(static_cast<size_t>(n)));
  }
  // Signed bytes with a scale of each index along the axis, dequantised.
  void kernels(const std::string &name, const std::vector<int64_t> &shape, int64_t axis) {
    int64_t n = 1;
    for (int64_t s : shape) n *= s;
    b_.initializer(ModelBuilder::tensor(name + ".q", kInt8, shape, bytes(static_cast<size_t>(n))));
    const auto count = static_cast<size_t>(shape[static_cast<size_t>(axis)]);
    std::vector<float> scales;
    for (size_t i = 0; i < count; i++) scales.push_back(kernel_scale(i));
    b_.weights(name + ".scale", {static_cast<int64_t>(count)}, scales);
    b_.initializer(ModelBuilder::tensor(name + ".point", kInt8, {static_cast<int64_t>(count)},
                                        std::vector<uint8_t>(count)));
    b_.node("DequantizeLinear", {name + ".q", name + ".scale", name + ".point"}, {name},
            {int_attribute("axis", axis)});
  }
  static float kernel_scale(size_t i) { return 0.01f + 0.001f * static_cast<float>(i); }
  // In steps of the scale of x times those of the kernels.
  void bias(const std::string &name, float x_scale, size_t count) {
    std::vector<int32_t> steps;
    std::vector<float> scales;
    for (size_t i = 0; i < count; i++) {
      steps.push_back(static_cast<int>(bits_() % 2000) - 1000);
      scales.push_back(x_scale * kernel_scale(i));
    }
    const auto n = static_cast<int64_t>(count);
    b_.initializer(ModelBuilder::tensor(name + ".q", kInt32, {n}, steps));
    b_.weights(name + ".scale", {n}, scales);
    b_.initializer(ModelBuilder::tensor(name + ".point", kInt32, {n}, std::vector<int32_t>(count)));
    b_.node("DequantizeLinear", {name + ".q", name + ".scale", name + ".point"}, {name},
            {int_attribute("axis", 0)});
  }
  void quantize(const std::string &name, float scale, int point) {
    scalar(name, scale, point);
    b_.node("QuantizeLinear", {name, name + ".scale", name + ".point"}, {name + ".q"});
  }
  void dequantize(const std::string &name) {
    b_.node("DequantizeLinear", {name + ".q", name + ".scale", name + ".point"}, {name + ".again"});
  }

  // Both engines, joined and not, give the same to this difference; how often each operator is left
  // in the joined graph.
  std::map<std::string, int> run(double most) {
    CompileOptions options;
    const Program p(b_.load(), options);
    const Program::Tensors joined = p.run(inputs_);
    options.engine = Engine::Interpreter;
    const Program::Tensors interpreted = Session(b_.load(), options).run(inputs_);
    options.switched_off = {"join_quantized"};
    const Program::Tensors plain = Session(b_.load(), options).run(inputs_);
    int differing = 0, all = 0;
    for (const auto &[name, t] : joined) {
      for (int64_t i = 0; i < t.elements(); i++) {
        EXPECT_NEAR(t.number(i), interpreted.at(name).number(i), most * 1e-3) << name << " " << i;
        EXPECT_NEAR(t.number(i), plain.at(name).number(i), most) << name << " " << i;
        if (t.type() != ElementType::UInt8) continue;
        differing += t.number(i) != plain.at(name).number(i);
        all++;
      }
    }
    EXPECT_LE(differing, all / 50 + 1);
    std::map<std::string, int> counts;
    for (const Node &n : p.graph().nodes) counts[n.op]++;
    return counts;
  }

  ModelBuilder b_;
  Program::Tensors inputs_;
  std::mt19937 bits_{7};
};

using Counts = std::map<std::string, int>;

TEST_F(Joined, convolution_with_bias_and_relu) {
  input("x", {2, 16, 9, 9}, 0.02f, 120);
  kernels("w", {20, 16, 3, 3}, 0);
  bias("b", 0.02f, 20);
  b_.node("Conv", {"x", "w", "b"}, {"c"}, {ints_attribute("pads", {1, 1, 1, 1})});
  b_.node("Relu", {"c"}, {"y"});
  quantize("y", 0.5f, 3);
  b_.output("y.q");
  EXPECT_EQ(run(1), (Counts{{"QLinearConv", 1}, {"Clip", 1}}));
}

TEST_F(Joined, relu_of_unsigned_steps_is_saturation) {
  input("x", {1, 3, 8, 8}, 0.02f, 120);
  kernels("w", {5, 3, 3, 3}, 0);
  b_.node("Conv", {"x", "w"}, {"c"}, {ints_attribute("strides", {2, 2})});
  b_.node("Relu", {"c"}, {"y"});
  quantize("y", 0.5f, 0);
  b_.output("y.q");
  EXPECT_EQ(run(1), (Counts{{"QLinearConv", 1}}));
}

TEST_F(Joined, convolutions_in_groups_and_between_bounds) {
  input("x", {1, 32, 7, 7}, 0.02f, 128);
  kernels("w", {32, 1, 3, 3}, 0);
  bias("b", 0.02f, 32);
  b_.node("Conv", {"x", "w", "b"}, {"c"},
          {ints_attribute("pads", {1, 1, 1, 1}), int_attribute("group", 32)});
  b_.weights("low", {}, {-1}).weights("high", {}, {6}).node("Clip", {"c", "low", "high"}, {"y"});
  quantize("y", 0.05f, 30);
  dequantize("y");
  kernels("v", {40, 32, 1, 1}, 0);
  b_.node("Conv", {"y.again", "v"}, {"z"});
  quantize("z", 0.1f, 100);
  b_.output("z.q");
  EXPECT_EQ(run(1), (Counts{{"QLinearConv", 2}, {"Clip", 1}}));
}

TEST_F(Joined, products_of_matrices) {
  input("x", {6, 24}, 0.02f, 100);
  kernels("w", {24, 33}, 1);
  b_.node("MatMul", {"x", "w"}, {"y"});
  quantize("y", 0.3f, 120);
  b_.output("y.q");
  EXPECT_EQ(run(1), (Counts{{"QLinearMatMul", 1}}));
}

TEST_F(Joined, products_whose_result_is_a_float) {
  input("x", {6, 24}, 0.02f, 100);
  kernels("w", {24, 33}, 1);
  std::vector<float> shift(33, 0.5f);
  b_.weights("shift", {33}, shift);
  b_.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "shift"}, {"y"}).output("y");
  kernels("v", {10, 24}, 0);
  bias("b", 0.02f, 10);
  b_.node("Gemm", {"x", "v", "b"}, {"z"}, {int_attribute("transB", 1)}).output("z");
  const Counts counts = run(1e-3);
  EXPECT_EQ(counts.at("MatMulInteger"), 2);
  EXPECT_EQ(counts.count("MatMul") + counts.count("Gemm") + counts.count("DequantizeLinear"), 0u);
}

TEST_F(Joined, a_convolution_with_a_bias_of_its_own) {
  input("x", {1, 4, 6, 6}, 0.02f, 100);
  kernels("w", {3, 4, 3, 3}, 0);
  b_.weights("b", {3}, {1, -2, 0.25f});
  b_.node("Conv", {"x", "w", "b"}, {"y"}).output("y");
  const Counts counts = run(1e-3);
  EXPECT_EQ(counts.at("ConvInteger"), 1);
  EXPECT_EQ(counts.count("Conv"), 0u);
}

TEST_F(Joined, what_moves_elements_moves_steps) {
  input("x", {1, 4, 6, 6}, 0.02f, 100);
  b_.node("MaxPool", {"x"}, {"p"}, {ints_attribute("kernel_shape", {2, 2})});
  quantize("p", 0.02f, 100);
  dequantize("p");
  b_.node("Transpose", {"p.again"}, {"t"}, {ints_attribute("perm", {0, 2, 3, 1})});
  quantize("t", 0.02f, 100);
  b_.output("t.q");
  EXPECT_EQ(run(0.5), (Counts{{"MaxPool", 1}, {"Transpose", 1}}));
}

TEST_F(Joined, other_scales_are_not_moved) {
  input("x", {1, 4, 6, 6}, 0.02f, 100);
  b_.node("Transpose", {"x"}, {"t"}, {ints_attribute("perm", {0, 2, 3, 1})});
  quantize("t", 0.03f, 100);
  b_.output("t.q");
  EXPECT_EQ(run(0.5), (Counts{{"DequantizeLinear", 1}, {"Transpose", 1}, {"QuantizeLinear", 1}}));
}

TEST_F(Joined, parts_and_averages) {
  input("x", {1, 6, 4, 4}, 0.02f, 100);
  input("z", {1, 2, 4, 4}, 0.03f, 50);
  b_.node("Concat", {"x", "z"}, {"c"}, {int_attribute("axis", 1)});
  quantize("c", 0.025f, 110);
  dequantize("c");
  b_.node("Split", {"c.again"}, {"l", "r"},
          {int_attribute("axis", 1), int_attribute("num_outputs", 2)});
  quantize("l", 0.025f, 110);
  quantize("r", 0.025f, 110);
  dequantize("l");
  b_.node("GlobalAveragePool", {"l.again"}, {"a"});
  quantize("a", 0.02f, 100);
  b_.output("a.q").output("r.q");
  EXPECT_EQ(run(1), (Counts{{"QLinearConcat", 1}, {"Split", 1}, {"QLinearGlobalAveragePool", 1}}));
}

// What somebody else reads stays, and so does a bias in other steps.
TEST_F(Joined, results_that_are_read_twice_stay) {
  input("x", {1, 4, 6, 6}, 0.02f, 100);
  kernels("w", {3, 4, 3, 3}, 0);
  bias("b", 0.04f, 3);
  b_.node("Conv", {"x", "w"}, {"y"});
  quantize("y", 0.5f, 100);
  b_.output("y.q").output("y");
  b_.node("Conv", {"x", "w", "b"}, {"z"});
  quantize("z", 0.5f, 100);
  b_.output("z.q");
  const Counts counts = run(1);
  EXPECT_EQ(counts.count("QLinearConv"), 0u);
  EXPECT_EQ(counts.at("QuantizeLinear"), 2);
}

// Scales and zero points that do not fit are left to what tells of them.
TEST_F(Joined, numbers_of_scales_that_do_not_fit) {
  struct Case {
    int64_t axis, scales, points;
  };
  for (const Case &c : {Case{0, 7, 7}, {0, 0, 0}, {-9, 3, 3}, {5, 3, 3}, {0, 3, 2}, {0, 1, 0}}) {
    ModelBuilder b;
    b.input("x", {1, 4, 6, 6}, kUInt8).weights("s", {}, {0.1f});
    b.initializer(ModelBuilder::tensor<uint8_t>("p", kUInt8, {}, {3}));
    b.initializer(ModelBuilder::tensor("q", kInt8, {3, 4, 1, 1}, bytes(12)));
    b.weights("scales", {c.scales}, std::vector<float>(static_cast<size_t>(c.scales), 0.5f));
    b.initializer(ModelBuilder::tensor("points", kInt8, {c.points},
                                       std::vector<uint8_t>(static_cast<size_t>(c.points))));
    b.node("DequantizeLinear", {"x", "s", "p"}, {"r"});
    b.node("DequantizeLinear", {"q", "scales", "points"}, {"w"}, {int_attribute("axis", c.axis)});
    b.node("Conv", {"r", "w"}, {"c"}).node("QuantizeLinear", {"c", "s", "p"}, {"y"}).output("y");
    EXPECT_THROW(Program(b.load(), {}), CompileError)
        << c.axis << " " << c.scales << " " << c.points;
  }
}

// Weights of an operator that has no form on steps are floats before anything is compiled, also
// more of them than are computed while shapes are inferred.
TEST_F(Joined, dequantised_weights_are_constants) {
  input("x", {1, 256, 2, 2}, 0.02f, 100);
  kernels("w", {256, 272, 2, 2}, 1);
  b_.node("ConvTranspose", {"x", "w"}, {"y"}, {ints_attribute("strides", {2, 2})}).output("y");
  const Counts counts = run(1);
  EXPECT_EQ(counts.at("DequantizeLinear"), 1);  // of x
}

}  // namespace
}  // namespace polyhalite::onnx::join_quantized_test
