// What a trace tells its readers at its beginning: of each traced Func and image the types and the
// region that the pipeline touches, and the texts of add_trace_tag().
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Tag events with the parent `pipeline`. First, for each name of `traced`, the last one first,
///     func_type_and_dim: TYPES (CODE BITS LANES)... DIMENSIONS (MIN EXTENT)...
/// then the user's tags, by name, and of one Func or image in the order in which they were added.
std::vector<Stmt> trace_tags(const LoopTree &tree, const Survey &survey,
                             const std::map<std::string, std::vector<Type>> &traced,
                             const Expr &pipeline);

}  // namespace polyhalite
