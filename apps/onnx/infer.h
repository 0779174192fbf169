// Shapes, types and sizes of all values, in the order of the nodes; what is known as numbers
// becomes a constant on the way.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apps/onnx/graph.h"
#include "apps/onnx/sequences.h"

namespace polyhalite::onnx {

struct InferenceReport {
  // Values whose elements decide about shapes or algorithms, and are not known: constants are
  // wanted.
  std::set<ValueId> needed;
  // Symbols that have to be numbers.
  std::set<std::string> symbols;
  // Inputs of the graph whose rank is not known.
  std::set<ValueId> shapeless;
  std::vector<OutputForm> outputs;  // for each output that the graph had
};

/// CompileError with every node whose operands do not fit. Sequences and optional values are gone
/// then; outputs that are some have become those that their tensors are.
InferenceReport infer_shapes(Graph *g);

/// Does the node read the elements of operand i when it runs? Not where they are known and only
/// decide about the algorithm.
bool reads_elements(const Graph &g, const Node &n, size_t i);

}  // namespace polyhalite::onnx
