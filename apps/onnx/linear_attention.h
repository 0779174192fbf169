// Attention with a state instead of all earlier tokens, and the convolution in front of it.
#pragma once

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// LinearAttention becomes a Scan over tokens, CausalConvWithState a Conv behind a Concat:
///
///   %y, %s = CausalConvWithState(%x, %w, -, %p)
///     ->   %all = Concat(%p, %x); %y = Conv(%all, %w); %s = Slice(%all)
Graph expand_linear_attention(Graph g);

}  // namespace polyhalite::onnx
