// unroll_loops: loops of kind Unrolled become their iterations.
//
//   for x in (a, 3) unrolled {S}   ->   S with x = a;  S with x = a + 1;  S with x = a + 2
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Needs constant extents. Indices of allocations become constants where nothing else varies, which
/// is what lets accumulators live in registers.
Function unroll_loops(const Function &f);

}  // namespace polyhalite
