// Reductions that leave nothing to run at once get it: partial results, in parallel and in vectors.
//
//   over r(0, 1 << 20): total() += f(r)
//   ->  split(r, ro, ri, 131072), split(ri, ri, rl, 32), rfactor({{rl, lane}, {ro, task}}, ...)
//   ->  over ri(0, 4096): total_intm(lane, task) += f(task * 131072 + ri * 32 + lane)
//       over rl(0, 32), ro(0, 8): total() += total_intm(rl, ro)
#pragma once

#include <vector>

#include "autosched/machine.h"
#include "autosched/model.h"

namespace polyhalite::autosched {

/// Directives that split and factor the long associative updates without free loops, as far as the
/// user has left theirs open; empty where there are none. Whether it pays is for the cost model.
std::vector<Directive> factor_reductions(const PipelineModel &m, const Machine &machine);

}  // namespace polyhalite::autosched
