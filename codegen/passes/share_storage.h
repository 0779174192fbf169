// share_storage: storage whose content nobody needs any more gives its memory to a later one.
//
//   allocate f: int32(0, 16) stack          allocate f: int32(0, 16) stack
//     f(x) = ...                              f(x) = ...
//     allocate g: int32(0, 16) stack          allocate g: int32(0, 16) stack
//       g(x) = f(x) + 1                ->       g(x) = f(x) + 1
//       allocate h: int32(0, 14) stack          place h: int32(0, 14) in f at 0i64
//         h(x) = g(x + 1)                         h(x) = g(x + 1)
//         out(x) = h(x)                           out(x) = h(x)
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Among allocations of one loop body on the stack, or that are `shared`, of one element type: a
/// later one takes the memory of an earlier one that is at least as large. Arrays that may become
/// registers, being accessed at the same places in every iteration, are left alone. What a
/// `memoize` keeps is an allocation of its own, whose memory later ones take.
Function share_storage(const Function &f);

}  // namespace polyhalite
