// likely_windows: which side of a sliding window's choice holds after the first iteration.
#pragma once

#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

/// Where a window slides along a loop, and what is new is computed inside of a further one, each
/// iteration of that one asks whether it is in the first of the outer one:
///
///   for y { for x { let f.new.1 = select(y <= 0, y - 1, y + 1)  compute f from f.new.1 to y + 1 } }
///
/// The value that holds in later iterations becomes likely(), for `partition_loops` to cut the loop
/// over y: rows of one are then no loops.
std::vector<Symbol> with_likely_windows(const LoopTree &tree, const Survey &survey,
                                        std::vector<Symbol> symbols);

}  // namespace polyhalite
