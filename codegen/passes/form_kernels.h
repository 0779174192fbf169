// form_kernels: loops over blocks, and what they hold, become kernels.
//
//   for by in (b0, n) gpu_block {                kernel f.s0 threads (32, 8, 1) {
//     let y0 = by*8                                for by in (0, n) gpu_block {
//     for bx in (0, m) gpu_block {                   for bx in (0, m) gpu_block {
//       for ty in (y0, 8) gpu_thread {     ->          let y0 = (by + b0)*8
//         for tx in (0, 32) gpu_thread {               for ty in (0, 8) gpu_thread {
//           f(tx, ty) = ...                              for tx in (0, 32) gpu_thread {
//                                                          f(tx, ty + y0) = ...
//       g(bx) = ...                                    for f.s0.thread in (0, 1) gpu_thread {
//                                                        g(bx + 0) = ...
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// What stands in a block outside of loops over threads, and writes, is run by one of its threads.
/// Throws CompileError where a kernel cannot be launched: the extent of a loop over blocks or
/// threads rests on what the kernel computes, a loop over lanes may have more than a warp has, or a
/// block has too many threads or takes too much memory.
Function form_kernels(const Function &f);

}  // namespace polyhalite
