// bounds_query: a call with a buffer that has no memory asks for shapes and computes nothing.
//
//   if in has no memory or out has no memory {
//     answer_query(in, 0, type, min, extent, stride)   where in has no memory, for each dimension
//   }
//   assert both have memory else query_answered()      which is 0
#pragma once

#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Stands after the checks of shape, inside the survey's root symbols.
std::vector<Stmt> answer_bounds_query(const std::vector<FunctionArgument> &args,
                                      const LoopTree &tree, const Survey &survey);

}  // namespace polyhalite
