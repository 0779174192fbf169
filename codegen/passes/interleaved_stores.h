// interleaved_stores: vectors of a loop's iterations that lie between one another are stored as
// one, so that they are turned in registers.
//
//   for c<3 { f[ramp(3*x + c, 3, 8)] = v(c) }  ->  f[ramp(3*x, 1, 24)] = interleaved v(0), v(1),
//   v(2)
//
// Between the iterations of 4, 8 or 16 and their next there may be others: rows with gaps.
#pragma once

#include <cstdint>

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// What the n iterations of a loop of lets and stores, one for each buffer, write. Undefined where
/// they do not lie so, or where a value reads what is stored.
Stmt interleaved_stores(const Stmt &loop, int64_t n);

}  // namespace polyhalite
