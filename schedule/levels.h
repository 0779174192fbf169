// levels: binds compute_at and store_at to loops, and says which levels are legal.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "schedule/inline.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

/// What the directives say about a Func's place: the last of each, if any.
struct LevelDirectives {
  std::optional<Directive> compute, store, hoist, ring, async, memoize;
};

/// Fills `placements` of a tree that has algorithm, loops and nests. `levels` goes by the user's
/// names; `user` is the algorithm before inlining, for messages. A Func without compute level
/// stands in the innermost block of its caller outside of the caller's vector loops. Throws
/// CompileError.
LoopTree bind_levels(LoopTree tree, const Materialised &materialised, const Algorithm &user,
                     const std::map<std::string, LevelDirectives> &levels);

}  // namespace polyhalite
