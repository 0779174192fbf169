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
  }
  return "";
}

}  // namespace polyhalite
