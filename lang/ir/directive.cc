#include "lang/ir/directive.h"

namespace polyhalite {

const char *directive_name(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::Split:
      return "split";
    case DirectiveKind::Fuse:
      return "fuse";
    case DirectiveKind::Reorder:
      return "reorder";
    case DirectiveKind::Rename:
      return "rename";
    case DirectiveKind::Skew:
      return "skew";
    case DirectiveKind::Reverse:
      return "reverse";
    case DirectiveKind::Shift:
      return "shift";
    case DirectiveKind::Parallel:
      return "parallel";
    case DirectiveKind::Vectorize:
      return "vectorize";
    case DirectiveKind::Unroll:
      return "unroll";
    case DirectiveKind::Serial:
      return "serial";
    case DirectiveKind::ComputeRoot:
      return "compute_root";
    case DirectiveKind::ComputeInline:
      return "compute_inline";
    case DirectiveKind::ComputeAt:
      return "compute_at";
    case DirectiveKind::StoreRoot:
      return "store_root";
    case DirectiveKind::StoreAt:
      return "store_at";
    case DirectiveKind::HoistStorage:
      return "hoist_storage";
    case DirectiveKind::HoistStorageRoot:
      return "hoist_storage_root";
    case DirectiveKind::RingBuffer:
      return "ring_buffer";
    case DirectiveKind::Async:
      return "async";
    case DirectiveKind::Memoize:
      return "memoize";
    case DirectiveKind::ComputeWith:
      return "compute_with";
    case DirectiveKind::Bound:
      return "bound";
    case DirectiveKind::BoundExtent:
      return "bound_extent";
    case DirectiveKind::AlignBounds:
      return "align_bounds";
    case DirectiveKind::AlignExtent:
      return "align_extent";
    case DirectiveKind::ReorderStorage:
      return "reorder_storage";
    case DirectiveKind::AlignStorage:
      return "align_storage";
    case DirectiveKind::Pack:
      return "pack";
    case DirectiveKind::FoldStorage:
      return "fold_storage";
    case DirectiveKind::BoundStorage:
      return "bound_storage";
    case DirectiveKind::StoreIn:
      return "store_in";
    case DirectiveKind::Partition:
      return "partition";
    case DirectiveKind::Prefetch:
      return "prefetch";
    case DirectiveKind::TraceLoads:
      return "trace_loads";
    case DirectiveKind::TraceStores:
      return "trace_stores";
    case DirectiveKind::TraceRealizations:
      return "trace_realizations";
    case DirectiveKind::TracePipeline:
      return "trace_pipeline";
    case DirectiveKind::TraceTag:
      return "add_trace_tag";
    case DirectiveKind::DebugToFile:
      return "debug_to_file";
    case DirectiveKind::NoProfiling:
      return "no_profiling";
    case DirectiveKind::GpuBlocks:
      return "gpu_blocks";
    case DirectiveKind::GpuThreads:
      return "gpu_threads";
    case DirectiveKind::GpuLanes:
      return "gpu_lanes";
    case DirectiveKind::GpuSingleThread:
      return "gpu_single_thread";
    case DirectiveKind::Tensorize:
      return "tensorize";
    case DirectiveKind::Hexagon:
      return "hexagon";
    case DirectiveKind::SmeStreaming:
      return "sme_streaming";
    case DirectiveKind::CopyToDevice:
      return "copy_to_device";
    case DirectiveKind::CopyToHost:
      return "copy_to_host";
    case DirectiveKind::In:
      return "in";
    case DirectiveKind::CloneIn:
      return "clone_in";
    case DirectiveKind::Rfactor:
      return "rfactor";
    case DirectiveKind::Fission:
      return "fission";
    case DirectiveKind::Scan:
      return "scan";
    case DirectiveKind::Specialize:
      return "specialize";
    case DirectiveKind::SpecializeFail:
      return "specialize_fail";
    case DirectiveKind::EagerInline:
      return "eager_inline";
    case DirectiveKind::ChangeType:
      return "change_type";
    case DirectiveKind::InPlace:
      return "in_place";
    case DirectiveKind::HoistInvariants:
      return "hoist_invariants";
    case DirectiveKind::StreamLoads:
      return "stream_loads";
    case DirectiveKind::StreamStores:
      return "stream_stores";
    case DirectiveKind::Atomic:
      return "atomic";
    case DirectiveKind::AllowRaceConditions:
      return "allow_race_conditions";
  }
  return "";
}

bool concerns_loops(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::Split:
    case DirectiveKind::Fuse:
    case DirectiveKind::Reorder:
    case DirectiveKind::Rename:
    case DirectiveKind::Skew:
    case DirectiveKind::Reverse:
    case DirectiveKind::Shift:
    case DirectiveKind::Parallel:
    case DirectiveKind::Vectorize:
    case DirectiveKind::Unroll:
    case DirectiveKind::Serial:
    case DirectiveKind::GpuBlocks:
    case DirectiveKind::GpuThreads:
    case DirectiveKind::GpuLanes:
    case DirectiveKind::GpuSingleThread:
    case DirectiveKind::Tensorize:
    case DirectiveKind::Hexagon:
    case DirectiveKind::SmeStreaming:
    case DirectiveKind::Fission:
      return true;
    default:
      return false;
  }
}

bool makes_loops(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::Split:
    case DirectiveKind::Fuse:
    case DirectiveKind::Rename:
    case DirectiveKind::Skew:
    case DirectiveKind::Reverse:
    case DirectiveKind::Shift:
      return true;
    default:
      return false;
  }
}

bool names_device(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::GpuBlocks:
    case DirectiveKind::GpuThreads:
    case DirectiveKind::GpuLanes:
    case DirectiveKind::GpuSingleThread:
    case DirectiveKind::CopyToDevice:
      return true;
    default:
      return false;
  }
}

const std::vector<DirectiveKind> &all_directive_kinds() {
  static const std::vector<DirectiveKind> kinds = [] {
    std::vector<DirectiveKind> all;
    for (DirectiveKind k{}; *directive_name(k); k = static_cast<DirectiveKind>(all.size())) {
      all.push_back(k);
    }
    return all;
  }();
  return kinds;
}

bool concerns_device(DirectiveKind kind) {
  return names_device(kind) || kind == DirectiveKind::Tensorize || kind == DirectiveKind::Hexagon ||
         kind == DirectiveKind::SmeStreaming || kind == DirectiveKind::CopyToHost;
}

bool makes_func(DirectiveKind kind) {
  return kind == DirectiveKind::In || kind == DirectiveKind::CloneIn ||
         kind == DirectiveKind::Rfactor || kind == DirectiveKind::Scan ||
         kind == DirectiveKind::ChangeType || kind == DirectiveKind::HoistInvariants;
}

bool names_level(DirectiveKind kind) {
  return kind == DirectiveKind::ComputeAt || kind == DirectiveKind::StoreAt ||
         kind == DirectiveKind::HoistStorage || kind == DirectiveKind::ComputeWith;
}

}  // namespace polyhalite
