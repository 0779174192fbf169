#include "autosched/placements.h"

#include <algorithm>

#include "autosched/group_boxes.h"

namespace polyhalite::autosched {

namespace {

int64_t extent(const FuncModel &f, int d) { return f.whole[static_cast<size_t>(d)].extent(); }

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

// Blocks divide tiles.
bool tile_fits(const FuncPlan &p, bool tiled, int columns, int rows) {
  if (p.where != Where::Root || !tiled) return true;
  for (const OuterLoop &o : p.outer) {
    if (o.dim == 0 && o.tile % columns != 0) return false;
    if (o.dim == 1 && o.tile % rows != 0) return false;
  }
  return true;
}

}  // namespace

bool may_move(const FuncModel &f) { return !f.fixed_place && !f.fixed_loops && !f.is_host; }
bool stays_at_root(const FuncModel &f) { return f.is_output || f.is_extern || f.feeds_extern; }
bool may_tile(const FuncModel &f) { return !f.fixed_loops && !f.is_host && !f.is_extern; }

bool has_sums(const FuncModel &f) {
  return std::any_of(f.stages.begin(), f.stages.end(),
                     [](const StageModel &s) { return s.accumulates && points(s.rvars) >= 16; });
}

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
  if (!f.may_strip()) return list;
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

void dissolve(const PipelineModel &m, const Machine &machine, int host, Plan *plan) {
  for (size_t f = 0; f < plan->funcs.size(); f++) {
    const FuncPlan &p = plan->funcs[f];
    if (p.where == Where::At && p.host == host) {
      plan->funcs.set(f, root_plan(m, static_cast<int>(f), machine));
    }
  }
}

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

std::vector<Plan> other_nests(const PipelineModel &m, const Machine &machine, const Plan &plan,
                              int func) {
  std::vector<Plan> list;
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
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
      if (p.where == Where::Root) settle_members(m, machine, func, &list.back());
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
    const NumberBox box =
        p.where == Where::At ? box_at(m, needs_at_level(m, plan, p.host, p.level), func) : f.whole;
    const bool rows = f.dimensions() > 1 && f.stages[s].has_loop[1] && box[1].extent() > 1;
    for (int across : {1, 2, 3, 4, 6, 8, 12, 16}) {
      if (box[0].extent() < int64_t{across} * n.lanes) break;
      if (rows && (across > 4 || box[0].extent() % (int64_t{across} * n.lanes) != 0)) continue;
      for (int down : {1, 2, 3, 4, 5, 6, 8}) {
        if (down > 1 && (!rows || box[1].extent() % down != 0)) continue;
        if (tile_fits(p, s == static_cast<size_t>(host_stage(f)), n.lanes * across, down)) {
          try_nest({n.lanes, across, down, false});
        }
      }
    }
  }
  return list;
}

}  // namespace polyhalite::autosched
