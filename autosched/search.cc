#include "autosched/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace polyhalite::autosched {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t extent(const FuncModel &f, int d) { return f.whole[static_cast<size_t>(d)].extent(); }

// What the user leaves open of a Func.
bool may_move(const FuncModel &f) { return !f.fixed_place && !f.fixed_loops && !f.is_host; }
bool may_tile(const FuncModel &f) { return !f.fixed_loops && !f.is_host && !f.is_extern; }

// Loops outside of a host's tiles that are worth a look.
std::vector<std::vector<OuterLoop>> tilings(const PipelineModel &m, const Machine &machine,
                                            int func, const FuncPlan &root) {
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  const StageModel &s = f.stages[static_cast<size_t>(host_stage(f))];
  const Nest &n = root.nests[static_cast<size_t>(host_stage(f))];
  std::vector<std::vector<OuterLoop>> list = {root.outer};
  const auto free = [&](int d) {
    return d < f.dimensions() && s.has_loop[static_cast<size_t>(d)] && extent(f, d) >= 4;
  };
  if (f.no_tiles || f.dimensions() < 2 || !free(1)) return list;
  for (int64_t rows : {2, 4, 6, 8, 16, 32, 64, 128, 256}) {
    if (rows > extent(f, 1) / 2) break;
    if (rows >= 8 && rows % n.down == 0) list.push_back({{1, rows}});
    if (!free(0)) continue;
    for (int64_t width : {1, 2, 4, 8, 16, 32, 64}) {
      const int64_t lanes = std::max(n.lanes, 1);
      const int64_t columns = width * lanes;
      if (columns > extent(f, 0) / 2 || rows % n.down != 0) continue;
      const bool registers = width <= 4 && rows <= 8;
      if (!registers && (width < 4 || rows < 8)) continue;
      list.push_back({{1, rows}, {0, columns}});
      if (registers) list.push_back({{0, columns}, {1, rows}});
    }
  }
  for (int d = 2; d < f.dimensions(); d++) {
    if (!free(d) || extent(f, d) < machine.cores) continue;
    list.push_back({{d, 1}});
    for (int64_t rows : {8, 32}) {
      if (rows <= extent(f, 1) / 2) list.push_back({{d, 1}, {1, rows}});
    }
  }
  return list;
}

// The group that contains all that consumes the Func, and the innermost level that they share.
struct Home {
  int host = -1, level = -1;
};
Home home_of(const PipelineModel &m, const Plan &plan, int func) {
  Home h;
  for (const int c : materialised_consumers(m, plan, func)) {
    const FuncPlan &p = plan.funcs[static_cast<size_t>(c)];
    const int host = p.where == Where::Root ? c : p.host;
    if (h.host >= 0 && h.host != host) return {};
    const FuncPlan &hp = plan.funcs[static_cast<size_t>(host)];
    const int innermost = p.where == Where::Root ? level_count(m, host, hp) - 1 : p.level;
    h.level = h.host < 0 ? innermost : std::min(h.level, innermost);
    h.host = host;
  }
  if (h.host >= 0 && !may_tile(m.funcs[static_cast<size_t>(h.host)])) return {};
  return h;
}

// A placement at a level: the box that one production computes decides on its vectors.
NumberBox box_at(const PipelineModel &m, const Plan &plan, int func, const FuncPlan &at) {
  const FuncModel &host = m.funcs[static_cast<size_t>(at.host)];
  const FuncPlan &hp = plan.funcs[static_cast<size_t>(at.host)];
  std::vector<NumberBox> needs(m.funcs.size() + m.images.size());
  NumberBox box = host.whole;
  for (int l = 0; l <= at.level; l++) {
    const bool row = l == static_cast<int>(hp.outer.size());
    const int d = row ? row_dimension(m, at.host, hp) : hp.outer[static_cast<size_t>(l)].dim;
    const int64_t size = row ? 1 : hp.outer[static_cast<size_t>(l)].tile;
    NumberRange &r = box[static_cast<size_t>(d)];
    r.lo = r.lo + r.extent() / 2;
    r.hi = r.lo + size - 1;
  }
  needs[static_cast<size_t>(at.host)] = box;
  for (int f = at.host; f > func; f--) {
    if (needs[static_cast<size_t>(f)].empty()) continue;
    const FuncModel &consumer = m.funcs[static_cast<size_t>(f)];
    const size_t first = f == at.host ? static_cast<size_t>(host_stage(consumer)) : 0;
    for (size_t s = first; s < consumer.stages.size(); s++) {
      add_needs(m, consumer.stages[s], needs[static_cast<size_t>(f)], &needs);
    }
  }
  NumberBox result = needs[static_cast<size_t>(func)];
  return result.empty() ? m.funcs[static_cast<size_t>(func)].whole : result;
}

// Where a host's loops change, levels of its members may vanish: those go to the innermost there is.
void settle_members(const PipelineModel &m, const Machine &machine, int host, Plan *plan) {
  const int levels = level_count(m, host, plan->funcs[static_cast<size_t>(host)]);
  for (size_t f = plan->funcs.size(); f-- > 0;) {
    FuncPlan &p = plan->funcs[f];
    if (p.where != Where::At || p.host != host) continue;
    if (levels == 0) {
      p = root_plan(m, static_cast<int>(f), machine);
      continue;
    }
    p.level = std::min(p.level, levels - 1);
    const int row = static_cast<int>(plan->funcs[static_cast<size_t>(host)].outer.size());
    if (p.level < 1 || p.level != row) p.slides = false;
    p.nests = member_nests(m, static_cast<int>(f), box_at(m, *plan, static_cast<int>(f), p), machine);
  }
}

// Members of a group whose host is no host any more.
void dissolve(const PipelineModel &m, const Machine &machine, int host, Plan *plan) {
  for (size_t f = 0; f < plan->funcs.size(); f++) {
    FuncPlan &p = plan->funcs[f];
    if (p.where == Where::At && p.host == host) p = root_plan(m, static_cast<int>(f), machine);
  }
}

class Search {
 public:
  Search(const PipelineModel &m, const Machine &machine, const Options &o, CostModel &costs,
         const std::function<double()> &seconds)
      : m_(m), machine_(machine), options_(o), costs_(costs), seconds_(seconds) {}

  SearchResult run() {
    Found start{template_plan(m_, machine_), 0};
    score({&start});
    keep(start);
    if (options_.budget > 0) {
      beam();
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

  void score(const std::vector<Found *> &list) {
    std::vector<const Plan *> plans;
    for (const Found *f : list) plans.push_back(&f->plan);
    const std::vector<double> costs = costs_.costs(plans);
    for (size_t i = 0; i < list.size(); i++) list[i]->cost = costs[i];
    result_.considered += static_cast<int>(list.size());
  }

  void score(std::vector<Found> *list) {
    std::vector<Found *> pointers;
    for (Found &f : *list) pointers.push_back(&f);
    score(pointers);
    list->erase(std::remove_if(list->begin(), list->end(),
                               [](const Found &f) { return !(f.cost < kInfinity); }),
                list->end());
    std::stable_sort(list->begin(), list->end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
  }

  void keep(const Found &f) {
    if (f.cost < kInfinity) best_.push_back(f);
  }

  void beam() {
    Found root;
    for (size_t f = 0; f < m_.funcs.size(); f++) {
      FuncPlan p = root_plan(m_, static_cast<int>(f), machine_);
      if (m_.funcs[f].user_inline) p.where = Where::Inline;
      root.plan.funcs.push_back(p);
    }
    std::vector<Found> states = {root, {template_plan(m_, machine_), 0}};
    score(&states);
    for (size_t f = m_.funcs.size(); f-- > 0;) {
      if (!in_time(0.7)) break;
      std::vector<Found> next = states;  // with the Func as it is
      for (const Found &s : states) {
        for (Plan &p : other_placements(m_, machine_, s.plan, static_cast<int>(f))) {
          next.push_back({std::move(p), 0});
        }
      }
      score(&next);
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
      for (const FuncPlan &p : f.plan.funcs) {
        structure.push_back(static_cast<int>(p.where) * 1000 + p.host * 8 + p.level);
      }
      if (++of_structure[structure] > kOfOneStructure) continue;
      kept.push_back(std::move(f));
    }
    *list = std::move(kept);
  }

  // Changes one Func, and keeps what is better, until nothing is.
  void refine() {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
    const size_t count = std::min<size_t>(best_.size(), 4);
    std::mt19937_64 random(options_.seed);
    for (size_t i = 0; i < count; i++) {
      Found now = best_[i];
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
          for (Plan &p : other_placements(m_, machine_, now.plan, f)) trials.push_back({std::move(p), 0});
          for (Plan &p : other_nests(now.plan, f)) trials.push_back({std::move(p), 0});
          score(&trials);
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

  std::vector<Plan> other_nests(const Plan &plan, int func) const {
    std::vector<Plan> list;
    const FuncModel &f = m_.funcs[static_cast<size_t>(func)];
    const FuncPlan &p = plan.funcs[static_cast<size_t>(func)];
    if (p.where == Where::Inline || !may_tile(f)) return list;
    for (size_t s = 0; s < f.stages.size(); s++) {
      const Nest &n = p.nests[s];
      if (n.lanes == 1) continue;
      const auto try_nest = [&](Nest other) {
        if (other == n || other.across < 1 || other.down < 1) return;
        Plan changed = plan;
        changed.funcs[static_cast<size_t>(func)].nests[s] = other;
        list.push_back(std::move(changed));
      };
      if (n.whole) {
        // Loops where nothing makes the extent constant.
        Nest rolled;
        rolled.lanes = n.lanes;
        try_nest(rolled);
        continue;
      }
      const bool sums = f.stages[s].accumulates && !f.stages[s].rvars.empty();
      if (!sums) {
        // Several rows at a time keep more of memory busy.
        const bool rows = f.stages[s].rvars.empty() && p.where == Where::Root &&
                          s == static_cast<size_t>(host_stage(f)) && f.dimensions() > 1;
        for (int down : {1, 2, 4, 8}) {
          if (rows && f.whole[1].extent() >= 4 * down && tile_fits(p, true, n.lanes, down)) {
            try_nest({n.lanes, n.across, down, false});
          }
        }
        continue;
      }
      const NumberBox box = p.where == Where::At ? box_at(m_, plan, func, p) : f.whole;
      for (int across : {1, 2, 3, 4}) {
        if (box[0].extent() % (int64_t{across} * n.lanes) != 0) continue;
        for (int down : {1, 2, 3, 4, 5, 6, 8}) {
          if (down > 1 && (f.dimensions() < 2 || !f.stages[s].has_loop[1] ||
                           box[1].extent() % down != 0)) {
            continue;
          }
          if (tile_fits(p, s == static_cast<size_t>(host_stage(f)), n.lanes * across, down)) {
            try_nest({n.lanes, across, down, false});
          }
        }
      }
    }
    return list;
  }

  // Blocks divide tiles.
  static bool tile_fits(const FuncPlan &p, bool tiled, int columns, int rows) {
    if (p.where != Where::Root || !tiled) return true;
    for (const OuterLoop &o : p.outer) {
      if (o.dim == 0 && o.tile % columns != 0) return false;
      if (o.dim == 1 && o.tile % rows != 0) return false;
    }
    return true;
  }

  void finish(const Found &start) {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
    for (const Found &f : best_) {
      const bool known = std::any_of(
          result_.plans.begin(), result_.plans.end(),
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
  SearchResult result_;
};

}  // namespace

std::vector<Plan> other_placements(const PipelineModel &m, const Machine &machine,
                                   const Plan &plan, int func) {
  std::vector<Plan> list;
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  const FuncPlan &now = plan.funcs[static_cast<size_t>(func)];
  const auto place = [&](FuncPlan p) {
    Plan changed = plan;
    if (now.where == Where::Root && p.where != Where::Root) {
      dissolve(m, machine, func, &changed);
    }
    changed.funcs[static_cast<size_t>(func)] = std::move(p);
    if (now.where == Where::Root) settle_members(m, machine, func, &changed);
    if (!(changed.funcs == plan.funcs)) list.push_back(std::move(changed));
  };
  if (f.can_inline && may_move(f) && now.where != Where::Inline) {
    FuncPlan p = now;
    p.where = Where::Inline;
    p.host = -1;
    p.level = 0;
    p.slides = false;
    p.outer.clear();
    place(p);
  }
  const bool at_root = f.is_output || f.is_extern || f.feeds_extern;
  if (may_move(f) && !at_root) {
    const Home home = home_of(m, plan, func);
    for (int l = 0; home.host >= 0 && l <= home.level; l++) {
      FuncPlan p;
      p.where = Where::At;
      p.host = home.host;
      p.level = l;
      p.nests = member_nests(m, func, box_at(m, plan, func, p), machine);
      place(p);
      const int row = static_cast<int>(plan.funcs[static_cast<size_t>(home.host)].outer.size());
      if (l == row && l > 0) {
        p.slides = true;
        place(p);
      }
    }
  }
  if (!f.user_inline && (now.where == Where::Root || may_move(f)) && may_tile(f)) {
    const FuncPlan root = root_plan(m, func, machine);
    for (const std::vector<OuterLoop> &outer : tilings(m, machine, func, root)) {
      FuncPlan p = root;
      p.outer = outer;
      fit_nests(m, func, &p);
      if (!(now.where == Where::Root && now.outer == outer)) place(p);
    }
  }
  return list;
}

SearchResult search(const PipelineModel &model, const Machine &machine, const Options &options,
                    CostModel &costs, const std::function<double()> &seconds) {
  return Search(model, machine, options, costs, seconds).run();
}

}  // namespace polyhalite::autosched
