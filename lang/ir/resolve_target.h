// resolve_target: select(target_arch_is(1), a, b)  ->  select(true, a, b)
//                 extern<int32>(a::f, x)           ->  extern<int32>(_ZN1a1fEi, x)
#pragma once

#include "lang/ir/freeze.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Answers the algorithm's and the directives' questions about the target (target_query.h), and
/// replaces external functions' names by the symbols that the linker has for them.
FrozenPipeline resolve_target(FrozenPipeline pipeline, const Target &target);

}  // namespace polyhalite
