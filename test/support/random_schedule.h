// Random directives for an algorithm.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"
#include "lang/ir/directive.h"
#include "test/support/dice.h"

namespace polyhalite::test {

/// `windows`: mostly levels that make windows slide.
std::vector<Directive> random_schedule(Dice &dice, const Algorithm &algorithm, bool windows);

}  // namespace polyhalite::test
