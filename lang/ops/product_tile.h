// Register tiles of products: what a tile costs, and the one that wastes the least.
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

/// The register tile with the most rows of those that divide `rows`; its vectors are a power of
/// two.
ProductTile tile_of_few_rows(int64_t rows, int lanes, const Target &target);

/// A register tile of `vectors` columns and rows whose sums are vectors of partial ones, along the
/// reduction. Their lanes are added up in the end.
ProductTile tile_along_depth(const Stage &s, const Target &target);

}  // namespace polyhalite::ops
