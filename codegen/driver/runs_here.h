// Can code for a target run on this machine?
#pragma once

#include "polyhalite/target.h"

namespace polyhalite {

/// CompileError where it is for another machine, or has instructions that this one lacks.
void check_runs_here(const Target &target);

}  // namespace polyhalite
