// What is allowed and rarely meant.
#pragma once

#include "lang/ir/freeze.h"

namespace polyhalite {

/// Warns of updates without any directive for their loops where another stage of their Func has
/// one, and of accesses past the caches of Funcs that are computed inline.
void warn_of_schedules(const FrozenPipeline &pipeline);

}  // namespace polyhalite
