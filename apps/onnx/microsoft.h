// Operators of onnxruntime's own domain, com.microsoft, become standard ones: what its tools write
// when they optimise or quantise a model.
#pragma once

#include <string>
#include <vector>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

///   %y = com.microsoft.BiasGelu(%x, %b)   ->   %t = Add(%x, %b)   %y = Gelu(%t)
///
/// CompileError where a node asks for what no standard operator does.
Graph expand_microsoft(Graph g);

/// Whether expand_microsoft() writes the operator anew.
bool is_expanded(const std::string &domain, const std::string &op);

/// Names of all that it does, those of com.microsoft with their domain in front.
std::vector<std::string> expanded_operators();

}  // namespace polyhalite::onnx
