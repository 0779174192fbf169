// limited_sums: what a condition says of sums of variables.
//
//   x + r < n && 2*x >= 2*r + 3   ->   x + r in (-inf, n - 1], x - r in [2, inf)
//
// Two rows with a variable in common make a third one without it, as far as that is no longer, and
// still a sum:
//
//   y <= r && r <= x              ->   x - r >= 0, r - y >= 0, x - y >= 0
#pragma once

#include <vector>

#include "polyhedral/interval.h"

namespace polyhalite {

/// The comparisons of Int(32) that all hold where the condition does.
std::vector<Expr> comparisons_in(const Expr &condition);

/// Of pure and reduction variables, and of what is computed of them without memory: x - r*r. The
/// longest sums first. A null condition says nothing.
std::vector<LimitedSum> limited_sums(const Expr &condition);

}  // namespace polyhalite
