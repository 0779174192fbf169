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
    case DirectiveKind::Bound:
      return "bound";
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
    case DirectiveKind::GpuBlocks:
      return "gpu_blocks";
    case DirectiveKind::GpuThreads:
      return "gpu_threads";
    case DirectiveKind::GpuLanes:
      return "gpu_lanes";
    case DirectiveKind::GpuSingleThread:
      return "gpu_single_thread";
    case DirectiveKind::Hexagon:
      return "hexagon";
    case DirectiveKind::CopyToDevice:
      return "copy_to_device";
    case DirectiveKind::CopyToHost:
      return "copy_to_host";
  }
  return "";
}

bool concerns_loops(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::Split:
    case DirectiveKind::Fuse:
    case DirectiveKind::Reorder:
    case DirectiveKind::Rename:
    case DirectiveKind::Parallel:
    case DirectiveKind::Vectorize:
    case DirectiveKind::Unroll:
    case DirectiveKind::Serial:
    case DirectiveKind::GpuBlocks:
    case DirectiveKind::GpuThreads:
    case DirectiveKind::GpuLanes:
    case DirectiveKind::GpuSingleThread:
    case DirectiveKind::Hexagon:
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

bool concerns_device(DirectiveKind kind) {
  return names_device(kind) || kind == DirectiveKind::Hexagon || kind == DirectiveKind::CopyToHost;
}

}  // namespace polyhalite
