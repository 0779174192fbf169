// What a trace tells its readers at its beginning: of each traced Func and image the types and the
// region that the pipeline touches, and the texts of add_trace_tag().
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Tag events with the parent `pipeline`. First, for each image and then each Func that is traced
/// (producers first),
///     func_type_and_dim: TYPES (CODE BITS LANES)... DIMENSIONS (MIN EXTENT)...
/// then the user's tags, by name, and of one Func or image in the order in which they were added.
std::vector<Stmt> trace_tags(const LoopTree &tree, const Survey &survey,
                             const std::set<std::string> &traced_funcs, const Expr &pipeline);

}  // namespace polyhalite
