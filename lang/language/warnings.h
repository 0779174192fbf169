// What is allowed and rarely meant.
#pragma once

#include "lang/ir/freeze.h"

namespace polyhalite {

/// Warns of updates without any directive for their loops where another stage of their Func has one.
void warn_of_unscheduled_updates(const FrozenPipeline &pipeline);

}  // namespace polyhalite
