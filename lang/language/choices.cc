#include "polyhalite/choices.h"

#include "polyhalite/tail_strategy.h"

namespace polyhalite {

const char *memory_type_name(MemoryType m) {
  switch (m) {
    case MemoryType::Auto:
      return "Auto";
    case MemoryType::Heap:
      return "Heap";
    case MemoryType::Stack:
      return "Stack";
    case MemoryType::Register:
      return "Register";
    case MemoryType::GPUShared:
      return "GPUShared";
    case MemoryType::GPUTexture:
      return "GPUTexture";
    case MemoryType::LockedCache:
      return "LockedCache";
    case MemoryType::VTCM:
      return "VTCM";
    case MemoryType::AMXTile:
      return "AMXTile";
    case MemoryType::GPUSharedAsync:
      return "GPUSharedAsync";
  }
  return "";
}

const char *partition_name(Partition p) {
  switch (p) {
    case Partition::Auto:
      return "Auto";
    case Partition::Never:
      return "Never";
    case Partition::Always:
      return "Always";
  }
  return "";
}

const char *prefetch_bound_name(PrefetchBoundStrategy s) {
  switch (s) {
    case PrefetchBoundStrategy::Clamp:
      return "Clamp";
    case PrefetchBoundStrategy::GuardWithIf:
      return "GuardWithIf";
    case PrefetchBoundStrategy::NonFaulting:
      return "NonFaulting";
  }
  return "";
}

const char *align_strategy_name(LoopAlignStrategy align) {
  switch (align) {
    case LoopAlignStrategy::AlignStart:
      return "AlignStart";
    case LoopAlignStrategy::AlignEnd:
      return "AlignEnd";
    case LoopAlignStrategy::NoAlign:
      return "NoAlign";
    case LoopAlignStrategy::Auto:
      return "Auto";
  }
  return "";
}

const char *tail_strategy_name(TailStrategy tail) {
  switch (tail) {
    case TailStrategy::Auto:
      return "Auto";
    case TailStrategy::RoundUp:
      return "RoundUp";
    case TailStrategy::GuardWithIf:
      return "GuardWithIf";
    case TailStrategy::Predicate:
      return "Predicate";
    case TailStrategy::PredicateLoads:
      return "PredicateLoads";
    case TailStrategy::PredicateStores:
      return "PredicateStores";
    case TailStrategy::ShiftInwards:
      return "ShiftInwards";
    case TailStrategy::ShiftInwardsAndBlend:
      return "ShiftInwardsAndBlend";
    case TailStrategy::RoundUpAndBlend:
      return "RoundUpAndBlend";
  }
  return "";
}

}  // namespace polyhalite
