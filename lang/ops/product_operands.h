// What the operands of products are made of, and how they lie in memory.
#pragma once

#include <string>

#include "lang/ir/node.h"
#include "polyhalite/ops.h"

namespace polyhalite::ops {

/// The image whose elements the operand is, perhaps widened, side by side along the vectors; null
/// where it is anything else.
const CallNode *image_of(const Func &operand);

/// The image of which e is an element, perhaps widened, where steps of `depth` go along its memory;
/// else null.
const CallNode *dense_image(Expr e, const std::string &depth);

/// The same of a factor of the sums' terms; null where none is so.
const CallNode *dense_factor(const Func &sums, const std::string &depth);

/// Do `terms` steps of the depth lie side by side in the image whose elements b[.., depth, column]
/// are, and columns behind them, as packed_matrix() says?
bool is_packed(const Tensor &b, int terms);

/// Is e an element, perhaps widened, whose innermost index is the rest of `depth` by `terms`, so
/// that a dot product reads neighbours?
bool lies_in_dots(Expr e, const std::string &depth, int terms);

}  // namespace polyhalite::ops
