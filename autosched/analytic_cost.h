// The cost model that knows machines, not measurements. A plan costs what its groups cost, one
// after the other; a group is remembered by the plans of its Funcs, and of a plan that differs from
// another one in little only the groups that differ are looked up.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "autosched/cost_model.h"
#include "autosched/group_cost.h"

namespace polyhalite::autosched {

class AnalyticCost : public CostModel {
 public:
  AnalyticCost(const PipelineModel &model, const Machine &machine);
  std::string version() const override { return "analytic 3"; }
  std::vector<double> costs(const std::vector<Candidate> &candidates) override;

  double cost(const Plan &plan);
  /// With its stages, not remembered.
  GroupCost group(const Plan &plan, int host);

 private:
  std::vector<double> group_costs(const Plan &plan);
  double group_total(const Plan &plan, int host);
  uint64_t key_of(const Plan &plan, int host);
  void mark_groups(const Plan &plan, int func, std::vector<char> *groups) const;

  const PipelineModel &model_;
  const Machine machine_;
  Expander expand_;
  std::vector<std::vector<int>> producers_;  // [Func] Funcs that it reads
  std::vector<char> marked_;                 // scratch of key_of
  std::unordered_map<uint64_t, double> memo_;
};

}  // namespace polyhalite::autosched
