// Recurrent networks as loops over time.
#pragma once

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// RNN, LSTM and GRU become products of all time steps at once and a Scan over them:
///
///   %y = GRU(%x, %w, %r)   ->   %xw = MatMul(%x, %wt); %y = Scan(%h0, %xw, %rt) {body = ...}
Graph expand_recurrent(Graph g);

}  // namespace polyhalite::onnx
