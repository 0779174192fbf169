// entry_checks: what a compiled function tests before its first loop, so that no proof rests on a
// wrong argument.
#pragma once

#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Asserts in this order: pointers, types and dimensions of buffers; the user's constraints; the
/// assumptions of the survey; the boxes that are read and written.
std::vector<Stmt> entry_checks(const std::string &function,
                               const std::vector<FunctionArgument> &args, const LoopTree &tree,
                               const Survey &survey);

}  // namespace polyhalite
