// Operators of com.microsoft that quantised models have, against arithmetic in doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "apps/onnx/session.h"
#include "polyhalite/ops.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::quantized_test {
namespace {

constexpr int kByte = 2;

std::vector<uint8_t> random_bytes(size_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<uint8_t> v(n);
  for (uint8_t &b : v) b = static_cast<uint8_t>(bits());
  return v;
}

double real(uint8_t v, double scale, int point) { return (v - point) * scale; }

// A model of one node with bytes x (scale 1/64, zero point 120) and z (scale 1/32, zero point 99),
// whose result has scale 1/16 and zero point 100.
class Quantized : public testing::Test {
 protected:
  ModelBuilder model(const std::string &op, const std::vector<std::string> &operands,
                     const std::vector<Message> &attributes, const std::vector<TestDim> &shape,
                     const std::vector<TestDim> &second) {
    ModelBuilder b;
    b.import("com.microsoft", 1);
    b.input("x", shape, kByte).input("z", second, kByte);
    b.weights("xs", {}, {1.0f / 64}).weights("zs", {}, {1.0f / 32}).weights("ys", {}, {1.0f / 16});
    for (const auto &[name, v] : {std::pair{"xp", 120}, {"zp", 99}, {"yp", 100}})
      b.initializer(ModelBuilder::tensor<uint8_t>(name, kByte, {}, {static_cast<uint8_t>(v)}));
    b.node(op, operands, {"y"}, attributes, "com.microsoft").output("y");
    return b;
  }
  // At most one step of a value that lies in the middle of two.
  static void expect(const Constant &y, const std::vector<double> &wanted) {
    ASSERT_EQ(y.elements(), static_cast<int64_t>(wanted.size()));
    for (int64_t i = 0; i < y.elements(); i++) {
      const double exact = std::clamp(wanted[static_cast<size_t>(i)] * 16 + 100, 0.0, 255.0);
      ASSERT_LE(std::fabs(static_cast<double>(y.integer_at(i)) - exact), 0.5001) << i;
    }
  }
  static Constant bytes(const std::vector<int64_t> &shape, const std::vector<uint8_t> &v) {
    return Constant::of_bytes(ElementType::UInt8, shape, v);
  }
  std::vector<uint8_t> x_ = random_bytes(60, 1), z_ = random_bytes(60, 2);
  double x(size_t i) const { return real(x_[i], 1.0 / 64, 120); }
  double z(size_t i) const { return real(z_[i], 1.0 / 32, 99); }
};

TEST_F(Quantized, products_and_parts) {
  const std::vector<TestDim> dims{2, 3, 10};
  const Program::Tensors in{{"x", bytes({2, 3, 10}, x_)}, {"z", bytes({2, 3, 10}, z_)}};
  std::vector<double> product, parts;
  for (size_t i = 0; i < 60; i++) product.push_back(x(i) * z(i));
  for (size_t image = 0; image < 2; image++) {
    for (size_t i = 0; i < 30; i++) parts.push_back(x(image * 30 + i));
    for (size_t i = 0; i < 30; i++) parts.push_back(z(image * 30 + i));
  }
  const ModelBuilder multiply =
      model("QLinearMul", {"x", "xs", "xp", "z", "zs", "zp", "ys", "yp"}, {}, dims, dims);
  expect(Session(multiply.load()).run(in).at("y"), product);
  const ModelBuilder join = model("QLinearConcat", {"ys", "yp", "x", "xs", "xp", "z", "zs", "zp"},
                                  {int_attribute("axis", 1)}, dims, dims);
  const Constant y = Session(join.load()).run(in).at("y");
  EXPECT_EQ(y.shape(), (std::vector<int64_t>{2, 6, 10}));
  expect(y, parts);
}

TEST_F(Quantized, functions_and_means) {
  const std::vector<TestDim> dims{1, 2, 5, 6};
  const Program::Tensors in{{"x", bytes({1, 2, 5, 6}, x_)}, {"z", bytes({1}, {0})}};
  const std::vector<std::string> operands{"x", "xs", "xp", "ys", "yp"};
  std::vector<double> sigmoid, leaky, means(2);
  for (size_t i = 0; i < 60; i++) {
    sigmoid.push_back(1 / (1 + std::exp(-x(i))));
    leaky.push_back(x(i) < 0 ? x(i) * 0.01 : x(i));
    means[i / 30] += x(i) / 30;
  }
  expect(Session(model("QLinearSigmoid", operands, {}, dims, {1}).load()).run(in).at("y"), sigmoid);
  expect(Session(model("QLinearLeakyRelu", operands, {}, dims, {1}).load()).run(in).at("y"), leaky);
  expect(Session(model("QLinearGlobalAveragePool", operands, {}, dims, {1}).load()).run(in).at("y"),
         means);
}

// x times its sigmoid between quantisations, of an input and of a convolution's results: whatever
// follows from one byte is looked up, where the processor looks up bytes.
TEST_F(Quantized, functions_of_a_byte_with_two_uses) {
  constexpr int64_t kChannels = 16, kSize = 18;
  const std::vector<uint8_t> pixels = random_bytes(kChannels * kSize * kSize, 5);
  const std::vector<uint8_t> kernels = random_bytes(kChannels * kChannels, 6);
  for (const bool convolved : {false, true}) {
    ModelBuilder b;
    const int channels = kChannels, size = kSize;
    b.input("x", {1, channels, size, size}, kByte);
    b.weights("s", {}, {1.0f / 32}).weights("ys", {}, {1.0f / 16});
    for (const auto &[name, v] : {std::pair{"p", 120}, {"yp", 100}})
      b.initializer(ModelBuilder::tensor<uint8_t>(name, kByte, {}, {static_cast<uint8_t>(v)}));
    std::string bytes_of = "x";
    if (convolved) {
      b.initializer(ModelBuilder::tensor<uint8_t>("w", 3, {kChannels, kChannels, 1, 1}, kernels));
      b.initializer(ModelBuilder::tensor<uint8_t>("wp", 3, {}, {0}));
      b.weights("ws", {}, {1.0f / 256});
      b.node("QLinearConv", {"x", "s", "p", "w", "ws", "wp", "s", "p"}, {"c"});
      bytes_of = "c";
    }
    b.node("DequantizeLinear", {bytes_of, "s", "p"}, {"r"});
    b.node("Sigmoid", {"r"}, {"g"}).node("QuantizeLinear", {"g", "ys", "yp"}, {"gq"});
    b.node("DequantizeLinear", {"gq", "ys", "yp"}, {"gr"}).node("Mul", {"r", "gr"}, {"m"});
    b.node("QuantizeLinear", {"m", "ys", "yp"}, {"y"}).output("y");
    const Program::Tensors in{{"x", bytes({1, kChannels, kSize, kSize}, pixels)}};
    const Program program(b.load(), {});
    CompileOptions node_by_node;
    node_by_node.optimize = false;
    const Constant y = program.run(in).at("y");
    const Constant wanted = Program(b.load(), node_by_node).run(in).at("y");
    EXPECT_EQ(y.packed(), wanted.packed());
    if (!get_jit_target_from_environment().has_feature(Target::AVX512_Cannonlake)) continue;
    ASSERT_EQ(program.kernels().size(), 1u) << program.report();
    const auto &funcs = program.kernels()[0].pipeline->algorithm.funcs;
    const auto tables = std::count_if(
        funcs.begin(), funcs.end(), [](const FuncDef &f) { return f.name.rfind("table", 0) == 0; });
    EXPECT_EQ(tables, 1);
  }
}

// Sums of known weights are operands, and results the same as with sums that the kernel makes.
TEST_F(Quantized, known_weights_are_summed_once) {
  // Steps of 16 bits have lost their zero point.
  const bool wide = ops::widens_bytes(UInt(8), Int(8), get_jit_target_from_environment());
  const auto check = [&](ModelBuilder &b, const Program::Tensors &in, bool has_sums) {
    const Program program(b.load(), {});
    CompileOptions without;
    without.switched_off = {"sum_weights"};
    EXPECT_EQ(program.run(in).at("y").packed(),
              Program(b.load(), without).run(in).at("y").packed());
    EXPECT_EQ(to_text(program.graph()).find(".sums") != std::string::npos, has_sums)
        << to_text(program.graph());
  };
  const auto start = [&](const std::vector<TestDim> &shape, const std::vector<int64_t> &weights,
                         int point) {
    ModelBuilder b;
    b.input("x", shape, kByte).weights("s", {}, {1.0f / 64}).weights("ys", {}, {4.0f});
    int64_t n = 1;
    for (const int64_t d : weights) n *= d;
    b.initializer(ModelBuilder::tensor("w", 3, weights, random_bytes(static_cast<size_t>(n), 7)));
    b.initializer(ModelBuilder::tensor<uint8_t>("p", kByte, {}, {static_cast<uint8_t>(point)}));
    b.initializer(ModelBuilder::tensor<uint8_t>("wp", 3, {}, {3}));
    return b;
  };
  for (const int point : {0, 120}) {
    const Program::Tensors rows{{"x", bytes({6, 10}, x_)}};
    ModelBuilder product = start({6, 10}, {10, 40}, point);
    product.node("MatMulInteger", {"x", "w", "p", "wp"}, {"y"}).output("y");
    check(product, rows, point != 0);
    ModelBuilder linear = start({6, 10}, {10, 40}, point);
    linear.node("QLinearMatMul", {"x", "s", "p", "w", "s", "wp", "ys", "p"}, {"y"}).output("y");
    check(linear, rows, point != 0);
    const std::vector<uint8_t> pixels = random_bytes(16 * 81, 8);
    const Program::Tensors image{{"x", bytes({1, 16, 9, 9}, pixels)}};
    ModelBuilder convolution = start({1, 16, 9, 9}, {20, 16, 3, 3}, point);
    convolution
        .node("ConvInteger", {"x", "w", "p", "wp"}, {"y"}, {ints_attribute("pads", {1, 1, 1, 1})})
        .output("y");
    check(convolution, image, point != 0 && !wide);
    ModelBuilder quantized = start({1, 16, 9, 9}, {20, 16, 3, 3}, point);
    quantized.node("QLinearConv", {"x", "s", "p", "w", "s", "wp", "ys", "p"}, {"y"}).output("y");
    check(quantized, image, point != 0 && !wide);
  }
}

// Weights that fill strips are packed before the model runs, with the same results as those that
// each run packs, for rows that do and do not fill tiles; strips of 16 are those of AVX-512.
TEST_F(Quantized, known_weights_are_packed_once) {
  const auto fill_strips = [](int columns) {
    return ops::dot_strips(UInt(8), Int(8), columns, get_jit_target_from_environment()).has_value();
  };
  const auto check = [&](ModelBuilder &b, const Program::Tensors &in, bool packs) {
    const Program program(b.load(), {});
    CompileOptions without;
    without.switched_off = {"pack_bytes"};
    EXPECT_EQ(program.run(in).at("y").packed(),
              Program(b.load(), without).run(in).at("y").packed());
    EXPECT_EQ(to_text(program.graph()).find(".packed") != std::string::npos, packs)
        << to_text(program.graph());
    if (!packs) return;
    // Nothing copies them.
    for (const Directive &d : program.kernels().back().pipeline->directives) {
      EXPECT_NE(d.func.substr(0, 5), "right") << directive_name(d.kind);
      EXPECT_NE(d.func.substr(0, 7), "kernels") << directive_name(d.kind);
    }
  };
  const auto start = [&](const std::vector<TestDim> &shape, const std::vector<int64_t> &weights) {
    ModelBuilder b;
    b.input("x", shape, kByte).weights("s", {}, {1.0f / 64}).weights("ys", {}, {4.0f});
    int64_t n = 1;
    for (const int64_t d : weights) n *= d;
    b.initializer(ModelBuilder::tensor("w", 3, weights, random_bytes(static_cast<size_t>(n), 7)));
    b.initializer(ModelBuilder::tensor<uint8_t>("p", kByte, {}, {120}));
    b.initializer(ModelBuilder::tensor<uint8_t>("wp", 3, {}, {0}));
    return b;
  };
  for (const int rows : {1, 6, 41}) {
    const auto elements = static_cast<size_t>(rows) * 12;
    const Program::Tensors in{{"x", bytes({rows, 12}, random_bytes(elements, 3))}};
    // Tiles of 80 and 112 columns end before others do.
    for (const int columns : {16, 80, 112, 40}) {
      ModelBuilder product = start({rows, 12}, {12, columns});
      product.node("MatMulInteger", {"x", "w", "p", "wp"}, {"y"}).output("y");
      check(product, in, fill_strips(columns));
      ModelBuilder linear = start({rows, 12}, {12, columns});
      linear.node("QLinearMatMul", {"x", "s", "p", "w", "s", "wp", "ys", "p"}, {"y"}).output("y");
      check(linear, in, fill_strips(columns));
    }
  }
  // Products of many channels fill strips; other kernels are packed as they are.
  struct Case {
    int64_t channels, results, cells, groups;
    bool packs;
  };
  const bool has_dots = fill_strips(4);
  // Zeros fill the last pair, or the last four bytes of kernels of several cells.
  const bool pairs = ops::widens_bytes(UInt(8), Int(8), get_jit_target_from_environment());
  for (const Case &c : {Case{16, 48, 1, 1, fill_strips(48)},
                        {18, 48, 1, 1, pairs},
                        {16, 40, 1, 1, fill_strips(40)},
                        {20, 80, 3, 1, has_dots},
                        {3, 40, 3, 1, has_dots},
                        {8, 48, 1, 1, has_dots},
                        {40, 48, 3, 2, has_dots},
                        {24, 48, 3, 2, has_dots},
                        {24, 12, 3, 4, false},
                        {12, 48, 3, 2, false}}) {
    const std::vector<uint8_t> pixels = random_bytes(static_cast<size_t>(c.channels) * 11 * 9, 8);
    const Program::Tensors image{{"x", bytes({1, c.channels, 11, 9}, pixels)}};
    ModelBuilder b = start({1, static_cast<int>(c.channels), 11, 9},
                           {c.results, c.channels / c.groups, c.cells, c.cells});
    b.node("QLinearConv", {"x", "s", "p", "w", "s", "wp", "ys", "p"}, {"y"},
           {int_attribute("group", static_cast<int>(c.groups))});
    b.output("y");
    check(b, image, c.packs);
  }
}

// Where processors multiply pairs of 16 bits, weights are laid out so, less their zero points, for
// 16 rows or pixels and more; kernels that gain by it are transformed. Results are those of the
// plain interpreter.
TEST_F(Quantized, weights_of_pairs) {
  const Target host = get_jit_target_from_environment();
  const std::vector<Target::Feature> features{Target::SSE41, Target::AVX, Target::AVX2, Target::FMA,
                                              Target::F16C};
  if (host.arch != Target::X86 || !host.features_all_of(features)) GTEST_SKIP() << "no AVX2 here";
  CompileOptions avx2, interpreter;
  avx2.target = Target(host.os, Target::X86, 64, features);
  interpreter.engine = Engine::Interpreter;
  interpreter.optimize = false;
  enum class Point { None, Known, OfEach, Given };
  const auto check = [&](const std::vector<TestDim> &shape, const std::vector<int64_t> &weights,
                         const std::vector<Message> &attributes, Point of_weights,
                         const std::string &form) {
    const bool convolution = weights.size() > 2;
    const int64_t results = weights[convolution ? 0 : 1];
    int64_t n = 1, pixels = 1;
    for (const int64_t d : weights) n *= d;
    std::vector<int64_t> sizes;
    for (const TestDim &d : shape) {
      sizes.push_back(d.value);
      pixels *= d.value;
    }
    ModelBuilder b;
    b.input("x", shape, kByte).weights("s", {}, {1.0f / 64}).weights("ys", {}, {8.0f});
    b.initializer(ModelBuilder::tensor("w", 3, weights, random_bytes(static_cast<size_t>(n), 7)));
    b.initializer(ModelBuilder::tensor<uint8_t>("p", kByte, {}, {120}));
    Program::Tensors in{{"x", bytes(sizes, random_bytes(static_cast<size_t>(pixels), 8))}};
    if (of_weights == Point::Known) {
      b.initializer(ModelBuilder::tensor<uint8_t>("wp", 3, {}, {5}));
    } else if (of_weights == Point::OfEach) {
      b.initializer(
          ModelBuilder::tensor("wp", 3, {results}, random_bytes(static_cast<size_t>(results), 9)));
    } else if (of_weights == Point::Given) {
      b.input("wp", {}, 3);
      in["wp"] = Constant::of_bytes(ElementType::Int8, {}, {7});
    }
    if (of_weights == Point::None) b.initializer(ModelBuilder::tensor<uint8_t>("wp", 3, {}, {0}));
    b.node(convolution ? "QLinearConv" : "QLinearMatMul",
           {"x", "s", "p", "w", "s", "wp", "ys", "p"}, {"y"}, attributes);
    b.output("y");
    const Program program(b.load(), avx2);
    const std::string graph = to_text(program.graph());
    SCOPED_TRACE(graph);
    EXPECT_EQ(program.run(in).at("y").packed(),
              Program(b.load(), interpreter).run(in).at("y").packed());
    EXPECT_NE(graph.find(form), std::string::npos);
  };
  const auto pads = ints_attribute("pads", {1, 1, 1, 1});
  for (const Point p : {Point::None, Point::Known, Point::OfEach, Point::Given}) {
    SCOPED_TRACE(static_cast<int>(p));
    const std::string winograd = p == Point::Given
                                     ? "w.packed = constant int16[4, 3, 3, 17, 8, 2]"
                                     : "w.winograd = constant int16[2, 4, 4, 17, 16, 2]";
    check({1, 33, 7, 7}, {32, 33, 3, 3}, {pads}, p, winograd);
    check({1, 24, 5, 6}, {16, 24, 1, 1}, {}, p, "w.packed = constant int16[2, 12, 8, 2]");
    check({1, 3, 9, 9}, {8, 3, 3, 3}, {pads, ints_attribute("strides", {2, 2})}, p,
          "w.packed = constant int16[1, 3, 3, 2, 8, 2]");
    if (p == Point::OfEach) continue;
    check({20, 13}, {13, 24}, {}, p, "w.packed = constant int16[3, 7, 8, 2]");
    check({15, 12}, {12, 24}, {}, p, "w.packed = constant int8[3, 3, 8, 4]");
  }
}

// Weights without signs give the same results as with them, for products and convolutions whose
// zero point is known, or is none.
TEST_F(Quantized, known_weights_get_signs) {
  const bool signs = get_jit_target_from_environment().arch == Target::X86;
  const std::vector<uint8_t> pixels = random_bytes(16 * 81, 8);
  for (const int point : {0, 77, 128}) {
    for (const int64_t groups : {1, 2, 16}) {
      for (const bool has_point : {true, false}) {
        SCOPED_TRACE(std::to_string(groups) + " groups, point " + std::to_string(point) +
                     (has_point ? "" : " that is left out"));
        ModelBuilder b;
        b.input("x", {1, 16, 9, 9}, kByte);
        b.initializer(ModelBuilder::tensor("w", kByte, {32, 16 / groups, 3, 3},
                                           random_bytes(static_cast<size_t>(4608 / groups), 7)));
        b.initializer(ModelBuilder::tensor<uint8_t>("p", kByte, {}, {120}));
        b.initializer(
            ModelBuilder::tensor<uint8_t>("wp", kByte, {}, {static_cast<uint8_t>(point)}));
        std::vector<std::string> in{"x", "w", "p"};
        if (has_point) in.emplace_back("wp");
        b.node("ConvInteger", in, {"y"},
               {ints_attribute("pads", {1, 1, 1, 1}),
                int_attribute("group", static_cast<int>(groups))});
        b.output("y");
        const Program program(b.load(), {});
        CompileOptions node_by_node;
        node_by_node.optimize = false;
        const Program::Tensors image{{"x", bytes({1, 16, 9, 9}, pixels)}};
        EXPECT_EQ(program.run(image).at("y").packed(),
                  Program(b.load(), node_by_node).run(image).at("y").packed());
        EXPECT_EQ(to_text(program.graph()).find(".signed") != std::string::npos, signs)
            << to_text(program.graph());
      }
    }
  }
  ModelBuilder b;
  b.input("x", {6, 12}, kByte);
  b.initializer(ModelBuilder::tensor("w", kByte, {12, 40}, random_bytes(480, 7)));
  b.initializer(ModelBuilder::tensor<uint8_t>("p", kByte, {}, {120}));
  b.node("MatMulInteger", {"x", "w", "p"}, {"y"}).output("y");
  const Program::Tensors rows{{"x", bytes({6, 12}, random_bytes(72, 3))}};
  CompileOptions without;
  without.switched_off = {"sign_weights"};
  EXPECT_EQ(Program(b.load(), {}).run(rows).at("y").packed(),
            Program(b.load(), without).run(rows).at("y").packed());
}

// The first layer of a vision transformer: what each window sees for itself is a row of a matrix,
// also where the image ends in the middle of a window.
TEST_F(Quantized, patches_are_products) {
  constexpr int kColumns = 53, kRows = 48, kResults = 32, kCell = 8;
  const std::vector<uint8_t> pixels = random_bytes(3 * kRows * kColumns, 8);
  const std::vector<uint8_t> kernels = random_bytes(kResults * 3 * kCell * kCell, 9);
  ModelBuilder b;
  b.input("x", {1, 3, kRows, kColumns}, kByte);
  b.initializer(ModelBuilder::tensor<uint8_t>("w", 3, {kResults, 3, kCell, kCell}, kernels));
  b.initializer(ModelBuilder::tensor<uint8_t>("p", kByte, {}, {120}));
  b.node("ConvInteger", {"x", "w", "p"}, {"y"}, {ints_attribute("strides", {kCell, kCell})});
  b.output("y");
  const Program program(b.load(), {});
  const bool has_strips =
      ops::dot_strips(UInt(8), Int(8), kResults, get_jit_target_from_environment()).has_value();
  EXPECT_EQ(to_text(program.graph()).find("packed_columns") != std::string::npos, has_strips)
      << to_text(program.graph());
  const Constant y = program.run({{"x", bytes({1, 3, kRows, kColumns}, pixels)}}).at("y");
  constexpr int kDown = kRows / kCell, kAcross = kColumns / kCell;
  ASSERT_EQ(y.elements(), kResults * kDown * kAcross);
  for (int i = 0; i < y.elements(); i++) {
    const int result = i / (kDown * kAcross), row = i / kAcross % kDown, column = i % kAcross;
    int64_t wanted = 0;
    for (int k = 0; k < 3 * kCell * kCell; k++) {
      const int channel = k / (kCell * kCell);
      const int r = row * kCell + k / kCell % kCell, c = column * kCell + k % kCell;
      const auto w =
          static_cast<int8_t>(kernels[static_cast<size_t>(result * 3 * kCell * kCell + k)]);
      wanted += (pixels[static_cast<size_t>((channel * kRows + r) * kColumns + c)] - 120) * w;
    }
    ASSERT_EQ(y.integer_at(i), wanted) << i;
  }
}

// Depthwise kernels of bytes, and around the image the zero point.
TEST_F(Quantized, depthwise_convolutions) {
  constexpr int kChannels = 20, kSize = 9;
  const std::vector<uint8_t> pixels = random_bytes(kChannels * kSize * kSize, 8);
  const std::vector<uint8_t> kernels = random_bytes(kChannels * 9, 9);
  for (const int stride : {1, 2}) {
    for (const int point : {0, 120}) {
      for (const int kernel_type : {2, 3}) {
        ModelBuilder b;
        b.input("x", {1, kChannels, kSize, kSize}, kByte);
        b.initializer(
            ModelBuilder::tensor<uint8_t>("w", kernel_type, {kChannels, 1, 3, 3}, kernels));
        b.initializer(ModelBuilder::tensor<uint8_t>("p", kByte, {}, {static_cast<uint8_t>(point)}));
        b.node("ConvInteger", {"x", "w", "p"}, {"y"},
               {ints_attribute("pads", {1, 1, 1, 1}), ints_attribute("strides", {stride, stride}),
                int_attribute("group", kChannels)});
        b.output("y");
        const Constant y =
            Program(b.load(), {}).run({{"x", bytes({1, kChannels, kSize, kSize}, pixels)}}).at("y");
        const int places = (kSize - 1) / stride + 1;
        ASSERT_EQ(y.elements(), kChannels * places * places);
        for (int i = 0; i < y.elements(); i++) {
          const int channel = i / places / places, row = i / places % places, column = i % places;
          int64_t wanted = 0;
          for (int cell = 0; cell < 9; cell++) {
            const int r = row * stride + cell / 3 - 1, c = column * stride + cell % 3 - 1;
            if (r < 0 || r >= kSize || c < 0 || c >= kSize) continue;
            const uint8_t bits = kernels[static_cast<size_t>(channel * 9 + cell)];
            const int w = kernel_type == 2 ? bits : static_cast<int8_t>(bits);
            wanted += (pixels[static_cast<size_t>((channel * kSize + r) * kSize + c)] - point) * w;
          }
          ASSERT_EQ(y.integer_at(i), wanted) << stride << " " << point << " " << i;
        }
      }
    }
  }
}

// A result lies in the middle of two steps, far beyond the type, or is no number.
TEST_F(Quantized, steps_are_rounded_to_even_and_saturated) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const float endless = std::numeric_limits<float>::infinity();
  const std::vector<float> x{0.5f, 1.5f,  2.5f,    -0.5f,    -1.5f,  -2.5f,  300,  -300,
                             3e9f, -3e9f, endless, -endless, 127.5f, 128.5f, none, 154.5f};
  for (const int point : {0, 100}) {
    ModelBuilder b;
    b.input("x", {16}, 1).weights("s", {}, {1.0f});
    b.initializer(ModelBuilder::tensor<uint8_t>("p", kByte, {}, {static_cast<uint8_t>(point)}));
    b.node("QuantizeLinear", {"x", "s", "p"}, {"y"}).output("y");
    const auto *first = reinterpret_cast<const uint8_t *>(x.data());
    const Constant in = Constant::of_bytes(ElementType::Float32, {16}, {first, first + 64});
    const Constant y = Program(b.load(), {}).run({{"x", in}}).at("y");
    for (size_t i = 0; i < x.size(); i++) {
      if (std::isnan(x[i])) continue;
      const double wanted = std::clamp<double>(std::nearbyint(x[i]) + point, 0, 255);
      EXPECT_EQ(y.integer_at(static_cast<int64_t>(i)), wanted) << x[i];
    }
  }
}

TEST_F(Quantized, matrices) {
  // [6, 10] times [6, 10] turned, and a bias in steps of 1/2048.
  const Program::Tensors in{{"x", bytes({6, 10}, x_)}, {"z", bytes({6, 10}, z_)}};
  const std::vector<int32_t> bias{0, 300, -300, 5000, -5000, 7};
  std::vector<double> sums;
  for (size_t r = 0; r < 6; r++) {
    for (size_t c = 0; c < 6; c++) {
      double sum = bias[c] / 2048.0;
      for (size_t k = 0; k < 10; k++) sum += x(r * 10 + k) * z(c * 10 + k);
      sums.push_back(sum);
    }
  }
  for (const bool quantized : {true, false}) {
    std::vector<std::string> operands{"x", "xs", "xp", "z", "zs", "zp", "bias"};
    if (quantized) operands.insert(operands.end(), {"ys", "yp"});
    ModelBuilder b = model("QGemm", operands, {int_attribute("transB", 1)}, {6, 10}, {6, 10});
    b.initializer(ModelBuilder::tensor<int32_t>("bias", 6, {6}, bias));
    const Constant y = Session(b.load()).run(in).at("y");
    if (quantized) {
      expect(y, sums);
      continue;
    }
    for (size_t i = 0; i < sums.size(); i++)
      EXPECT_NEAR(y.number(static_cast<int64_t>(i)), sums[i], 1e-5);
  }
}

}  // namespace
}  // namespace polyhalite::onnx::quantized_test
