// The search: a beam over where each Func is computed, consumers first, then trials that change one
// Func of the best plans at a time. Every state is a complete plan (Funcs without a decision are at
// root), so that the search can end at any time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "autosched/cost_model.h"
#include "autosched/options.h"

namespace polyhalite::autosched {

/// What was chosen for a Func, and the best of the other placements in the same place of the
/// search.
struct Choice {
  int func = -1;
  std::string other;  // described
  double ratio = 1;   // the other plan's cost over the chosen one's
};

struct Found {
  Plan plan;
  double cost = 0;
};

struct SearchResult {
  std::vector<Found> plans;  // best first, all different; the template is among them
  int considered = 0;
  bool out_of_time = false;
};

/// `seconds`: since the scheduling began.
SearchResult search(const PipelineModel &model, const Machine &machine, const Options &options,
                    CostModel &costs, const std::function<double()> &seconds);

}  // namespace polyhalite::autosched
