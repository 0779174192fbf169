// entry_checks: what a compiled function tests before its first loop, so that no proof rests on a
// wrong argument.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Pointers, types and numbers of dimensions of buffers. What follows may use the buffers' fields.
/// With `queries`, one without memory may have any type: bounds_query (bounds_query.h) answers such
/// calls, and sets it.
std::vector<Stmt> shape_checks(const std::string &function,
                               const std::vector<FunctionArgument> &args, bool queries);

/// What the program promises about a buffer argument; null where it says nothing.
const ParameterContents *constraints_of(const FunctionArgument &a, const Algorithm &algorithm);

/// That buffers have memory where the pipeline looks for it, the ranges of buffers, and of the
/// scalars that `pipeline` or a check uses, the user's constraints and requirements, the
/// assumptions of the survey, and the boxes that are read and written; no buffer has more than
/// f.buffer_limit bytes. They use the survey's root symbols. Of f all but its body is read.
std::vector<Stmt> value_checks(const Function &f, const LoopTree &tree, const Survey &survey,
                               const Stmt &pipeline);

/// What the pipeline touches of a buffer argument, or null. An output Func of several values is
/// touched alike in the buffer of each.
const Box *needed_box(const FunctionArgument &a, const Algorithm &algorithm, const Survey &survey);

}  // namespace polyhalite
