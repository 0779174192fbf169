// Changes of a plan at one Func: other places, other loops, with what follows from them for the
// members of its group.
#pragma once

#include <vector>

#include "autosched/machine.h"
#include "autosched/plan.h"

namespace polyhalite::autosched {

/// What the user leaves open of a Func.
bool may_move(const FuncModel &f);
bool may_tile(const FuncModel &f);
/// Outputs, extern stages and what they read.
bool stays_at_root(const FuncModel &f);
/// Does it have a long reduction whose sums may stay in registers?
bool has_sums(const FuncModel &f);

/// Loops outside of a host's tiles that are worth a look.
std::vector<std::vector<OuterLoop>> tilings(const PipelineModel &m, const Machine &machine,
                                            int func, const FuncPlan &root);

/// The group that contains all that consumes the Func, and the innermost level that they share; -1
/// where there is none.
struct Home {
  int host = -1, level = -1;
};
Home home_of(const PipelineModel &m, const Plan &plan, int func);

/// The Func as a member of a group, with vectors and unrolling for what it computes there.
FuncPlan member_plan(const PipelineModel &m, const Machine &machine, const Plan &plan, int func,
                     int host, int level, bool slides);
/// Where a host's loops change, levels of its members may vanish: those go to the innermost there
/// is.
void settle_members(const PipelineModel &m, const Machine &machine, int host, Plan *plan);
/// Puts at root the members of a group whose host is no host any more.
void dissolve(const PipelineModel &m, const Machine &machine, int host, Plan *plan);

/// Every other placement of one Func, the rest of the plan unchanged; those that cannot be cost
/// infinity.
std::vector<Plan> other_placements(const PipelineModel &m, const Machine &machine, const Plan &plan,
                                   int func);
/// Every other block of the Func's innermost loops.
std::vector<Plan> other_nests(const PipelineModel &m, const Machine &machine, const Plan &plan,
                              int func);

}  // namespace polyhalite::autosched
