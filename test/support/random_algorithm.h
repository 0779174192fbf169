// Random algorithms.
#pragma once

#include "lang/ir/algorithm.h"
#include "test/support/dice.h"

namespace polyhalite::test {

/// Of one output. `stencils`: chains of stencils, which windows slide over.
Algorithm random_algorithm(Dice &dice, bool stencils);

}  // namespace polyhalite::test
