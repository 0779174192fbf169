// skip_no_ops: a store that leaves its cell as it is, where a condition holds, is not made there.
//
//   for x in (0, w)                                      for x in (0, w)
//     f(x) = f(x) + select(a <= x && x < b, g(x), 0) ->    if a <= x && x < b
//                                                            f(x) = f(x) + g(x)
//
// What the condition leaves out of loops, partition_loops cuts off.
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Of conditions that compare what is no data, and stores whose values read something else than
/// their own cell; not inside of vector loops, where a select costs less.
Function skip_no_ops(const Function &f);

}  // namespace polyhalite
