#include "autosched/group_boxes.h"

#include <algorithm>

namespace polyhalite::autosched {

namespace {

size_t index(int i) { return static_cast<size_t>(i); }

// Does the host's group compute it, or inline it?
bool is_inside(const FuncPlan &p, int host) {
  return p.where == Where::Inline || (p.where == Where::At && p.host == host);
}

// The stages of a Func that run inside of the host's loops.
size_t first_inside(const FuncModel &f, bool is_host) { return is_host ? index(host_stage(f)) : 0; }

}  // namespace

HostLoops host_loops(const PipelineModel &m, int host, const FuncPlan &plan) {
  const FuncModel &f = m.funcs[index(host)];
  HostLoops loops;
  NumberBox box = f.whole;
  loops.boxes = {box};
  loops.trips = {1};
  for (const OuterLoop &o : plan.outer) {
    NumberRange &r = box[index(o.dim)];
    const int64_t count = (r.extent() + o.tile - 1) / o.tile;
    loops.trips.push_back(static_cast<double>(std::max<int64_t>(count, 1)));
    const int64_t lo = r.lo + count / 2 * o.tile;
    r = {lo, std::min(r.hi, lo + o.tile - 1)};
    if (r.extent() < o.tile) r.lo = std::max(f.whole[index(o.dim)].lo, r.hi - o.tile + 1);
    loops.boxes.push_back(box);
  }
  const int row = plan.outer.empty() ? -1 : row_dimension(m, host, plan);
  if (row >= 0) {
    NumberRange &r = box[index(row)];
    const int64_t step = row_step(m, host, plan), count = (r.extent() + step - 1) / step;
    loops.trips.push_back(static_cast<double>(std::max<int64_t>(count, 1)));
    r.lo += count / 2 * step;
    r.hi = std::min(r.hi, r.lo + step - 1);
    loops.boxes.push_back(box);
  }
  return loops;
}

std::optional<GroupBoxes> find_group_boxes(const PipelineModel &m, const Plan &plan, int host) {
  constexpr int kNowhere = -1;
  HostLoops loops = host_loops(m, host, plan.funcs[index(host)]);
  GroupBoxes g;
  g.trips = std::move(loops.trips);
  g.boxes.assign(g.trips.size(), std::vector<NumberBox>(m.funcs.size() + m.images.size()));
  for (size_t d = 0; d < g.trips.size(); d++) {
    g.boxes[d][index(host)] = std::move(loops.boxes[d]);
  }
  std::vector<int> reach(index(host) + 1, kNowhere);  // the innermost depth that all consumers have
  reach[index(host)] = g.innermost();
  for (int f = host; f >= 0; f--) {
    if (reach[index(f)] == kNowhere) continue;
    int depth = reach[index(f)];
    const FuncPlan &p = plan.funcs[index(f)];
    if (f != host && p.where == Where::At) {
      if (p.level + 1 > depth) return std::nullopt;
      depth = p.level + 1;
    }
    g.cone.push_back(f);
    const FuncModel &func = m.funcs[index(f)];
    for (size_t s = first_inside(func, f == host); s < func.stages.size(); s++) {
      bool needs_members = false;
      for (const Footprint &r : func.stages[s].footprints) {
        if (!m.is_func(r.callee) || !is_inside(plan.funcs[index(r.callee)], host)) continue;
        int &at = reach[index(r.callee)];
        at = at == kNowhere ? depth : std::min(at, depth);
        needs_members = true;
      }
      for (size_t d = 0; needs_members && d <= index(depth); d++) {
        add_needs(m, func.stages[s], g.boxes[d][index(f)], &g.boxes[d]);
      }
    }
  }
  return g;
}

std::vector<NumberBox> needs_at_level(const PipelineModel &m, const Plan &plan, int host,
                                      int level) {
  std::vector<NumberBox> needs(m.funcs.size() + m.images.size());
  HostLoops loops = host_loops(m, host, plan.funcs[index(host)]);
  const size_t depth = std::min(loops.boxes.size() - 1, index(level) + 1);
  needs[index(host)] = std::move(loops.boxes[depth]);
  for (int f = host; f >= 0; f--) {
    if (needs[index(f)].empty()) continue;
    if (f != host && plan.funcs[index(f)].where == Where::Root) continue;
    const FuncModel &func = m.funcs[index(f)];
    const NumberBox box = needs[index(f)];
    for (size_t s = first_inside(func, f == host); s < func.stages.size(); s++) {
      add_needs(m, func.stages[s], box, &needs);
    }
  }
  return needs;
}

}  // namespace polyhalite::autosched
