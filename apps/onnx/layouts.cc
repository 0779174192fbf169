#include "apps/onnx/layouts.h"

#include <set>

#include "apps/onnx/fuse.h"
#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

namespace {

// Channels, then columns and rows, then images.
Layout channels_innermost(size_t rank) {
  Layout l{1};
  for (size_t d = rank - 1; d >= 2; d--) l.push_back(static_cast<int>(d));
  l.push_back(0);
  return l;
}

}  // namespace

bool is_convolution(const Node &n) {
  return n.is("Conv") || n.is("ConvInteger") || n.is("QLinearConv") ||
         (n.is("ConvTranspose") && n.has("strips_of"));
}

bool keeps_images(const Node &n) {
  static const std::set<std::string> kNames = {"MaxPool",
                                               "AveragePool",
                                               "GlobalAveragePool",
                                               "GlobalMaxPool",
                                               "GroupNormalization",
                                               "InstanceNormalization",
                                               "Concat",
                                               "DepthToSpace",
                                               "SpaceToDepth",
                                               "BatchNormalization",
                                               "LRN",
                                               "Pad",
                                               "Resize",
                                               "Slice",
                                               "Split",
                                               "QLinearAdd",
                                               "QLinearAveragePool",
                                               "QLinearMul",
                                               "QLinearConcat",
                                               "QLinearGlobalAveragePool",
                                               "QLinearLeakyRelu",
                                               "QLinearSigmoid"};
  const Operator::Form form = operator_of(n.domain, n.op)->form;
  return form == Operator::Pointwise || (form == Operator::Other && kNames.count(n.op) != 0);
}

std::map<ValueId, Layout> choose_layouts(const Graph &g) {
  // Views share their operand's memory, and the host reads it, in row-major order.
  std::set<ValueId> fixed(g.inputs.begin(), g.inputs.end());
  fixed.insert(g.outputs.begin(), g.outputs.end());
  for (const Node &n : g.nodes) {
    const Operator::Form form = operator_of(n.domain, n.op)->form;
    if (form == Operator::View) fixed.insert({n.inputs[0], n.outputs[0]});
    if (form != Operator::Host) continue;
    fixed.insert(n.inputs.begin(), n.inputs.end());
    fixed.insert(n.outputs.begin(), n.outputs.end());
  }
  std::map<ValueId, Layout> layouts;
  std::set<ValueId> turned;
  for (const Node &n : g.nodes) {
    const bool convolution = is_convolution(n);
    if (convolution) {
      const ValueId w = n.inputs[n.is("QLinearConv") ? 3 : 1];
      const Value &value = g.value(w);
      if (value.constant && fixed.count(w) == 0 && !n.has("strips_of") &&
          !n.has("packed_columns") && !n.has("packed_kernels")) {
        // Result channels, channels, columns, rows.
        Layout l{0, 1};
        for (size_t d = value.shape->size() - 1; d >= 2; d--) l.push_back(static_cast<int>(d));
        layouts[w] = l;
      }
    }
    if (n.is("Gemm") && n.integer("transB", 0) != 0 && !n.has("strips_of") &&
        g.value(n.inputs[1]).constant && fixed.count(n.inputs[1]) == 0) {
      layouts[n.inputs[1]] = {0, 1};
    }
    // What is turned for a convolution gets its channels side by side at once, where they are many.
    if (convolution && fixed.count(n.inputs[0]) == 0 && turned.count(n.inputs[0]) != 0) {
      constexpr int64_t kManyChannels = 16;
      const Shape &shape = *g.value(n.inputs[0]).shape;
      if (shape.size() >= 3 && shape[1].constant().value_or(0) >= kManyChannels)
        layouts.emplace(n.inputs[0], channels_innermost(shape.size()));
    }
    if (n.is("Transpose") && g.value(n.outputs[0]).shape) turned.insert(n.outputs[0]);
    bool images = convolution || n.has("channels_innermost");
    if (!images && keeps_images(n)) {
      for (ValueId v : n.inputs) {
        images = images || (v != kNone && !g.value(v).constant && layouts.count(v) != 0);
      }
    }
    if (!images) continue;
    for (ValueId v : n.outputs) {
      if (v == kNone || fixed.count(v) || !g.value(v).shape) continue;
      const size_t rank = g.value(v).shape->size();
      if (rank >= 3) layouts[v] = channels_innermost(rank);
    }
  }
  return layouts;
}

}  // namespace polyhalite::onnx
