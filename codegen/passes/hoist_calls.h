// hoist_calls: a call that has the same operands in every iteration is made in front of the loop.
//
//   for y in (0, h) parallel {               let y.call.0 = pure_extern<float32>(g, p)
//     out[y] = pure_extern<float32>(g, p)     ->  for y in (0, h) parallel {
//   }                                          out[y] = y.call.0
//                                            }
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// For calls of pure C functions and of mathematical functions, which no other pass would take out
/// of the body of a parallel loop, at the flat level. Those under an If stay: they may be there not
/// to be made.
Function hoist_calls(const Function &f);

}  // namespace polyhalite
