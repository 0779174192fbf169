// What one instance of a stage does: its guards, the values that it writes, and what it reports.
#pragma once

#include "codegen/ir/stmt.h"
#include "codegen/passes/trace.h"
#include "polyhedral/survey.h"

namespace polyhalite {

///     f(x, y) = g(x) + 1  ->  if x_in_range { f(x, y % 4) = g(x) + 1 }
Stmt stage_body(const LoopTree &tree, const Survey &survey, const Tracer &tracer,
                const StageId &stage);

}  // namespace polyhalite
