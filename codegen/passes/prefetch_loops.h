// Loops over the region around a prefetch of each cache line of its rows:
//
//   for f.prefetch.1 in ... { for f.prefetch.0 in (0, lines) { prefetch f(min + 16*x, y) } }
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Prefetch `number` of the tree; undefined for a constant, which is part of the code.
Stmt prefetch_loops(const LoopTree &tree, const Survey &survey, size_t number);

}  // namespace polyhalite
