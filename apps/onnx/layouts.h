// How values lie in memory. Kernels read any layout; this picks those that are fast.
#pragma once

#include <map>

#include "apps/onnx/kernel.h"

namespace polyhalite::onnx {

/// Images between convolutions have channels innermost, weights of convolutions result channels,
/// transposed right operands of products their columns. Others, and all inputs and outputs of the
/// graph, have their last dimension innermost.
std::map<ValueId, Layout> choose_layouts(const Graph &g);

}  // namespace polyhalite::onnx
