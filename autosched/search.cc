#include "autosched/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "autosched/combined_moves.h"
#include "autosched/placements.h"

namespace polyhalite::autosched {

namespace {

constexpr double kNoCost = std::numeric_limits<double>::infinity();

class Search {
 public:
  Search(const PipelineModel &m, const Machine &machine, const Options &o, CostModel &costs,
         const std::function<double()> &seconds)
      : m_(m), machine_(machine), options_(o), costs_(costs), seconds_(seconds) {}

  SearchResult run() {
    Found start{template_plan(m_, machine_), 0};
    start.cost = costs_.costs({{&start.plan}})[0];
    result_.considered++;
    keep(start);
    if (options_.budget > 0) {
      beam();
      combine();
      refine();
    }
    finish(start);
    return std::move(result_);
  }

 private:
  bool in_time(double share) {
    if (seconds_() < options_.budget * share) return true;
    result_.out_of_time = true;
    return false;
  }

  // Costs of plans that differ in little from `bases`, of which each has a number of them, one
  // after the other; those that cannot be are left out, the rest comes back cheapest first.
  struct Family {
    const Plan *base = nullptr;
    size_t size = 0;
  };
  void score(std::vector<Found> *list, const std::vector<Family> &families) {
    std::vector<Candidate> candidates;
    for (const Family &family : families) {
      for (size_t i = 0; i < family.size; i++) {
        candidates.push_back({&(*list)[candidates.size()].plan, family.base});
      }
    }
    const std::vector<double> costs = costs_.costs(candidates);
    for (size_t i = 0; i < list->size(); i++) (*list)[i].cost = costs[i];
    result_.considered += static_cast<int>(list->size());
    list->erase(std::remove_if(list->begin(), list->end(),
                               [](const Found &f) { return !(f.cost < kNoCost); }),
                list->end());
    std::stable_sort(list->begin(), list->end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
  }

  void keep(const Found &f) {
    if (f.cost < kNoCost) best_.push_back(f);
  }

  void beam() {
    Found root;
    for (size_t f = 0; f < m_.funcs.size(); f++) {
      FuncPlan p = root_plan(m_, static_cast<int>(f), machine_);
      if (m_.funcs[f].user_inline) p.where = Where::Inline;
      root.plan.funcs.push_back(p);
    }
    std::vector<Found> states = {root, {template_plan(m_, machine_), 0}};
    score(&states, {{nullptr, states.size()}});
    for (size_t f = m_.funcs.size(); f-- > 0;) {
      if (!in_time(0.7)) break;
      std::vector<Found> next;
      std::vector<Family> families;
      for (const Found &s : states) {
        const size_t before = next.size();
        next.push_back(s);  // with the Func as it is
        for (Plan &p : other_placements(m_, machine_, s.plan, static_cast<int>(f))) {
          next.push_back({std::move(p), 0});
        }
        families.push_back({&s.plan, next.size() - before});
      }
      score(&next, families);
      thin(&next);
      states = std::move(next);
    }
    for (const Found &s : states) keep(s);
  }

  // Keeps the best, and of plans with one structure only a few that differ in tiles.
  void thin(std::vector<Found> *list) const {
    constexpr int kOfOneStructure = 3;
    std::map<std::vector<int>, int> of_structure;
    std::vector<Found> kept;
    for (Found &f : *list) {
      if (static_cast<int>(kept.size()) >= options_.beam) break;
      if (!kept.empty() && kept.back().plan.funcs == f.plan.funcs) continue;
      std::vector<int> structure;
      for (size_t i = 0; i < f.plan.funcs.size(); i++) {
        const FuncPlan &p = f.plan.funcs[i];
        structure.push_back(static_cast<int>(p.where) * 1000 + p.host * 8 + p.level);
      }
      if (++of_structure[structure] > kOfOneStructure) continue;
      kept.push_back(std::move(f));
    }
    *list = std::move(kept);
  }

  // What pays only together.
  void combine() {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
    Found now = best_[0];
    const auto best_of = [&](std::vector<Plan> plans) -> std::optional<Found> {
      std::vector<Found> trials;
      for (Plan &p : plans) trials.push_back({std::move(p), 0});
      score(&trials, {{&now.plan, trials.size()}});
      if (trials.empty()) return std::nullopt;
      if (trials[0].cost < now.cost) {
        now = trials[0];
        keep(now);
      }
      return trials[0];
    };
    const int count = static_cast<int>(m_.funcs.size());
    for (int f = 0; f < count; f++) best_of(sums_in_blocks(m_, machine_, now.plan, f));
    for (int f = count; f-- > 0 && in_time(0.8);) {
      const std::optional<Found> slides = best_of(rows_that_slide(m_, machine_, now.plan, f));
      if (slides && (!sliding_ || slides->cost < sliding_->cost)) sliding_ = slides;
    }
  }

  // Changes one Func, and keeps what is better, until nothing is.
  void refine() {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
    std::vector<Found> starts(best_.begin(), best_.begin() + std::min<size_t>(best_.size(), 4));
    if (sliding_) starts.push_back(*sliding_);
    std::mt19937_64 random(options_.seed);
    for (Found &now : starts) {
      std::vector<int> order(m_.funcs.size());
      for (size_t f = 0; f < order.size(); f++) order[f] = static_cast<int>(f);
      for (bool better = true; better;) {
        better = false;
        for (size_t f = order.size(); f > 1; f--) {
          std::swap(order[f - 1], order[random() % f]);
        }
        for (const int f : order) {
          if (!in_time(1.0)) break;
          std::vector<Found> trials;
          for (Plan &p : other_placements(m_, machine_, now.plan, f))
            trials.push_back({std::move(p), 0});
          for (Plan &p : other_nests(m_, machine_, now.plan, f))
            trials.push_back({std::move(p), 0});
          score(&trials, {{&now.plan, trials.size()}});
          if (trials.empty() || trials[0].cost >= now.cost * (1 - 1e-9)) continue;
          now = trials[0];
          better = true;
        }
        if (result_.out_of_time) break;
      }
      keep(now);
      if (result_.out_of_time) break;
    }
  }

  void finish(const Found &start) {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
    for (const Found &f : best_) {
      const bool known = std::any_of(result_.plans.begin(), result_.plans.end(),
                                     [&](const Found &g) { return g.plan.funcs == f.plan.funcs; });
      if (!known) result_.plans.push_back(f);
    }
    if (result_.plans.empty()) result_.plans.push_back(start);
  }

  const PipelineModel &m_;
  const Machine &machine_;
  const Options &options_;
  CostModel &costs_;
  const std::function<double()> &seconds_;
  std::vector<Found> best_;
  std::optional<Found> sliding_;  // the best where windows slide: trials begin there, too
  SearchResult result_;
};

}  // namespace

SearchResult search(const PipelineModel &model, const Machine &machine, const Options &options,
                    CostModel &costs, const std::function<double()> &seconds) {
  return Search(model, machine, options, costs, seconds).run();
}

}  // namespace polyhalite::autosched
