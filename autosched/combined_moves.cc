#include "autosched/combined_moves.h"

#include "autosched/placements.h"

namespace polyhalite::autosched {

namespace {

void place_at(const PipelineModel &m, const Machine &machine, Plan *plan, int func, int host,
              int level) {
  plan->funcs.set(static_cast<size_t>(func),
                  member_plan(m, machine, *plan, func, host, level, false));
}

// Loops outside of a host's rows where windows slide: they have to be long.
std::vector<std::vector<OuterLoop>> strips_for_windows(const FuncModel &f, int lanes) {
  std::vector<std::vector<OuterLoop>> list;
  for (int64_t rows : {32, 128}) {
    if (rows > f.whole[1].extent() / 2) break;
    list.push_back({{1, rows}});
    for (int64_t width : {16}) {
      if (width * lanes <= f.whole[0].extent() / 2) list.push_back({{1, rows}, {0, width * lanes}});
    }
  }
  return list;
}

// Puts a host's members in its rows, and of the Funcs at root that only the group reads at most
// `more`. Returns how many of these there were; -1 where nothing slides.
int slide_members(const PipelineModel &m, const Machine &machine, Plan *plan, int host, int more) {
  const int row = static_cast<int>(plan->funcs[static_cast<size_t>(host)].outer.size());
  int taken = 0;
  bool any = false;
  for (int f = host; f-- > 0;) {
    const FuncModel &func = m.funcs[static_cast<size_t>(f)];
    const FuncPlan &p = plan->funcs[static_cast<size_t>(f)];
    const bool member = p.where == Where::At && p.host == host;
    if (!member && (p.where != Where::Root || taken == more || !may_move(func) ||
                    stays_at_root(func) || home_of(m, *plan, f).host != host)) {
      continue;
    }
    if (!member) {
      dissolve(m, machine, f, plan);
      taken++;
    }
    plan->funcs.set(static_cast<size_t>(f), member_plan(m, machine, *plan, f, host, row, true));
    any = true;
  }
  return any ? taken : -1;
}

}  // namespace

std::vector<Plan> sums_in_blocks(const PipelineModel &m, const Machine &machine, const Plan &plan,
                                 int func) {
  std::vector<Plan> list;
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  if (!has_sums(f) || !may_move(f) || f.is_output || f.consumers.size() != 1) return list;
  const int host = f.consumers[0];
  const FuncModel &h = m.funcs[static_cast<size_t>(host)];
  if (h.stages.size() > 1 || !may_tile(h) || !h.may_strip() || h.dimensions() < 2) return list;
  for (const std::vector<OuterLoop> &outer :
       tilings(m, machine, host, root_plan(m, host, machine))) {
    FuncPlan p = root_plan(m, host, machine);
    p.outer = outer;
    fit_nests(m, host, &p);
    if (outer.size() != 2 || !p.nests[0].whole) continue;
    for (const bool packs : {false, true}) {
      Plan changed = plan;
      dissolve(m, machine, func, &changed);
      changed.funcs.set(static_cast<size_t>(host), p);
      settle_members(m, machine, host, &changed);
      place_at(m, machine, &changed, func, host, 1);
      for (const StageModel &s : f.stages) {
        for (const Footprint &read : s.footprints) {
          if (!m.is_func(read.callee)) continue;
          const FuncModel &producer = m.funcs[static_cast<size_t>(read.callee)];
          if (!may_move(producer) || !producer.can_inline || producer.consumers.size() != 1) {
            continue;
          }
          dissolve(m, machine, read.callee, &changed);
          if (packs) {
            place_at(m, machine, &changed, read.callee, host, 0);
          } else {
            FuncPlan inlined;
            inlined.where = Where::Inline;
            inlined.nests.resize(1);
            changed.funcs.set(static_cast<size_t>(read.callee), inlined);
          }
        }
      }
      list.push_back(std::move(changed));
    }
  }
  return list;
}

std::vector<Plan> rows_that_slide(const PipelineModel &m, const Machine &machine, const Plan &plan,
                                  int host) {
  std::vector<Plan> list;
  const FuncModel &f = m.funcs[static_cast<size_t>(host)];
  if (plan.funcs[static_cast<size_t>(host)].where != Where::Root || !may_tile(f) ||
      !f.may_strip() || f.stages.size() > 1 || f.dimensions() < 2) {
    return list;
  }
  const FuncPlan root = root_plan(m, host, machine);
  for (const std::vector<OuterLoop> &outer : strips_for_windows(f, root.nests[0].lanes)) {
    for (const int down : {1, 4, 8}) {
      FuncPlan p = root;
      p.outer = outer;
      if (p.nests[0].lanes > 1) p.nests[0].down = down;
      if (p.nests[0].down != down || row_dimension(m, host, p) != 1) continue;
      for (const int more : {0, 8}) {
        Plan changed = plan;
        changed.funcs.set(static_cast<size_t>(host), p);
        const int taken = slide_members(m, machine, &changed, host, more);
        if (taken < 0) continue;
        list.push_back(std::move(changed));
        if (taken < more) break;
      }
    }
  }
  return list;
}

}  // namespace polyhalite::autosched
