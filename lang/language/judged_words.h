// Words that give an update's reduction another order are judged where they are called, as far as
// the directives so far decide it.
#pragma once

#include "polyhalite/stage.h"

namespace polyhalite {

/// CompileError where the directives of the stage up to the last one let its reduction run in an
/// order, or at once, that it does not allow; those from number `first` on are then taken back.
void judge_reduction(const Stage &s, size_t first);

}  // namespace polyhalite
