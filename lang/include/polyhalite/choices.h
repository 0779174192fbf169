// Named choices that directives take, beside TailStrategy.
#pragma once

namespace polyhalite {

/// Where a Func's values are kept.
enum class MemoryType {
  Auto,            // the compiler's choice
  Heap,            // polyhalite_malloc, or the device's own memory
  Stack,           // the frame of the function; of constant size
  Register,        // registers, accessed at constant coordinates only
  GPUShared,       // memory that the threads of a GPU block share
  GPUTexture,      // texture memory of a GPU
  LockedCache,     // locked cache lines of a DSP
  VTCM,            // tightly coupled memory of Hexagon's vector units
  AMXTile,         // tile registers of x86
  GPUSharedAsync,  // GPUShared, filled by copies that run beside the threads
};
/// "Auto", "Heap"...
const char *memory_type_name(MemoryType m);

/// The device that a loop runs on.
enum class DeviceAPI {
  None,  // the device of the loops around
  Host,
  Default_GPU,  // the one that the target has
  CUDA,
  OpenCL,
  Metal,
  Hexagon,
  HexagonDma,
  D3D12Compute,
  Vulkan,
  WebGPU,
};

/// Every one of them, in order.
inline constexpr DeviceAPI all_device_apis[] = {
    DeviceAPI::None,         DeviceAPI::Host,   DeviceAPI::Default_GPU, DeviceAPI::CUDA,
    DeviceAPI::OpenCL,       DeviceAPI::Metal,  DeviceAPI::Hexagon,     DeviceAPI::HexagonDma,
    DeviceAPI::D3D12Compute, DeviceAPI::Vulkan, DeviceAPI::WebGPU,
};

/// Whether a loop is cut into a steady state and its ends:
///
///     for x in [0, n) { f(x) = in(clamp(x - 1)) }
///  -> for x in [0, 1) { f(x) = in(clamp(x - 1)) }
///     for x in [1, n) { f(x) = in(x - 1) }
enum class Partition {
  Auto,  // where it pays
  Never,
  Always,  // also inside the ends of a loop around; the pipeline is refused where nothing is cut
};
/// "Auto", "Never", "Always".
const char *partition_name(Partition p);

/// What a prefetch does beyond the bounds of what it fetches.
enum class PrefetchBoundStrategy {
  Clamp,        // fetch only what lies within
  GuardWithIf,  // fetch nothing where a part lies outside
  NonFaulting,  // fetch all the same: a prefetch does not trap
};
/// "Clamp", "GuardWithIf", "NonFaulting".
const char *prefetch_bound_name(PrefetchBoundStrategy s);

/// How compute_with lines up two loops of different bounds.
enum class LoopAlignStrategy {
  AlignStart,  // their first iterations run together
  AlignEnd,    // their last iterations run together
  NoAlign,     // equal values of the loops run together
  Auto,        // NoAlign
};
/// "AlignStart", "AlignEnd", "NoAlign", "Auto".
const char *align_strategy_name(LoopAlignStrategy align);

/// How the symbol of an external function is made from its name.
enum class NameMangling {
  Default,    // CPlusPlus where the name has namespaces or the target c_plus_plus_name_mangling
  C,          // the name itself
  CPlusPlus,  // with its namespaces and the types of its parameters
};

/// The form of printed loop code.
enum StmtOutputFormat {
  Text,
  HTML,
};

}  // namespace polyhalite
