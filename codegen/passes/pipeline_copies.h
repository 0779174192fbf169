// pipeline_copies: rings of memory of the block are filled ahead by asynchronous copies.
//
//   for k in (0, n) {                               allocate t: float32(0, 8, 0, 64, 0, 3) block
//     allocate t: float32(k*8, 8, 0, 64) block      for k.ahead in (0, 2) {
//       ring 3                                        if k.ahead < n { async t(.., k.ahead%3) = ..
//       }
//     produce t {                                     commit_copies
//       phase { t(x, y) = in(x, y) }          ->    }
//     }                                             for k in (0, n) {
//     uses t(x, y)                                    wait_copies 1
//   }                                                 barrier
//                                                     if k + 2 < n { async t(.., (k + 2)%3) = .. }
//                                                     commit_copies
//                                                     uses t(x - k*8, y, k%3)
//                                                   }
//                                                   wait_copies 0
//
// One barrier an iteration: behind the wait it lets all threads see what each of them waited for,
// and it stands between the last readers of a place in the ring and the next copies into it.
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Leaves no rings. Throws CompileError where what is produced ahead is no copy of memory of the
/// device that the kernel only reads.
Function pipeline_copies(const Function &f);

}  // namespace polyhalite
