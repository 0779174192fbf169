#include "autosched/analytic_cost.h"

#include <algorithm>
#include <numeric>

#include "autosched/hash.h"

namespace polyhalite::autosched {

AnalyticCost::AnalyticCost(const PipelineModel &model, const Machine &machine)
    : model_(model), machine_(machine), expand_(model), marked_(model.funcs.size()) {
  for (const FuncModel &f : model.funcs) {
    std::vector<int> &reads = producers_.emplace_back();
    for (const StageModel &s : f.stages) {
      for (const Footprint &p : s.footprints) {
        if (model.is_func(p.callee)) reads.push_back(p.callee);
      }
    }
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  }
}

uint64_t AnalyticCost::key_of(const Plan &plan, int host) {
  uint64_t key = mix(static_cast<uint64_t>(host), plan.funcs.hash(static_cast<size_t>(host)));
  for (const int p : producers_[static_cast<size_t>(host)]) marked_[static_cast<size_t>(p)] = 1;
  for (size_t f = static_cast<size_t>(host); f-- > 0;) {
    if (!marked_[f]) continue;
    marked_[f] = 0;
    if (plan.funcs[f].where == Where::Root) {
      key = mix(key, f * 3 + 1);
      continue;
    }
    key = mix(mix(key, f), plan.funcs.hash(f));
    for (const int p : producers_[f]) marked_[static_cast<size_t>(p)] = 1;
  }
  return key;
}

GroupCost AnalyticCost::group(const Plan &plan, int host) {
  return group_cost(model_, machine_, expand_, plan, host);
}

double AnalyticCost::group_total(const Plan &plan, int host) {
  const uint64_t key = key_of(plan, host);
  const auto known = memo_.find(key);
  if (known != memo_.end()) return known->second;
  return memo_[key] = group(plan, host).total;
}

std::vector<double> AnalyticCost::group_costs(const Plan &plan) {
  std::vector<double> costs(plan.funcs.size(), 0.0);
  for (size_t f = 0; f < costs.size(); f++) {
    if (plan.funcs[f].where == Where::Root) costs[f] = group_total(plan, static_cast<int>(f));
  }
  return costs;
}

// The groups whose cost depends on how the Func is computed: its own, and those that read it.
void AnalyticCost::mark_groups(const Plan &plan, int func, std::vector<char> *groups) const {
  const auto mark = [&](int f) {
    const FuncPlan &p = plan.funcs[static_cast<size_t>(f)];
    if (p.where == Where::Root) (*groups)[static_cast<size_t>(f)] = 1;
    if (p.where == Where::At) (*groups)[static_cast<size_t>(p.host)] = 1;
  };
  mark(func);
  for (const int c : materialised_consumers(model_, plan, func)) mark(c);
}

double AnalyticCost::cost(const Plan &plan) {
  const std::vector<double> groups = group_costs(plan);
  return std::accumulate(groups.begin(), groups.end(), 0.0);
}

std::vector<double> AnalyticCost::costs(const std::vector<Candidate> &candidates) {
  std::vector<double> result;
  const Plan *base = nullptr;
  std::vector<double> base_groups;
  for (const Candidate &c : candidates) {
    if (!c.base) {
      result.push_back(cost(*c.plan));
      continue;
    }
    if (c.base != base) {
      base = c.base;
      base_groups = group_costs(*base);
    }
    std::vector<char> changed(base_groups.size(), 0);
    for (size_t f = 0; f < changed.size(); f++) {
      if (c.plan->funcs.same(f, base->funcs)) continue;
      mark_groups(*base, static_cast<int>(f), &changed);
      mark_groups(*c.plan, static_cast<int>(f), &changed);
    }
    // Summed in the same order as without a base, to the same last digit.
    double total = 0;
    for (size_t f = 0; f < changed.size(); f++) {
      double group = base_groups[f];
      if (changed[f]) {
        const bool is_host = c.plan->funcs[f].where == Where::Root;
        group = is_host ? group_total(*c.plan, static_cast<int>(f)) : 0;
      }
      total += group;
    }
    result.push_back(total);
  }
  return result;
}

}  // namespace polyhalite::autosched
