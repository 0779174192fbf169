#include "autosched/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "autosched/group_boxes.h"

namespace polyhalite::autosched {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t extent(const FuncModel &f, int d) { return f.whole[static_cast<size_t>(d)].extent(); }

// What the user leaves open of a Func.
bool may_move(const FuncModel &f) { return !f.fixed_place && !f.fixed_loops && !f.is_host; }
bool stays_at_root(const FuncModel &f) { return f.is_output || f.is_extern || f.feeds_extern; }
bool may_tile(const FuncModel &f) { return !f.fixed_loops && !f.is_host && !f.is_extern; }

// Does it have a long reduction whose sums may stay in registers?
bool has_sums(const FuncModel &f) {
  return std::any_of(f.stages.begin(), f.stages.end(),
                     [](const StageModel &s) { return s.accumulates && points(s.rvars) >= 16; });
}

// Loops outside of a host's tiles that are worth a look.
std::vector<std::vector<OuterLoop>> tilings(const PipelineModel &m, const Machine &machine,
                                            int func, const FuncPlan &root) {
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  const StageModel &s = f.stages[static_cast<size_t>(host_stage(f))];
  const Nest &n = root.nests[static_cast<size_t>(host_stage(f))];
  std::vector<std::vector<OuterLoop>> list = {root.outer};
  bool over_sums = has_sums(f);
  for (const Footprint &p : s.footprints) {
    over_sums =
        over_sums || (m.is_func(p.callee) && has_sums(m.funcs[static_cast<size_t>(p.callee)]));
  }
  const auto free = [&](int d) {
    return d < f.dimensions() && s.has_loop[static_cast<size_t>(d)] && extent(f, d) >= 4;
  };
  if (f.no_tiles) return list;
  // Few long sums run at once each.
  constexpr double kLongSum = 4096;
  const bool one_row = f.dimensions() == 1 && s.has_loop[0] && extent(f, 0) > 1;
  if (one_row && machine.cores > 1 && points(s.rvars) >= kLongSum) list.push_back({{0, 1}});
  if (f.dimensions() < 2 || !free(1)) return list;
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
      // Down the columns only where a strip of what is read is used again and again.
      if (registers && over_sums) list.push_back({{0, columns}, {1, rows}});
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

// Loops outside of a host's rows where windows slide: they have to be long.
std::vector<std::vector<OuterLoop>> strips_for_windows(const FuncModel &f, int lanes) {
  std::vector<std::vector<OuterLoop>> list;
  for (int64_t rows : {16, 32, 64, 128, 256}) {
    if (rows > extent(f, 1) / 2) break;
    list.push_back({{1, rows}});
    for (int64_t width : {8, 16, 32}) {
      if (width * lanes <= extent(f, 0) / 2) list.push_back({{1, rows}, {0, width * lanes}});
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

// The box that one production at a level computes decides on vectors and unrolling.
NumberBox box_at(const PipelineModel &m, const std::vector<NumberBox> &needs, int func) {
  const NumberBox &box = needs[static_cast<size_t>(func)];
  return box.empty() ? m.funcs[static_cast<size_t>(func)].whole : box;
}

std::vector<Nest> nests_at(const PipelineModel &m, const Machine &machine,
                           const std::vector<NumberBox> &needs, int func, bool slides) {
  const NumberBox box = box_at(m, needs, func);
  // The first production of a window that slides is larger than the others: its loops stay.
  return slides ? default_nests(m, func, box, machine) : member_nests(m, func, box, machine);
}

FuncPlan member_plan(const PipelineModel &m, const Machine &machine, const Plan &plan, int func,
                     int host, int level, bool slides) {
  FuncPlan p;
  p.where = Where::At;
  p.host = host;
  p.level = level;
  p.slides = slides;
  p.nests = nests_at(m, machine, needs_at_level(m, plan, host, level), func, slides);
  return p;
}

// Where a host's loops change, levels of its members may vanish: those go to the innermost there
// is.
void settle_members(const PipelineModel &m, const Machine &machine, int host, Plan *plan) {
  const FuncPlan &hp = plan->funcs[static_cast<size_t>(host)];
  const int levels = level_count(m, host, hp), row = static_cast<int>(hp.outer.size());
  std::vector<size_t> members;
  std::vector<bool> used(static_cast<size_t>(levels), false);
  for (size_t f = plan->funcs.size(); f-- > 0;) {
    const FuncPlan &now = plan->funcs[f];
    if (now.where != Where::At || now.host != host) continue;
    if (levels == 0) {
      plan->funcs.set(f, root_plan(m, static_cast<int>(f), machine));
      continue;
    }
    FuncPlan p = now;
    p.level = std::min(p.level, levels - 1);
    if (p.level < 1 || p.level != row) p.slides = false;
    used[static_cast<size_t>(p.level)] = true;
    plan->funcs.set(f, std::move(p));
    members.push_back(f);
  }
  std::vector<std::vector<NumberBox>> needs(static_cast<size_t>(levels));
  for (int l = 0; l < levels; l++) {
    if (used[static_cast<size_t>(l)]) {
      needs[static_cast<size_t>(l)] = needs_at_level(m, *plan, host, l);
    }
  }
  for (const size_t f : members) {
    FuncPlan p = plan->funcs[f];
    const int func = static_cast<int>(f);
    p.nests = nests_at(m, machine, needs[static_cast<size_t>(p.level)], func, p.slides);
    plan->funcs.set(f, std::move(p));
  }
}

// Members of a group whose host is no host any more.
void dissolve(const PipelineModel &m, const Machine &machine, int host, Plan *plan) {
  for (size_t f = 0; f < plan->funcs.size(); f++) {
    const FuncPlan &p = plan->funcs[f];
    if (p.where == Where::At && p.host == host) {
      plan->funcs.set(f, root_plan(m, static_cast<int>(f), machine));
    }
  }
}

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
      sums_in_blocks();
      rows_that_slide();
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

  // Several decisions that only pay together: a host's tile is a block of sums, the reduction is
  // computed in it, and what it reads is packed per strip of blocks, or inlined.
  void sums_in_blocks() {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
    Found now = best_[0];
    for (size_t f = 0; f < m_.funcs.size(); f++) {
      const FuncModel &func = m_.funcs[f];
      if (!has_sums(func) || !may_move(func) || func.is_output || func.consumers.size() != 1)
        continue;
      const int host = func.consumers[0];
      const FuncModel &h = m_.funcs[static_cast<size_t>(host)];
      if (h.stages.size() > 1 || !may_tile(h) || h.no_tiles || h.dimensions() < 2) continue;
      std::vector<Found> trials;
      for (const std::vector<OuterLoop> &outer :
           tilings(m_, machine_, host, root_plan(m_, host, machine_))) {
        FuncPlan p = root_plan(m_, host, machine_);
        p.outer = outer;
        fit_nests(m_, host, &p);
        if (outer.size() != 2 || !p.nests[0].whole) continue;
        for (const bool packs : {false, true}) {
          Plan plan = now.plan;
          dissolve(m_, machine_, static_cast<int>(f), &plan);
          plan.funcs.set(static_cast<size_t>(host), p);
          settle_members(m_, machine_, host, &plan);
          place_at(&plan, static_cast<int>(f), host, 1);
          for (const StageModel &s : func.stages) {
            for (const Footprint &read : s.footprints) {
              if (!m_.is_func(read.callee)) continue;
              const FuncModel &producer = m_.funcs[static_cast<size_t>(read.callee)];
              if (!may_move(producer) || !producer.can_inline || producer.consumers.size() != 1) {
                continue;
              }
              dissolve(m_, machine_, read.callee, &plan);
              if (packs) {
                place_at(&plan, read.callee, host, 0);
              } else {
                FuncPlan inlined;
                inlined.where = Where::Inline;
                inlined.nests.resize(1);
                plan.funcs.set(static_cast<size_t>(read.callee), inlined);
              }
            }
          }
          trials.push_back({std::move(plan), 0});
        }
      }
      score(&trials, {{&now.plan, trials.size()}});
      if (!trials.empty() && trials[0].cost < now.cost) {
        now = trials[0];
        keep(now);
      }
    }
  }

  // Likewise: long strips of a host, of several rows at a time, along which all that it reads
  // slides, members of its group and a few more. Where they pay only with what comes next, trials
  // begin there too.
  void rows_that_slide() {
    std::stable_sort(best_.begin(), best_.end(),
                     [](const Found &a, const Found &b) { return a.cost < b.cost; });
    Found now = best_[0];
    for (size_t h = m_.funcs.size(); h-- > 0;) {
      const FuncModel &host = m_.funcs[h];
      if (!in_time(0.8)) break;
      if (now.plan.funcs[h].where != Where::Root || !may_tile(host) || host.no_tiles ||
          host.stages.size() > 1 || host.dimensions() < 2) {
        continue;
      }
      const FuncPlan root = root_plan(m_, static_cast<int>(h), machine_);
      std::vector<Found> trials;
      for (const std::vector<OuterLoop> &outer : strips_for_windows(host, root.nests[0].lanes)) {
        for (const int down : {1, 2, 4}) {
          FuncPlan p = root;
          p.outer = outer;
          if (p.nests[0].lanes > 1) p.nests[0].down = down;
          if (p.nests[0].down != down || row_dimension(m_, static_cast<int>(h), p) != 1) continue;
          for (const int more : {0, 4, 8, 16}) {
            Plan plan = now.plan;
            plan.funcs.set(h, p);
            const int taken = slide_members(&plan, static_cast<int>(h), more);
            if (taken < 0) continue;
            trials.push_back({std::move(plan), 0});
            if (taken < more) break;
          }
        }
      }
      score(&trials, {{&now.plan, trials.size()}});
      if (trials.empty()) continue;
      if (trials[0].cost < now.cost) {
        now = trials[0];
        keep(now);
      } else if (!sliding_ || trials[0].cost < sliding_->cost) {
        sliding_ = trials[0];
      }
    }
  }

  // Puts a host's members in its rows, and of the Funcs at root that only the group reads at most
  // `more`. Returns how many of these there were; -1 where nothing slides.
  int slide_members(Plan *plan, int host, int more) const {
    const int row = static_cast<int>(plan->funcs[static_cast<size_t>(host)].outer.size());
    int taken = 0;
    bool any = false;
    for (int f = host; f-- > 0;) {
      const FuncModel &func = m_.funcs[static_cast<size_t>(f)];
      const FuncPlan &p = plan->funcs[static_cast<size_t>(f)];
      const bool member = p.where == Where::At && p.host == host;
      if (!member && (p.where != Where::Root || taken == more || !may_move(func) ||
                      stays_at_root(func) || home_of(m_, *plan, f).host != host)) {
        continue;
      }
      if (!member) {
        dissolve(m_, machine_, f, plan);
        taken++;
      }
      plan->funcs.set(static_cast<size_t>(f),
                      member_plan(m_, machine_, *plan, f, host, row, true));
      any = true;
    }
    return any ? taken : -1;
  }

  void place_at(Plan *plan, int func, int host, int level) const {
    plan->funcs.set(static_cast<size_t>(func),
                    member_plan(m_, machine_, *plan, func, host, level, false));
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
          for (Plan &p : other_nests(now.plan, f)) trials.push_back({std::move(p), 0});
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
        FuncPlan nested = p;
        nested.nests[s] = other;
        list.push_back(plan);
        list.back().funcs.set(static_cast<size_t>(func), std::move(nested));
        // Its rows are the boxes that are needed of its members.
        if (p.where == Where::Root) settle_members(m_, machine_, func, &list.back());
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
      const NumberBox box = p.where == Where::At
                                ? box_at(m_, needs_at_level(m_, plan, p.host, p.level), func)
                                : f.whole;
      for (int across : {1, 2, 3, 4}) {
        if (box[0].extent() % (int64_t{across} * n.lanes) != 0) continue;
        for (int down : {1, 2, 3, 4, 5, 6, 8}) {
          if (down > 1 &&
              (f.dimensions() < 2 || !f.stages[s].has_loop[1] || box[1].extent() % down != 0)) {
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
  std::optional<Found> sliding_;  // the best where windows slide that was not better yet
  SearchResult result_;
};

}  // namespace

std::vector<Plan> other_placements(const PipelineModel &m, const Machine &machine, const Plan &plan,
                                   int func) {
  std::vector<Plan> list;
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  const FuncPlan &now = plan.funcs[static_cast<size_t>(func)];
  const auto place = [&](FuncPlan p) {
    Plan changed = plan;
    if (now.where == Where::Root && p.where != Where::Root) {
      dissolve(m, machine, func, &changed);
    }
    changed.funcs.set(static_cast<size_t>(func), std::move(p));
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
  if (may_move(f) && !stays_at_root(f)) {
    const Home home = home_of(m, plan, func);
    for (int l = 0; home.host >= 0 && l <= home.level; l++) {
      place(member_plan(m, machine, plan, func, home.host, l, false));
      const int row = static_cast<int>(plan.funcs[static_cast<size_t>(home.host)].outer.size());
      if (l == row && l > 0) place(member_plan(m, machine, plan, func, home.host, l, true));
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
