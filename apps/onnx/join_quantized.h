// Operators between dequantisations and a quantisation as operators on steps.
#pragma once

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// Before shapes are inferred: constants that are dequantised would be computed then.
///
///   %x = DequantizeLinear(%qx, ...); %w = DequantizeLinear(%qw, ...)
///   %y = Conv(%x, %w, %b); %q = QuantizeLinear(%y, ...)   ->   %q = QLinearConv(%qx, %qw, %qb,
///   ...)
///
/// Products whose result is no quantised one become products of integers with a scale behind them.
/// What moves elements moves steps, where the scales in front of it and behind it are equal.
/// Results are those of exact sums, rounded once; sums of dequantised numbers are rounded at each
/// term.
Graph join_quantized(Graph g);

}  // namespace polyhalite::onnx
