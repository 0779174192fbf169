// share_loops: compute_with. The loops of a stage, from the outermost to a given one, are those of
// another stage.
//
//   for g.y { for g.x { g } }              for g.y {
//   for f.y { for f.x { f } }        ->      for g.x { g }
//   f.compute_with(g, y)                     for f.x { f }        while y is in f's range
//                                          }
#pragma once

#include <vector>

#include "schedule/loop_tree.h"

namespace polyhalite {

/// `tree` has algorithm, loops and nests. Loops that no stage has any more are removed, the others
/// renumbered. Throws CompileError: a leader without loops of its own, loops that differ in name or
/// kind.
LoopTree share_loops(LoopTree tree, const std::vector<Directive> &directives);

/// The ids and numbers that `also` and `loops` have follow from `shared`: `tree` with both set.
LoopTree with_leaders_loops(LoopTree tree);

/// CompileError where stages that share loops are not computed at one level, or their Func is one
/// whose productions stand apart (async).
void check_shared(const LoopTree &tree);

}  // namespace polyhalite
