// lower: a judged loop tree becomes loop IR at the multi-dimensional level.
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Loops, symbols, guards and allocations exactly as surveyed, with the entry checks in front.
Function lower(const std::string &name, const LoopTree &tree, const Survey &survey);

}  // namespace polyhalite
