// promote_accumulators: cells that a reduction updates again and again are carried on the stack.
//
//   for k in (0, n) {                       if n > 0 {
//     for i in (0, 4) unrolled {              allocate c.carried: float32(0, 4) stack
//       c(x + i) = c(x + i) + a(k)*b(i)       for i in (0, 4) unrolled { c.carried(i) = c(x + i) }
//     }                                 ->    for k in (0, n) {
//   }                                           for i in (0, 4) unrolled {
//                                                 c.carried(i) = c.carried(i) + a(k)*b(i)
//                                               }
//                                             }
//                                             for i in (0, 4) unrolled { c(x + i) = c.carried(i) }
//                                           }
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// For serial loops whose counters the cell's indices do not use, around vector and unrolled loops
/// whose counters they may use; the cells are few enough for registers, different for different
/// counters, and whatever else of the buffer is read is proven to be none of them (distinct_cells).
/// Works at the multi-dimensional level, where different indices are different cells. Funcs on the
/// stack need no help, but that their cells lie as a matrix instruction has its result.
Function promote_accumulators(const Function &f);

}  // namespace polyhalite
