// What passes make of known kernels: results are those of the graph as it is in the file.
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/onnx/session.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::weights_test {
namespace {

const Node *find_node(const Program &p, const std::string &op) {
  for (const Node &n : p.graph().nodes) {
    if (n.op == op) return &n;
  }
  return nullptr;
}

// Held against the graph without passes and fusion.
void expect_same_results(const ModelBuilder &b, const std::vector<int64_t> &shape, double bound) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  const Program::Tensors in{{"x", floats(shape, random_list(static_cast<size_t>(n), 5))}};
  CompileOptions plain;
  plain.optimize = false;
  const Constant got = Program(b.load(), {}).run(in).at("y");
  const Constant wanted = Program(b.load(), plain).run(in).at("y");
  ASSERT_EQ(got.shape(), wanted.shape());
  for (int64_t i = 0; i < got.elements(); i++)
    ASSERT_NEAR(got.number(i), wanted.number(i), bound) << "element " << i;
}

// Kernels less their mean: more elements than are computed while shapes are inferred.
TEST(onnx_weights, computed_of_weights_are_known) {
  constexpr int64_t kResults = 128, kChannels = 256;
  ModelBuilder b(18);
  b.input("x", {1, kChannels, 5, 5});
  b.weights("w", {kResults, kChannels, 3, 3}, random_list(kResults * kChannels * 9, 1));
  b.integers("axes", {1, 2, 3}).node("ReduceMean", {"w", "axes"}, {"mean"});
  b.node("Sub", {"w", "mean"}, {"centred"}).node("Conv", {"x", "centred"}, {"y"}).output("y");
  const Program p(b.load(), {});
  EXPECT_EQ(p.graph().nodes.size(), 1u);
  EXPECT_TRUE(p.graph().value(find_node(p, "Conv")->inputs[1]).constant);
  expect_same_results(b, {1, kChannels, 5, 5}, 1e-3);
}

TEST(onnx_weights, computed_of_weights_that_are_larger_stay_nodes) {
  ModelBuilder b(18);
  b.input("x", {1, 1});
  b.weights("w", {1, 1024}, random_list(1024, 1)).integers("shape", {1024, 1024});
  b.node("Expand", {"w", "shape"}, {"wide"}).node("Add", {"wide", "x"}, {"y"}).output("y");
  const Program p(b.load(), {});
  EXPECT_NE(find_node(p, "Expand"), nullptr);
}

TEST(onnx_weights, cells_that_see_no_pixel_are_left_out) {
  const auto conv = [](int dilation, int64_t size) {
    ModelBuilder b(18);
    b.input("x", {1, 8, static_cast<int>(size), static_cast<int>(size)});
    b.weights("w", {16, 8, 3, 3}, random_list(16 * 8 * 9, 2));
    b.node("Conv", {"x", "w"}, {"y"},
           {ints_attribute("dilations", {dilation, dilation}),
            ints_attribute("pads", {dilation, dilation, dilation, dilation})});
    b.output("y");
    return b;
  };
  const auto kernel_of = [](const ModelBuilder &b) {
    CompileOptions options;
    options.switched_off = {"strip_kernels", "winograd_kernels"};
    const Program p(b.load(), options);
    return p.graph().value(find_node(p, "Conv")->inputs[1]).constant->shape();
  };
  EXPECT_EQ(kernel_of(conv(14, 14)), (std::vector<int64_t>{16, 8, 1, 1}));
  EXPECT_EQ(kernel_of(conv(13, 14)), (std::vector<int64_t>{16, 8, 3, 3}));
  for (const int dilation : {13, 14, 30})
    expect_same_results(conv(dilation, 14), {1, 8, 14, 14}, 1e-5);
}

// Without pads the last rows see the kernel's first cells, and the other way round.
TEST(onnx_weights, cells_on_one_side_are_left_out) {
  ModelBuilder b(18);
  b.input("x", {1, 4, 6, 6}).weights("w", {4, 4, 5, 3}, random_list(4 * 4 * 15, 3));
  b.node("Conv", {"x", "w"}, {"y"},
         {ints_attribute("pads", {8, 1, 0, 1}), ints_attribute("strides", {12, 1})});
  b.output("y");
  expect_same_results(b, {1, 4, 6, 6}, 1e-5);
}

TEST(onnx_weights, groups_have_strips_of_their_own) {
  for (const auto &[groups, results] : {std::pair{2, 64}, {4, 16}, {3, 48}, {2, 24}}) {
    for (const int stride : {1, 2}) {
      ModelBuilder b(18);
      const int64_t channels = 8 * groups, all = int64_t{results} * groups;
      b.input("x", {2, static_cast<int>(channels), 9, 11});
      b.weights("w", {all, 8, 3, 3}, random_list(static_cast<size_t>(all) * 72, 4));
      b.weights("c", {all}, random_list(static_cast<size_t>(all), 6));
      b.node("Conv", {"x", "w", "c"}, {"s"},
             {int_attribute("group", groups), ints_attribute("pads", {1, 1, 1, 1}),
              ints_attribute("strides", {stride, stride})});
      b.node("Relu", {"s"}, {"y"}).output("y");
      expect_same_results(b, {2, channels, 9, 11}, 1e-4);
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx::weights_test
