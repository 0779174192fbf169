// derive_algorithm: what deriving directives make of an algorithm.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct DerivedAlgorithm {
  Algorithm algorithm;  // computes what the given one does
  /// The others of the given directives, about this algorithm's Funcs and stages.
  std::vector<Directive> directives;
};

/// Applies directives in their order. Those that make Funcs or branches change the algorithm:
///   in, clone_in   wrap.h
///   rfactor        rfactor.h
///   fission        fission.h
///   scan           scan.h
///   eager_inline, hoist_invariants, change_type    headers of these names; what was said of a Func
///                  before its type changes is said of the new one
///   specialize     specialize.h; directives on a branch become directives on its stage, which
///                  starts with those that the stage had before
/// Throws CompileError.
DerivedAlgorithm derive_algorithm(const Algorithm &algorithm,
                                  const std::vector<Directive> &directives);

}  // namespace polyhalite
