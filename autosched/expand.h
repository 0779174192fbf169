// What a stage computes and reads with the inlined Funcs in their places, counted without building
// expressions: accesses compose as affine maps.
//
//   g(x) = f(x) + f(x + 1),  f(x) = in(x) * in(x + 2), inlined
//   ->   g: 3 operations and in at x, x + 1, x + 2, x + 3
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "autosched/model.h"
#include "autosched/plan.h"

namespace polyhalite::autosched {

struct ExpandedStage {
  double operations = 0, operation_bytes = 0;
  int widest = 1;
  std::vector<Access> accesses;  // of Funcs that are computed, and of images
  bool too_large = false;        // more than code should be made for
};

class Expander {
 public:
  explicit Expander(const PipelineModel &model) : model_(model) {}
  /// Remembered by what is inlined.
  const ExpandedStage &operator()(const Plan &plan, int func, int stage);

 private:
  ExpandedStage expand(const Plan &plan, int func, int stage) const;

  const PipelineModel &model_;
  std::unordered_map<uint64_t, ExpandedStage> memo_;
};

}  // namespace polyhalite::autosched
