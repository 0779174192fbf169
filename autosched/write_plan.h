// A plan as ordinary directives, in the words that a person would use.
#pragma once

#include <vector>

#include "autosched/plan.h"
#include "lang/ir/directive.h"

namespace polyhalite::autosched {

/// What the plan says beyond the user's directives; these stay as they are. Names are those of the
/// frozen algorithm; new loops are called after the variables that they come from: xi, xv, xb, yu.
std::vector<Directive> write_plan(const PipelineModel &model, const Plan &plan);

}  // namespace polyhalite::autosched
