// Known elements that a node moves only, without an evaluation: weights are large, and what moves
// them should not run again with every input.
#pragma once

#include <optional>
#include <vector>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// The results of a Transpose, Split, or Gather of one place, of a known operand, for a node whose
/// shapes are inferred; nothing for others.
std::optional<std::vector<Constant>> moved_constants(const Graph &g, const Node &n);

}  // namespace polyhalite::onnx
