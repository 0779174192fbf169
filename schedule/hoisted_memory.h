// hoisted_memory: the copies of a Func that serve the branches of one stage (specialize) have one
// memory where their storage is hoisted out of the branches.
//
//   hoist f { hoist f$g$b1 { if c { for x { f$g$b1; g } } else { for x { f; g } } } }
//     -> one memory, as large as either needs
#pragma once

#include "schedule/loop_tree.h"

namespace polyhalite {

/// The Func whose hoisted memory has the storage of `func`: itself, or a copy of the same Func that
/// is hoisted around it and whose storage is in another case of a branch, so that no run of the
/// branch has both.
int memory_owner(const LoopTree &tree, int func);

}  // namespace polyhalite
