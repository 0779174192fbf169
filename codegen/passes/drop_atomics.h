// drop_atomics: updates of what one thread alone can reach need no lock.
//
//   for y in (0, h) parallel {               for y in (0, h) parallel {
//     allocate sum: float32[1]                 allocate sum: float32[1]
//     atomic { sum[0] = sum[0] + a }     ->    sum[0] = sum[0] + a
//   }                                        }
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// An update is made alone where nothing that runs at once stands around it, or where the
/// buffers that it writes are allocated inside of the innermost one. Comes behind vectorize_loops,
/// for which `atomic` also says that lanes may be combined.
Function drop_atomics(const Function &f);

}  // namespace polyhalite
