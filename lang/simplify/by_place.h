// by_place: an operator that takes what is met first (or last) of equal keys, made one whose
// operands may change places. Its values say where each was found:
//
//   over r(0, 9), s(0, 9): f() = {min(f, in(r, s)), select(in(r, s) < f, r, f.1), ..., s, f.2)}
//   op {min(a0, b0), select(b0 < a0, b1, a1), ...}
//   -> the same with b0 < a0 || (b0 == a0 && (b2 < a2 || (b2 == a2 && b1 < a1)))
#pragma once

#include <optional>

#include "lang/ir/algorithm.h"
#include "lang/simplify/associative.h"

namespace polyhalite {

/// `update`, of a stage of f, with such an operator. nullopt where not all of the place is among
/// the values, or where what the cell starts with might be taken for a place of the domain's.
std::optional<AssociativeUpdate> ordered_by_place(const AssociativeUpdate &update, const FuncDef &f,
                                                  int stage);

}  // namespace polyhalite
