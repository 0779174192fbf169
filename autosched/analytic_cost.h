// The cost model that knows machines, not measurements. A plan costs what its groups cost, one after
// the other; a group is remembered by the plans of its Funcs.
//
// Per stage: instructions of its vectors with what is inlined, loads by how they move with the vector,
// and traffic: of all loops around the innermost, the most that fit a cache with what they touch
// are found; what the loops outside of these touch again comes from the next cache.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>

#include "autosched/cost_model.h"
#include "autosched/expand.h"

namespace polyhalite::autosched {

/// Of one stage, in nanoseconds of one core, all its runs together.
struct StageCost {
  int func = -1, stage = 0;
  double points = 0;  // computed, those that are computed several times counted so
  double compute = 0, caches = 0, memory = 0;
};

struct GroupCost {
  double total = 0;  // nanoseconds on all cores
  std::vector<StageCost> stages;
};

class AnalyticCost : public CostModel {
 public:
  AnalyticCost(const PipelineModel &model, const Machine &machine)
      : model_(model), machine_(machine), expand_(model) {}
  std::string version() const override { return "analytic 1"; }
  std::vector<double> costs(const std::vector<const Plan *> &plans) override;

  double cost(const Plan &plan);
  /// With its stages, not remembered.
  GroupCost group(const Plan &plan, int host);

 private:
  uint64_t key_of(const Plan &plan, int host) const;

  const PipelineModel &model_;
  const Machine machine_;
  Expander expand_;
  std::unordered_map<uint64_t, double> memo_;
};

}  // namespace polyhalite::autosched
