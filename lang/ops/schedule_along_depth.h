// Sums whose vectors run along the reduction.
#pragma once

#include "lang/ops/product_tile.h"
#include "polyhalite/ops.h"

namespace polyhalite::ops {

/// Computes a product's sums at `level`, in tiles of vectors of partial sums whose lanes are added
/// up in the end. A right operand whose columns do not lie along the reduction is turned at
/// `outside`.
void schedule_along_depth(const Stage &s, Func operand, const ProductTile &tile,
                          const LoopLevel &level, const LoopLevel &outside, const Target &target);

}  // namespace polyhalite::ops
