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
    case DirectiveKind::HoistStorage:
      return "hoist_storage";
    case DirectiveKind::HoistStorageRoot:
      return "hoist_storage_root";
    case DirectiveKind::RingBuffer:
      return "ring_buffer";
    case DirectiveKind::Async:
      return "async";
    case DirectiveKind::ComputeWith:
      return "compute_with";
    case DirectiveKind::Bound:
      return "bound";
  }
  return "";
}

bool names_level(DirectiveKind kind) {
  return kind == DirectiveKind::ComputeAt || kind == DirectiveKind::StoreAt ||
         kind == DirectiveKind::HoistStorage || kind == DirectiveKind::ComputeWith;
}

}  // namespace polyhalite
