// vectorize_loops: loops of kind Vector become one pass over vectors.
//
//   for x in (0, 8) vector {             if x0 + 7 ... is any lane's business: a mask
//     if x0 + x < n {               ->   f[ramp(x0, 1, 8) if ramp(x0, 1, 8) < broadcast(n, 8)] =
//       f[x0 + x] = g[2*(x0 + x)]          g[ramp(2*x0, 2, 8) if ...]
//     }
//   }
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Needs the flat level and constant extents; the judge has shown that iterations carry nothing.
/// What has no vector form (calls of users' functions, stores of many lanes into one element, inner
/// loops whose ranges differ by lane) runs lane after lane in a serial loop instead. Inner vector
/// loops are done first: their lanes are the fast ones. Allocations inside get a copy per lane.
Function vectorize_loops(const Function &f, const Target &target);

/// One loop of n iterations without vector loops inside, in vector form; what has none runs lane
/// after lane in a serial loop of the same name. Where iterations add products T(x)*T(y) of
/// narrower x and y to one cell, in an Atomic, the cell's new value is sum_products of all.
Stmt vector_form(const Stmt &loop, int n);

}  // namespace polyhalite
