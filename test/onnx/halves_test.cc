// Models of numbers of 16 bits, which are numbers of 32 bits inside of the graph.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "apps/onnx/halves.h"
#include "apps/onnx/program.h"
#include "polyhalite/float16.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::halves_test {
namespace {

constexpr int kHalf = 10;  // the format's number of float16

std::vector<float16_t> random_halves(int64_t n, uint32_t seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  std::vector<float16_t> v;
  for (int64_t i = 0; i < n; i++) v.emplace_back(d(bits));
  return v;
}

Constant tensor(const std::vector<int64_t> &shape, const std::vector<float16_t> &v) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(v.data());
  return Constant::of_bytes(ElementType::Float16, shape, {bytes, bytes + v.size() * 2});
}

ModelBuilder &halves(ModelBuilder &b, const std::string &name, const std::vector<int64_t> &shape,
                     uint32_t seed) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return b.initializer(ModelBuilder::tensor(name, kHalf, shape, random_halves(n, seed)));
}

// With the pass and node by node, results differ by roundings of values between.
std::string graph_of(const ModelBuilder &b, const Program::Tensors &in) {
  const Program program(b.load(), {});
  CompileOptions node_by_node;
  node_by_node.optimize = false;
  const Program::Tensors got = program.run(in), wanted = Program(b.load(), node_by_node).run(in);
  for (const auto &[name, t] : wanted) {
    EXPECT_EQ(got.at(name).type(), t.type()) << name;
    EXPECT_EQ(compare(got.at(name), t, 4e-3, 4e-3), "") << name;
  }
  return to_text(program.graph());
}

TEST(onnx_halves, every_one_is_widened) {
  for (int bits = 0; bits <= 0xffff; bits++) {
    const auto half = float16_t::make_from_bits(static_cast<uint16_t>(bits));
    float wide = 0;
    widen(&wide, reinterpret_cast<const uint8_t *>(&half), 1);
    const auto wanted = static_cast<float>(half);
    EXPECT_TRUE(wide == wanted || (std::isnan(wide) && std::isnan(wanted))) << bits;
  }
}

// Between its inputs and outputs, a Cast and what a Cast reads, a graph has no halves.
TEST(onnx_halves, values_between_are_wide) {
  ModelBuilder b;
  b.input("x", {1, 4, 6, 6}, kHalf);
  halves(b, "w", {8, 4, 3, 3}, 1);
  for (const char *name : {"scale", "shift", "mean", "variance"}) {
    std::vector<float16_t> v(8, float16_t(0.5f));
    b.initializer(ModelBuilder::tensor(name, kHalf, {8}, v));
  }
  b.node("Conv", {"x", "w"}, {"c"});
  b.node("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"n"});
  b.node("Relu", {"n"}, {"r"});
  b.node("Cast", {"r"}, {"single"}, {int_attribute("to", 1)}).node("Exp", {"single"}, {"e"});
  b.node("Cast", {"e"}, {"h"}, {int_attribute("to", kHalf)}).node("Add", {"h", "r"}, {"y"});
  b.output("y").output("n");
  const Constant x = tensor({1, 4, 6, 6}, random_halves(144, 2));
  graph_of(b, {{"x", x}});
  CompileOptions options;  // strips depend on the machine
  options.switched_off = {"strip_kernels"};
  EXPECT_EQ(to_text(Program(b.load(), options).graph()),
            R"(graph test(%x: float16[1, 4, 6, 6]) -> (%y, %n)
  %make_c.weights = constant float32[8, 4, 3, 3]
  %make_c.bias = constant float32[8]
  %x.wide: float32[1, 4, 6, 6] = Cast.28(%x) {to = 1}
  %n.wide: float32[1, 8, 4, 4] = Conv.11(%x.wide, %make_c.weights, %make_c.bias)
  %r.wide: float32[1, 8, 4, 4] = Relu.14(%n.wide)
  %r: float16[1, 8, 4, 4] = Cast.28(%r.wide) {to = 10}
  %single: float32[1, 8, 4, 4] = Cast.13(%r) {to = 1}
  %e: float32[1, 8, 4, 4] = Exp.13(%single)
  %h: float16[1, 8, 4, 4] = Cast.13(%e) {to = 10}
  %h.wide: float32[1, 8, 4, 4] = Cast.28(%h) {to = 1}
  %y.wide: float32[1, 8, 4, 4] = Add.14(%h.wide, %r.wide)
  %y: float16[1, 8, 4, 4] = Cast.28(%y.wide) {to = 10}
  %n: float16[1, 8, 4, 4] = Cast.28(%n.wide) {to = 10}
)");
}

// Strips of several rows are wide; one row reads halves from memory.
TEST(onnx_halves, matrices_of_products) {
  for (const int rows : {1, 5}) {
    for (const bool turned : {false, true}) {
      ModelBuilder b;
      b.input("x", {rows, 90}, kHalf);
      halves(b, "w", turned ? std::vector<int64_t>{150, 90} : std::vector<int64_t>{90, 150}, 1);
      halves(b, "c", {150}, 2);
      b.node("Gemm", {"x", "w", "c"}, {"y"}, {int_attribute("transB", turned ? 1 : 0)});
      b.output("y");
      const std::string graph =
          graph_of(b, {{"x", tensor({rows, 90}, random_halves(rows * 90, 3))}});
      EXPECT_EQ(graph.find("strips_of") != std::string::npos, rows > 1) << graph;
      EXPECT_EQ(graph.find("constant float16") != std::string::npos, rows == 1) << graph;
    }
  }
}

// What a region reads stays narrow; so does what decides a size.
TEST(onnx_halves, other_nodes_keep_their_types) {
  ModelBuilder then, otherwise, b;
  then.node("Add", {"a", "a"}, {"t"}).output("t");
  otherwise.node("Mul", {"a", "x"}, {"o"}).output("o");
  b.input("x", {3, 4}, kHalf).input("c", {}, 9);
  b.node("Sqrt", {"x"}, {"a"}).node("NonZero", {"a"}, {"places"});
  b.node("If", {"c"}, {"chosen"},
         {graph_attribute("then_branch", then.region("then")),
          graph_attribute("else_branch", otherwise.region("else"))});
  b.node("Mul", {"chosen", "a"}, {"y"}).output("y").output("places");
  std::vector<float16_t> v = random_halves(12, 4);
  for (float16_t &h : v) h = float16_t(std::abs(static_cast<float>(h)));
  v[5] = float16_t(0.0f);
  for (const uint8_t condition : {0, 1}) {
    graph_of(b, {{"x", tensor({3, 4}, v)},
                 {"c", Constant::of_bytes(ElementType::Bool, {}, {condition})}});
  }
}

}  // namespace
}  // namespace polyhalite::onnx::halves_test
