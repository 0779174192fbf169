// flatten_storage: multi-dimensional accesses become element indices.
//
//   allocate f: float32 (y0, h, x0, 64)       allocate f: float32[int64(h)*64]
//   f(y, x) = in(x, y)                   ->   f[int64(y) - int64(y0) + ...] = in[...]
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// An index is the sum of (i_d - min_d) * stride_d in Int(64), products distributed, so that it
/// stays linear in every counter. Strides of allocations are products of extents; mins and strides
/// of buffer arguments are their fields, or constants where an entry check pins them; those of
/// constants are numbers. Parts e/c and e%c of a fused loop that lie beside each other in memory
/// are e again. A Func of several values has a buffer "NAME.I" for each.
Function flatten_storage(const Function &f);

}  // namespace polyhalite
