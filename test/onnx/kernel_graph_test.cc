// What kernels see of a graph: dimensions that all nodes treat alike are one.
#include "apps/onnx/kernel_graph.h"

#include <gtest/gtest.h>

#include <cstring>

namespace polyhalite::onnx::kernel_graph_test {
namespace {

class KernelGraphs : public testing::Test {
 protected:
  ValueId input(const std::string &name, Shape shape, ElementType type = ElementType::Float32) {
    group_.inputs.push_back(g_.add_value(name, type, std::move(shape)));
    return group_.inputs.back();
  }
  ValueId node(const std::string &op, std::vector<ValueId> inputs, Shape shape,
               ElementType type = ElementType::Float32) {
    Node n;
    n.op = op;
    n.inputs = std::move(inputs);
    n.outputs = {g_.add_value(op, type, std::move(shape))};
    group_.nodes.push_back(g_.nodes.size());
    g_.nodes.push_back(n);
    group_.outputs = g_.nodes.back().outputs;
    return group_.outputs[0];
  }
  // Shapes as the kernel sees them, with layouts behind those that have one.
  std::string shapes() const {
    const KernelGraph k = kernel_graph(g_, group_, layouts_);
    std::string text;
    for (const Value &v : k.graph.values) {
      text += (text.empty() ? "" : " ") + v.name + to_string(*v.shape);
      const auto layout = k.layouts.find(static_cast<ValueId>(&v - k.graph.values.data()));
      if (layout == k.layouts.end()) continue;
      for (int d : layout->second) text += "." + std::to_string(d);
    }
    return text;
  }

  std::string sizes() const {
    std::string text;
    for (const auto &[name, size] : kernel_graph(g_, group_, layouts_).sizes)
      text += name + "=" + size.to_string() + " ";
    return text;
  }

  Graph g_;
  Group group_;
  std::map<ValueId, Layout> layouts_;
  const Layout channels_innermost_{1, 3, 2, 0};
};

TEST_F(KernelGraphs, rows_of_all_matrices_are_rows_of_one) {
  const ValueId x = input("x", {1, 14, 14, 32}), w = input("w", {32, 64});
  const ValueId bias = input("bias", {64}), added = input("added", {1, 14, 14, 64});
  const ValueId y = node("MatMul", {x, w}, {1, 14, 14, 64});
  node("Add", {node("Add", {y, bias}, {1, 14, 14, 64}), added}, {1, 14, 14, 64});
  EXPECT_EQ(
      shapes(),
      "x[196, 32] w[32, 64] bias[64] added[196, 64] MatMul[196, 64] Add[196, 64] Add$2[196, 64]");
}

TEST_F(KernelGraphs, a_vector_stays_a_row) {
  const ValueId x = input("x", {1, 1, 32}), w = input("w", {32, 64});
  node("MatMul", {x, w}, {1, 1, 64});
  EXPECT_EQ(shapes(), "x[1, 32] w[32, 64] MatMul[1, 64]");
}

TEST_F(KernelGraphs, matrices_that_something_repeats_for_stay_apart) {
  const ValueId x = input("x", {2, 8, 49, 32}), w = input("w", {32, 64});
  const ValueId places = input("places", {49, 64});
  node("Add", {node("MatMul", {x, w}, {2, 8, 49, 64}), places}, {2, 8, 49, 64});
  EXPECT_EQ(shapes(), "x[16, 49, 32] w[32, 64] places[49, 64] MatMul[16, 49, 64] Add[16, 49, 64]");
}

TEST_F(KernelGraphs, rows_with_scales_of_their_own_stay) {
  const auto bytes = ElementType::UInt8;
  const ValueId w = input("w", {32, 64}, bytes), scale = input("scale", {}),
                point = input("point", {}, bytes);
  for (const bool own : {false, true}) {
    group_.nodes.clear();
    const ValueId x = input("x", {6, 1, 32}, bytes);
    const ValueId each = own ? input("each", {6, 1, 1}) : scale;
    node("QLinearMatMul", {x, each, point, w, scale, point, scale, point}, {6, 1, 64}, bytes);
    EXPECT_EQ(shapes().find("[6, 64]") != std::string::npos, !own) << shapes();
  }
}

TEST_F(KernelGraphs, each_matrix_with_its_own_is_left_alone) {
  const ValueId x = input("x", {8, 49, 32}), w = input("w", {8, 32, 64});
  node("MatMul", {x, w}, {8, 49, 64});
  EXPECT_EQ(shapes(), "x[8, 49, 32] w[8, 32, 64] MatMul[8, 49, 64]");
}

TEST_F(KernelGraphs, elements_are_a_list) {
  const ValueId x = input("x", {1, 512, 7, 7}), limit = input("limit", {1});
  node("Max", {node("Sigmoid", {x}, {1, 512, 7, 7}), limit}, {1, 512, 7, 7});
  EXPECT_EQ(shapes(), "x[25088] limit[] Sigmoid[25088] Max[25088]");
}

TEST_F(KernelGraphs, of_open_sizes_too) {
  const Dim n = Dim::symbol("N"), m = Dim::symbol("M");
  const ValueId x = input("x", {n, 1, m, 7}), y = input("y", {m, 7});
  node("Add", {x, y}, {n, 1, m, 7});
  EXPECT_EQ(shapes(), "x[s0, 7*s1] y[7*s1] Add[s0, 7*s1]");
  EXPECT_EQ(sizes(), "s0=N s1=M ");
}

TEST_F(KernelGraphs, sizes_alone_are_symbols_as_a_whole) {
  const Dim size = Dim::symbol("N") * 4 * Dim::symbol("M") - 8;
  node("Neg", {input("x", {2, size})}, {2, size});
  EXPECT_EQ(shapes(), "x[8*s0] Neg[8*s0]");
  EXPECT_EQ(sizes(), "s0=M*N - 2 ");
}

TEST_F(KernelGraphs, sizes_that_share_a_symbol_keep_it) {
  const Dim n = Dim::symbol("N"), half = Dim::floor_div(n - 3, 2);
  node("MaxPool", {input("x", {n, Dim::symbol("M")})}, {half, 5});
  EXPECT_EQ(shapes(), "x[s0, s1] MaxPool[floor((s0 - 3)/2), 5]");
  EXPECT_EQ(sizes(), "s0=N s1=M ");
}

// A size of elements may be below 0, which no symbol is.
TEST_F(KernelGraphs, differences_are_no_symbols) {
  const ValueId x = input("x", {4}), starts = g_.add_value("starts", ElementType::Int64, Shape{1});
  g_.value(starts).contents = {Dim::symbol("N") - 3};
  node("Slice", {x, starts}, {2});
  EXPECT_EQ(sizes(), "s0=N ");
}

TEST_F(KernelGraphs, channels_with_numbers_of_their_own_stay) {
  const ValueId x = input("x", {2, 16, 7, 7}), bias = input("bias", {16, 1, 1});
  node("Add", {x, bias}, {2, 16, 7, 7});
  EXPECT_EQ(shapes(), "x[2, 16, 49] bias[16, 1] Add[2, 16, 49]");
}

TEST_F(KernelGraphs, images_are_merged_as_they_lie) {
  const ValueId x = input("x", {2, 16, 7, 7}), bias = input("bias", {16, 1, 1});
  const ValueId y = node("Add", {x, bias}, {2, 16, 7, 7});
  layouts_ = {{x, channels_innermost_}, {y, channels_innermost_}};
  EXPECT_EQ(shapes(), "x[98, 16] bias[16] Add[98, 16]");
}

TEST_F(KernelGraphs, operands_that_lie_otherwise_keep_their_layout) {
  const ValueId x = input("x", {2, 16, 5, 7});
  const ValueId y = node("Neg", {x}, {2, 16, 5, 7});
  layouts_ = {{y, channels_innermost_}};
  EXPECT_EQ(shapes(), "x[2, 35, 16].1.2.0 Neg[2, 35, 16]");
}

TEST_F(KernelGraphs, scales_along_an_axis_keep_it) {
  const ValueId x = input("x", {1, 16, 7, 7}, ElementType::UInt8), scale = input("scale", {16});
  node("DequantizeLinear", {x, scale}, {1, 16, 7, 7});
  EXPECT_EQ(shapes(), "x[1, 16, 7, 7] scale[16] DequantizeLinear[1, 16, 7, 7]");
}

TEST_F(KernelGraphs, other_operators_keep_all_dimensions) {
  const ValueId x = input("x", {1, 4, 6, 7});
  node("Relu", {node("LRN", {x}, {1, 4, 6, 7})}, {1, 4, 6, 7});
  EXPECT_EQ(shapes(), "x[1, 4, 6, 7] LRN[1, 4, 6, 7] Relu[1, 4, 6, 7]");
}

TEST_F(KernelGraphs, rows_along_an_axis_are_merged) {
  const ValueId x = input("x", {1, 4, 6, 7});
  node("Relu", {node("Softmax", {x}, {1, 4, 6, 7})}, {1, 4, 6, 7});
  EXPECT_EQ(shapes(), "x[24, 7] Softmax[24, 7] Relu[24, 7]");
}

TEST_F(KernelGraphs, reduced_dimensions_are_merged_and_kept_ones) {
  const ValueId x = input("x", {2, 3, 4, 5, 6});
  const ValueId axes = g_.add_constant("axes", Constant::integers({1, -3}));
  node("Sqrt", {node("ReduceSum", {x, axes}, {2, 1, 1, 5, 6})}, {2, 1, 1, 5, 6});
  EXPECT_EQ(shapes(), "x[2, 12, 30] axes[2] ReduceSum[2, 1, 30] Sqrt[2, 1, 30] axes$2[1]");
}

// What follows meets another shape, or x lies in another way.
TEST_F(KernelGraphs, reductions_that_others_meet_keep_all_dimensions) {
  const ValueId x = input("x", {3, 4, 5}), y = input("y", {3, 1, 5});
  const ValueId axes = g_.add_constant("axes", Constant::integers({1}));
  node("Add", {node("ReduceMax", {x, axes}, {3, 1, 5}), y}, {3, 1, 5});
  EXPECT_EQ(shapes(), "x[3, 4, 5] y[3, 1, 5] axes[1] ReduceMax[3, 1, 5] Add[3, 1, 5]");
}

TEST_F(KernelGraphs, constants_in_kernels_get_the_shape) {
  const float two = 2;
  const ValueId x = input("x", {3, 4, 5});
  const ValueId twos = g_.add_constant("twos", Constant::splat(ElementType::Float32, {4, 5}, &two));
  node("Mul", {x, twos}, {3, 4, 5});
  const KernelGraph k = kernel_graph(g_, group_, layouts_);
  EXPECT_EQ(shapes(), "x[3, 20] twos[20] Mul[3, 20]");
  EXPECT_EQ(k.graph.values[1].constant->shape(), std::vector<int64_t>{20});
}

TEST_F(KernelGraphs, no_dimension_exceeds_what_buffers_count) {
  const ValueId x = input("x", {1 << 16, 1 << 16, 2});
  node("Neg", {x}, {1 << 16, 1 << 16, 2});
  EXPECT_EQ(shapes(), "x[65536, 131072] Neg[65536, 131072]");
}

}  // namespace
}  // namespace polyhalite::onnx::kernel_graph_test
