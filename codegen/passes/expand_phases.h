// expand_phases: unrolled loops whose counters choose what loops inside do become their iterations.
//
//   for phase in (0, 2) unrolled {                    for i in (0, n) { f(i, 0) = f(i, 0) + 1 }
//     for i in (0, n) {                          ->   for i in (0, n) { f(i, 1) = f(i, 0)*2 }
//       f(i, phase) = select(phase == 0, f(i, 0) + 1, f(i, 0)*2)
//     }
//   }
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// As unroll_loops would in the end, but early: passes that look at loops see those of each phase,
/// with their own conditions and cells.
Function expand_phases(const Function &f);

}  // namespace polyhalite
