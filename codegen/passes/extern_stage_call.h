// The call of the C function that computes an extern stage.
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

///     evaluate extern_stage("f", inputs..., views of what Func number `func` computes)
Stmt extern_stage_call(const LoopTree &tree, const Survey &survey, int func, const CallNode &call);

}  // namespace polyhalite
