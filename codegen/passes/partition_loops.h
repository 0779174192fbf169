// partition_loops: loops are cut where the conditions in their bodies begin and cease to hold.
//
//   for x in (0, w) {                       let x.steady.min, x.steady.end = 1, w - 1, inside (0,
//   w)
//     f(x) = g(max(min(likely(x - 1),  ->   for x.edge in (0, 2) {
//              w - 1), 0))                    for x in (0 or x.steady.end, ...) {the body as it
//              was}
//   }                                         if x.edge == 0 {
//                                               for x in (x.steady.min, ...) { f(x) = g(x - 1) }
//                                             }
//                                           }
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Both edges of a loop share one copy of the body, so that a cut doubles code and no more; edges
/// are not cut again, except to shorten a loop to the iterations that an If lets through. Parallel
/// loops stay one loop with a branch inside. The order of iterations stays. No likely() is left.
Function partition_loops(const Function &f);

}  // namespace polyhalite
