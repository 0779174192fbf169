// How values lie in memory. Kernels read any layout; this picks those that are fast.
#pragma once

#include <map>

#include "apps/onnx/kernel.h"

namespace polyhalite::onnx {

/// Images between convolutions have channels innermost, weights of convolutions result channels,
/// transposed right operands of products their columns. Others, and all inputs and outputs of the
/// graph, have their last dimension innermost.
std::map<ValueId, Layout> choose_layouts(const Graph &g);

/// Does the operator sum windows of images whose channels lie innermost, or best do?
bool is_convolution(const Node &n);

/// Does the operator work point by point, or window by window, on images in any layout?
bool keeps_images(const Node &n);

/// Before choose_layouts. What reads images with channels innermost makes them so, too; they are
/// turned on their own, by squares in registers, where the graph gives them away or a view reads
/// them, and what else reads images reads them before. So are operands of a Concat of images that
/// lie in both ways.
///
///   %y = MaxPool(%x)   ->   %y.turned = MaxPool(%x); %y = Turn(%y.turned)
Graph turn_images(Graph g);

}  // namespace polyhalite::onnx
