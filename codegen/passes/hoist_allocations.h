// hoist_allocations: heap memory that every iteration of a serial loop asks for is asked for once.
//
//   for x in (0, n) {                       allocate t: float32[4096i64]
//     allocate t: float32[4096i64]     ->   for x in (0, n) {
//     S                                       S
//   }                                       }
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// For allocations at the flat level that stand in every iteration, not under an If, and whose size
/// the loop does not change. They stay inside of parallel loops: each task has its own.
Function hoist_allocations(const Function &f);

}  // namespace polyhalite
