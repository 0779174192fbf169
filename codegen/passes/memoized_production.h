// Productions of memoized Funcs.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// production  ->  memoize "MEMORY/f" of f by (box, inputs) { production }
Stmt memoized_production(const LoopTree &tree, const Survey &survey, const std::string &memory,
                         int func, const Stmt &production);

}  // namespace polyhalite
