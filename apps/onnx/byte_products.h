// byte_products: products and convolutions of bytes whose weights are known.
#pragma once

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// Where the operands of such a node stand. Those beyond the format's follow all of them.
struct ByteProduct {
  size_t point;    // the left operand's zero point
  size_t weights;  // a matrix b[k, column], or kernels w[result, channel, ...]
  size_t weights_point;
  size_t sums;       // of the weights, see sum_weights()
  bool convolution;  // perhaps in groups
};

/// Null where it is none: another operator, weights that are computed, empty, or matrices of
/// several.
const ByteProduct *byte_product(const Graph &g, const Node &n);

/// Can the weights' zero point be taken off ahead: has the node none, or a known one, which is one
/// number or one for each result?
bool point_is_known(const Graph &g, const Node &n, const ByteProduct &places);
/// Null where the node has none, or it is not known so.
const Constant *known_point(const Graph &g, const Node &n, const ByteProduct &places);

}  // namespace polyhalite::onnx
