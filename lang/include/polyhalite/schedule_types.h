// The enumerations that words of a schedule take.
#pragma once

namespace polyhalite {

/// Where a Func's storage lies.
enum class MemoryType {
  Auto,      ///< Stack where it is small and of constant size, else Heap.
  Heap,      ///< From the allocator.
  Stack,     ///< In the frame of the function, where its size is known and at most 64 KiB.
  Register,  ///< As Stack, of constant size: small enough for registers, says the user.
  GPUShared,
  GPUTexture,
  LockedCache,
  VTCM,
  AMXTile,
};
/// "Auto", "Heap"...
const char *memory_type_name(MemoryType m);

/// Is a loop cut into the iterations that need no guards and clamps, and those at its ends?
///
///     for x in [0, n) { f(x) = in(clamp(x - 1)) }
///  -> for x in [0, 1) { f(x) = in(clamp(x - 1)) }
///     for x in [1, n) { f(x) = in(x - 1) }
enum class Partition {
  Auto,    ///< Where it promises to pay.
  Never,   ///< The loop stays one.
  Always,  ///< Also inside the ends of a loop around; an error where there is nothing to cut.
};
/// "Auto", "Never", "Always".
const char *partition_name(Partition p);

/// What a prefetch does where its region leaves what there is.
enum class PrefetchBoundStrategy {
  Clamp,        ///< Takes what both have in common.
  GuardWithIf,  ///< Prefetches nothing then.
  NonFaulting,  ///< Prefetches anyway: the machine's instruction never faults.
};
/// "Clamp", "GuardWithIf", "NonFaulting".
const char *prefetch_bound_name(PrefetchBoundStrategy s);

}  // namespace polyhalite
