// Operators of domains beside the main one become standard ones: com.microsoft, which onnxruntime's
// tools write when they optimise or quantise a model, ai.onnx.ml, and the format's previews.
#pragma once

#include <string>
#include <vector>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

///   %y = com.microsoft.BiasGelu(%x, %b)   ->   %t = Add(%x, %b)   %y = Gelu(%t)
///
/// CompileError where a node asks for what no standard operator does.
Graph expand_operators(Graph g);

/// Whether expand_operators() writes the operator anew.
bool is_expanded(const std::string &domain, const std::string &op);

/// Names of all that it does, with their domain in front.
std::vector<std::string> expanded_operators();

}  // namespace polyhalite::onnx
