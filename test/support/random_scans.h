// Scans in random algorithms: Funcs whose cells are made one after the other, each of the one
// before it, and whose values, where they have several, can often be computed apart.
#pragma once

#include "lang/ir/algorithm.h"
#include "test/support/dice.h"

namespace polyhalite::test {

/// A Func's definitions become a pure one of small numbers and an update along one dimension:
///   over r(1, 7): f(x, r) = {f(x, r - 1) + g(x, r), f(x, r - 1).1*2 + f(x, r - 1)}
/// Some are no scans: steps that do not compose, cells further away, values that need each other.
/// Sums are exact in the Func's types, floats too, so that their order shows in no value.
void add_scan(Dice &dice, Algorithm &algorithm);

}  // namespace polyhalite::test
