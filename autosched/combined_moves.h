// Several decisions that pay only together, which changes of one Func at a time do not find.
#pragma once

#include <vector>

#include "autosched/machine.h"
#include "autosched/plan.h"

namespace polyhalite::autosched {

/// A host's tile is a block of sums, the reduction `func` is computed in it, and what it reads is
/// packed per strip of blocks, or inlined. None where that does not suit the Func.
std::vector<Plan> sums_in_blocks(const PipelineModel &m, const Machine &machine, const Plan &plan,
                                 int func);

/// Long strips of a host, of one or several rows at a time, along which all that it reads slides:
/// the members of its group, and a few more that only the group reads.
std::vector<Plan> rows_that_slide(const PipelineModel &m, const Machine &machine, const Plan &plan,
                                  int host);

}  // namespace polyhalite::autosched
