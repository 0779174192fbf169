// What the members of a group compute in one iteration of each of its loops, at a tile in the
// middle.
//
//   out: y by 32, x by 128; blur_x in it     boxes of blur_x at depth 0, 1, 2:
//                                            1920 x 1082, 1920 x 34, 128 x 34
#pragma once

#include <optional>
#include <vector>

#include "autosched/plan.h"

namespace polyhalite::autosched {

/// A host's loops from outside; depth 0 is outside of all of them, level l of the plan is depth l +
/// 1.
struct HostLoops {
  std::vector<double> trips;     // [depth] of the loop that leads there; 1 for depth 0
  std::vector<NumberBox> boxes;  // [depth] what one iteration computes of the host
};
HostLoops host_loops(const PipelineModel &m, int host, const FuncPlan &plan);

struct GroupBoxes {
  std::vector<double> trips;                  // [depth]
  std::vector<std::vector<NumberBox>> boxes;  // [depth][Func or image]; empty: not needed there
  std::vector<int> cone;  // the host, its members and what is inlined between, consumers first
  int innermost() const { return static_cast<int>(trips.size()) - 1; }
};

/// nullopt where a member is asked for where it is not yet computed.
std::optional<GroupBoxes> find_group_boxes(const PipelineModel &m, const Plan &plan, int host);

/// [Func or image] what one iteration of the host's loop of this level needs of each, where all
/// that are not at root are computed for it.
std::vector<NumberBox> needs_at_level(const PipelineModel &m, const Plan &plan, int host,
                                      int level);

}  // namespace polyhalite::autosched
