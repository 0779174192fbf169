// Calls of C functions that get a Func's values: what computes an extern stage, debug_to_file.
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

///     evaluate extern_stage("f", inputs..., views of the box of Func number `func`)
/// `box`: what the call computes.
Stmt extern_stage_call(const LoopTree &tree, const Survey &survey, int func, const CallNode &call,
                       const Box &box);

///     evaluate debug_to_file("name", view of the box of func), for each such directive of func
/// `box`: what of func is stored.
Stmt debug_to_files(const LoopTree &tree, const Survey &survey, int func, const Box &box);

}  // namespace polyhalite
