// resolve_target: select(target_arch_is(1), a, b)  ->  select(true, a, b)
#pragma once

#include "lang/ir/freeze.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Answers the algorithm's and the directives' questions about the target (target_query.h).
FrozenPipeline resolve_target(FrozenPipeline pipeline, const Target &target);

}  // namespace polyhalite
