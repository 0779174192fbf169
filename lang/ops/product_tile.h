// Sizes of products' parts: register tiles, what a tile costs and the one that wastes the least;
// what is packed for how many rows; panels for the caches.
#pragma once

#include <optional>

#include "lang/ops/dots.h"
#include "polyhalite/ops.h"

namespace polyhalite::ops {

/// A register tile of sums: `vectors` of `lanes` results, `rows` rows.
struct ProductTile {
  int lanes = 1, vectors = 1, rows = 1;
  bool all_columns = false;  // the last vector then has lanes without a column
  double cycles = 0;         // of all tiles, by the cost per step
  int columns() const { return lanes * vectors; }
};

/// The dot product that makes the sums; nothing where products are added one by one. Its terms run
/// along the only reduction.
std::optional<Dot> dot_of(const Stage &s, const Target &target);

/// The tile that wastes the least: lanes beyond the last column, rows computed twice, and steps
/// with too few sums to keep the processor busy. `one_strip`: a tile has all columns.
ProductTile product_tile(const Stage &s, const std::optional<Dot> &dot, bool may_mask,
                         bool one_strip, const Target &target);

/// A register tile of `vectors` columns and rows whose sums are vectors of partial ones, along the
/// reduction. Their lanes are added up in the end.
ProductTile tile_along_depth(const Stage &s, const Target &target);

/// How many rows have to read a strip of columns of a right operand, before it is packed for them.
/// `rows`: 0 where their number is open; `row_bytes`: of the operand's; `steps`: its rows, 0: open.
int64_t rows_worth_packing(int64_t rows, int64_t row_bytes, int64_t steps, const ProductTile &tile,
                           const Target &target);

/// How a large right operand is read as it lies, for so few rows of the left one that they do not
/// hide what it takes to fetch it. While a strip of columns is used, the next one is fetched
/// (`fetches_strips`), or few terms at a time in long rows, which the processor fetches ahead.
struct StreamedOperand {
  ProductTile tile;
  bool fetches_strips = false;
  int terms = 0;    // that all columns read before the next ones
  int columns = 0;  // of a task
};
/// Nothing where the operand is too small for that, or no tile keeps the processor busy. `bytes`:
/// of an element; `of_step`: terms of a dot product, 1 where there is none.
std::optional<StreamedOperand> streamed_operand(int64_t rows, int64_t columns, int64_t terms,
                                                int64_t bytes, int lanes, int of_step,
                                                const Target &target);

/// Terms of sums whose strip of columns stays in the second cache while all rows read it; 0: all
/// do, or no such number divides the steps.
int64_t terms_of_block(int64_t rows, int64_t steps, int64_t bytes, const ProductTile &tile,
                       const Target &target);

constexpr int64_t kFewestRowsOfPanels = 32;

/// A second cache of 512 KiB does not hold a strip and the rows that pass it, and what the third
/// one holds comes late where others use it. Parts of a product whose operands stay in the second
/// cache: of the left one `block` rows of `terms`, which all strips of the right one read, each of
/// them from the first cache.
struct ProductPanels {
  int rows = 0, columns = 0;  // of the output
  int block = 0;              // rows of the left operand
  int terms = 0;              // 0: none fit
};
/// `bytes` of a factor as it is packed, `sum_bytes` of a sum.
ProductPanels product_panels(int64_t rows, int64_t columns, int64_t steps, int64_t bytes,
                             int64_t sum_bytes, const ProductTile &tile);

}  // namespace polyhalite::ops
