// kernel_window: the window that known kernels of a convolution make.
#pragma once

#include <optional>

#include "apps/onnx/graph.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

/// Of a convolution of one group in two dimensions with kernels w[result, channel, row, column];
/// its `before` is left out, open sizes of the result are symbols. Nothing of any other.
std::optional<ops::Window> kernel_window(const Graph &g, const Node &n, const Constant &w);

}  // namespace polyhalite::onnx
