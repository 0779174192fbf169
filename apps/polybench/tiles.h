// Tiles of sums that stay in the registers of the machine that code is made for.
#pragma once

#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

/// Doubles of a vector, and rows of two vectors of sums each.
struct Tile {
  int lanes = 4, rows = 6;
  int columns() const { return 2 * lanes; }
};

Tile register_tile();

/// sum(x, y) += left(k, y)*right(x, k): tiles of sums, over strips of columns of `right`. Strips
/// are laid out side by side where all of `sum` is computed at once.
void tile_product(polyhalite::Func sum, const polyhalite::RVar &k, polyhalite::Func right);

/// sum(x) += a(k, x)*b(k) for some x together, each with a vector of partial sums. Returns those;
/// they are computed in the loop "rows" of the sum.
polyhalite::Func sum_along_rows(polyhalite::Func sum, const polyhalite::RVar &k);

}  // namespace polyhalite_apps
