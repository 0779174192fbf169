// place: the tree's nodes, from placements. Productions stand before the consumer's nest in the
// block of their compute level; allocations enclose production and uses in the block of their store
// level.
#pragma once

#include "schedule/loop_tree.h"

namespace polyhalite {

/// CompileError where an async Func needs what the task beside it computes.
void check_forks(const LoopTree &tree);

/// Fills `roots` of a tree that has all else but the hash.
///   block of L:  [allocate f {] f's stages ... the rest of L's nest [}]
LoopTree place(LoopTree tree);

}  // namespace polyhalite
