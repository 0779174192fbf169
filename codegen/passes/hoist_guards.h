// hoist_guards: a condition that a loop's counter does not decide is asked once, around the loop.
//
//   for k in (0, n)                                if y < h
//     for x in (0, 16) vector                ->      for k in (0, n)
//       if y < h && k < m                              if k < m
//         f(x, y) = f(x, y) + g(x, k)                    for x in (0, 16) vector
//                                                          f(x, y) = f(x, y) + g(x, k)
//
// Inside of unrolled loops there would be a branch at each store, and sums would not stay in
// registers between them.
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Of conditions that read no memory, out of serial, unrolled and vector loops that do nothing
/// else; not in kernels.
Function hoist_guards(const Function &f);

}  // namespace polyhalite
