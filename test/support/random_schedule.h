// Random directives for an algorithm.
#pragma once

#include <functional>
#include <vector>

#include "lang/ir/algorithm.h"
#include "lang/ir/directive.h"
#include "test/support/dice.h"

namespace polyhalite::test {

/// Throws CompileError where a list of directives makes no sense; what else it does is no matter.
using CheckSchedule = std::function<void(const Algorithm &, const std::vector<Directive> &)>;

/// `windows`: mostly levels that make windows slide. Draws that `check` throws at are mostly taken
/// back, so that few lists are structural errors.
std::vector<Directive> random_schedule(Dice &dice, const Algorithm &algorithm, bool windows,
                                       const CheckSchedule &check);

}  // namespace polyhalite::test
