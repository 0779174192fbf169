// trim_loops: loops leave out the iterations in which a guard inside lets nothing through, whatever
// the counters of short loops and vectors are.
//
//   for xo in (0, n/8) {                       for xo in (0, min(n/8, y/8 + 1)) {
//     for xi in (0, 8) vector {           ->     for xi in (0, 8) vector {
//       if xo*8 + xi <= y { S }                    if xo*8 + xi <= y { S }
//     }                                          }
//   }                                          }
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Of serial loops that do nothing but what the guards let through. Where the counter alone decides
/// a guard, partition_loops needs no help.
Function trim_loops(const Function &f);

}  // namespace polyhalite
