// What the operands of products are made of, how they lie in memory, how they are packed.
#pragma once

#include <optional>
#include <string>

#include "lang/ir/node.h"
#include "lang/ops/loops.h"
#include "lang/ops/product_tile.h"
#include "polyhalite/ops.h"

namespace polyhalite::ops {

/// Sums of so many bytes stay in the first cache beside what they take in.
inline constexpr int64_t kNearSums = 16 << 10;

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

/// Packs an operand that lies along the reduction in squares, turned in registers: gathers of a
/// strip's columns took longer than the product of 64 rows. `columns`, `depth`: what is packed at a
/// time. False, and nothing is done, where it lies otherwise.
bool turn_as_packed(const Func &operand, int64_t columns, const Expr &depth, const Target &target);

/// Packs an operand row by row, in vectors; strips of the tile's columns if `in_strips`, `open`
/// where that cannot be proven. Rows of a strip of an image are asked for before their turn.
void pack_rows(Func operand, const ProductTile &tile, bool in_strips, bool open);

/// The right operand of a product of two matrices of bytes in 16 bits, which are the rows of the
/// left one, too, in a copy of it: where processors' dot products widen bytes, each is widened once
/// so. Nothing where it would not pay, or the left one is no image.
std::optional<Func> widened_once(const Loops &to, const Stage &s, Func right, const Target &target);

}  // namespace polyhalite::ops
