// Productions of memoized Funcs.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

///     production  ->  memoize "pipeline/f" of f by (box, inputs) { production }
Stmt memoized_production(const LoopTree &tree, const Survey &survey, int func,
                         const std::string &pipeline, const Stmt &production);

}  // namespace polyhalite
