// What a group costs: per stage, instructions of its vectors with what is inlined, loads by how
// they move with the vector, and traffic. Of all loops around the innermost, the most that fit a
// cache with what they touch are found; what the loops outside of these touch again comes from the
// next cache.
#pragma once

#include <vector>

#include "autosched/expand.h"
#include "autosched/machine.h"
#include "autosched/plan.h"

namespace polyhalite::autosched {

/// Of one stage, in nanoseconds of one core, all its runs together.
struct StageCost {
  int func = -1, stage = 0;
  double points = 0;  // computed, those that are computed several times counted so
  double compute = 0, l2 = 0, l3 = 0, memory = 0;  // traffic by where it comes from
};

struct GroupCost {
  double total = 0;  // nanoseconds on all cores; infinity where the group cannot be
  std::vector<StageCost> stages;
};

GroupCost group_cost(const PipelineModel &m, const Machine &machine, Expander &expand,
                     const Plan &plan, int host);

}  // namespace polyhalite::autosched
