// Weights that a model computes of others, as weight standardisation does, are computed once.
#pragma once

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

struct CompileOptions;

/// Nodes that read large constants only become constants; those of small ones are since their
/// shapes are inferred. They run as a program of their own. Left are nodes whose results are larger
/// than what they read, and dequantisations, which save memory.
///
///   %m = ReduceMean(%w); %v = Sub(%w, %m); %y = Conv(%x, %v)   ->   %y = Conv(%x, %v), %v known
Graph fold_weights(Graph g, const CompileOptions &options);

}  // namespace polyhalite::onnx
