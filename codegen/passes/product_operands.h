// product_operands: the operands of a matrix instruction as vectors, from the scalars of its loops.
//
//   a[m*s + k], k in (0, 8), m in (0, 2)  ->  a[ramp(ramp(0, 1, 8), broadcast(s, 8), 2)]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite {

/// A loop of a product: counter = min, min + 1, ...
struct ProductLoop {
  std::string counter;
  Expr min;
  int extent;
};

/// A scalar's values in all iterations of the loops, those of the first loop side by side.
struct InLanes {
  Expr value;                     // undefined where it has no vector form
  bool has_uniform_load = false;  // of a scalar, that only iterations which the mask has need
};
/// `mask`, of the first loop, has the iterations that may touch memory; undefined: all.
InLanes in_lanes(const Expr &e, const std::vector<ProductLoop> &loops, const Expr &mask = {});

/// Rows of dense elements in memory.
struct MemoryRows {
  Expr first, stride;  // Int(64)
};

/// Is the index first + row*stride + column?
std::optional<MemoryRows> rows_of(const Expr &index, const ProductLoop &row,
                                  const ProductLoop &column);
/// Is it first + term/group*stride + column*group + term%group? Then a row has `group` terms of
/// each column.
std::optional<MemoryRows> interleaved_rows_of(const Expr &index, const ProductLoop &column,
                                              const ProductLoop &term, int group);

/// The index of all elements of `count` rows of `columns` elements, row after row.
Expr index_of_rows(const MemoryRows &rows, int count, int columns);

/// Each group of `group` lanes of a condition `times` times in a row, in ramps where it is one of
/// ramps:  ramp(0, 1, 4) < broadcast(n, 4), 2, 2  ->
///   ramp(broadcast(ramp(0, 1, 2), 2), broadcast(2, 4), 2) < broadcast(n, 8)
Expr groups_repeated(const Expr &condition, int group, int times);

}  // namespace polyhalite
