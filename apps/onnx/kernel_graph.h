// What one kernel computes: a group of nodes as a graph of its own, with as few dimensions as that
// takes.
#pragma once

#include <map>

#include "apps/onnx/kernel.h"

namespace polyhalite::onnx {

struct KernelGraph {
  Graph graph;  // the group's nodes, and the values that they mention
  Group group;  // of this graph
  std::map<ValueId, Layout> layouts;
  std::map<std::string, Dim> sizes;  // what its symbols stand for in the whole graph
};

/// Dimensions that all nodes treat alike, and that lie side by side, are one; those of size 1 are
/// none. Buffers of the same memory then have other shapes than the values in `g`. Symbols are
/// called by their places (name_sizes).
///
///   %y: float32[1, 14, 14, 64] = MatMul(%x: float32[1, 14, 14, 32], %w: float32[32, 64])   ->
///   %y: float32[196, 64] = MatMul(%x: float32[196, 32], %w: float32[32, 64])
KernelGraph kernel_graph(const Graph &g, const Group &group,
                         const std::map<ValueId, Layout> &layouts);

}  // namespace polyhalite::onnx
