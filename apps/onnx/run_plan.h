// RunPlan: what all runs of a program whose inputs have certain shapes have in common.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/onnx/graph.h"
#include "apps/onnx/kernel.h"

namespace polyhalite::onnx {

/// Memory for values that live at different times.
struct ArenaPlan {
  std::map<ValueId, int64_t> offsets;  // in bytes, aligned to 64
  int64_t bytes = 0;
};
struct Lifetime {
  ValueId value;
  int64_t bytes;
  size_t first, last;  // steps
};
/// Offsets such that values whose lives overlap do not; largest first.
ArenaPlan plan_arena(std::vector<Lifetime> lives);

/// A kernel's arguments but for the addresses of elements.
struct CallPlan {
  bool has_work = false;  // is there an element to compute?
  std::vector<int32_t> symbols;
  std::vector<BufferView> views;  // of inputs, then of outputs
};

struct RunPlan {
  std::vector<std::vector<int64_t>> input_shapes;
  std::map<std::string, int64_t> sizes;  // of the symbols
  // By value; nullopt where it follows from what the program computes.
  std::vector<std::optional<std::vector<int64_t>>> shapes;
  ArenaPlan arena;
  std::vector<int64_t> offsets;  // the arena's, by value; -1 where it has none
  std::optional<int64_t> offset(ValueId v) const {
    const int64_t at = offsets[static_cast<size_t>(v)];
    return at < 0 ? std::nullopt : std::optional<int64_t>(at);
  }
  int64_t bytes = 0;  // that a run asks for, as far as is known
  // By step; nullopt where a size follows from what the program computes, and for host routines.
  std::vector<std::optional<CallPlan>> calls;
};

}  // namespace polyhalite::onnx
