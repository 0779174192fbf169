// check_kernels: loops over blocks and threads stand where a kernel can have them.
//
//   for by gpu_block             one to three, directly inside each other
//     for bx gpu_block
//       for k serial             what all threads of a block run alike
//         for ty gpu_thread      one to three, directly inside each other; several such nests may
//           for tx gpu_thread    stand one after the other
//             f.s0
#pragma once

#include "schedule/loop_tree.h"

namespace polyhalite {

/// CompileError, at the line that marked the loop, where the tree has loops of kernels that no
/// kernel can have, or in a kernel what no code is made for: parallel loops, async and memoized
/// Funcs, hoisted storage, extern stages, values that print, fail or call C functions.
void check_kernels(const LoopTree &tree);

}  // namespace polyhalite
