// split_registers: what the threads of a block keep for themselves from one phase to the next.
//
//   allocate acc: float32(0, 64) thread                allocate acc: float32(0, 4) thread
//   for tx in (0, 16) gpu_thread {                     for tx in (0, 16) gpu_thread {
//     for i in (0, 4) unrolled {              ->         for i in (0, 4) unrolled {
//       acc(tx*4 + i) = 0.0f                               acc(i) = 0.0f
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Proves that each element of such an allocation is one thread's, and drops from its indices what
/// tells the threads apart. Throws CompileError with two threads that share an element.
Function split_registers(const Function &f);

}  // namespace polyhalite
