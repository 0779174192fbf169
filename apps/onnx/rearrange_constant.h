// Elements that are known, in another order: what nodes that run between kernels need.
#pragma once

#include <string>
#include <vector>

#include "apps/onnx/constant.h"

namespace polyhalite::onnx {

/// Dimension `from` becomes dimension `to`, the others keep their order.
Constant move_axis(const Constant &c, size_t from, size_t to);

/// c[i], a view; c is no splat.
Constant row(const Constant &c, int64_t i);

/// The rows c[i] of a list, under each other; dimension 0 stays. c is no splat.
Constant pick_rows(const Constant &c, const std::vector<int64_t> &rows);

/// In [0, rank).
size_t positive_axis(int64_t axis, size_t rank);

std::string shape_text(const std::vector<int64_t> &shape);

/// One element with as many dimensions of size 1; of other numbers c itself. Exporters mix [] and
/// [1].
Constant of_rank(const Constant &c, size_t rank);

}  // namespace polyhalite::onnx
