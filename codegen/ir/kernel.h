// What a kernel is made of: its loops over blocks, its phases of threads, and what it uses of the
// function around it.
//
//   kernel NAME threads (32, 8, 1) {
//     for by in (0, n) gpu_block {          blocks[1]   y
//       for bx in (0, m) gpu_block {        blocks[0]   x
//         allocate t: float32(0, 34, 0, 10) block
//         for ty in (0, 10) gpu_thread {    a phase:    loops[1]   y
//           for tx in (0, 34) gpu_thread {              loops[0]   x
//             t(tx, ty) = ...
//           }
//         }
//         barrier
//         for ty in (0, 8) gpu_thread { ...            another phase
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Is s a loop over threads or lanes?
bool is_thread_loop(const Stmt &s);

/// What one block may have on every device that code is made for.
inline constexpr int64_t kMostBlockBytes = 227 * 1024;  // sm_90; sm_80 has 163 KiB
inline constexpr int64_t kMostStaticBlockBytes = 48 * 1024;
inline constexpr int64_t kMostThreads = 1024, kMostThreadsAlongZ = 64;
inline constexpr int64_t kWarpLanes = 32;

/// A perfect nest of loops of one sort, the innermost first, and what stands inside.
struct Nest {
  std::vector<Stmt> loops;
  Stmt body;
};

/// The loops over blocks of a Kernel.
Nest block_nest(const Stmt &kernel);
/// The loops over threads and lanes that begin with `loop`.
Nest thread_nest(const Stmt &loop);

struct KernelBuffer {
  std::string name;
  Type type;
  bool is_read = false, is_written = false;
};

/// What a kernel takes from the function around it. At the flat level.
struct KernelOperands {
  std::vector<Expr> scalars;          // variables that something outside binds, by name
  std::vector<KernelBuffer> buffers;  // arguments, constants, allocations around it, by name
};
KernelOperands kernel_operands(const Stmt &kernel);

/// The bytes of all allocations of home `block` in the kernel, each 128-byte aligned, those that
/// are never there at one time included.
int64_t block_bytes(const Stmt &kernel);

/// What breaks the shape of kernels, or nothing:
///  - a kernel holds one to three loops over blocks, perfectly nested, from 0; their extents, and
///    the numbers of threads, use nothing that the kernel binds;
///  - inside stand, run by all threads alike, serial and unrolled loops, ifs, lets, allocations,
///    barriers, commits and waits of copies; nothing is written there but in phases;
///  - a phase is one to three loops over threads, perfectly nested, from 0, whose extents use
///    nothing that the kernel binds; a loop over lanes is the innermost, and has at most 32;
///  - in a phase stand no barriers, loops over blocks or threads, parallel loops, forks, asserts,
///    memoized or measured blocks; nor at block level, but barriers and phases;
///  - allocations of home `block` stand at block level, all take at most 227 KiB.
std::optional<std::string> kernel_problem(const Stmt &kernel);

}  // namespace polyhalite
