// Random schedules with kernels: blocks, threads, lanes, memory of blocks and registers.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"
#include "lang/ir/directive.h"
#include "test/support/dice.h"

namespace polyhalite::test {

/// Gives some Funcs copies of the images that they read, which kernels may stage.
void stage_images(Dice &dice, Algorithm &algorithm);

/// Directives for the algorithm, drawn without asking anybody. Most are legal.
std::vector<Directive> random_kernels(Dice &dice, const Algorithm &algorithm);

}  // namespace polyhalite::test
