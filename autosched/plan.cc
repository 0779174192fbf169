#include "autosched/plan.h"

#include <algorithm>
#include <set>

#include "autosched/hash.h"

namespace polyhalite::autosched {

namespace {

// Strips of the outermost dimension that keep every core busy several times.
int64_t strip_of(int64_t extent, int cores) {
  const int64_t wanted = std::max<int64_t>(1, extent / (8 * int64_t{cores}));
  int64_t strip = 1;
  while (strip * 2 <= wanted && strip < 64) strip *= 2;
  return strip;
}

// Of blocks that are unrolled whole.
constexpr int64_t kMostAcross = 5, kMostDown = 14;

int64_t power_below(int64_t n) {
  int64_t p = 1;
  while (p * 2 <= n) p *= 2;
  return p;
}

uint64_t hash_of(const FuncPlan &p) {
  uint64_t h = mix(mix(static_cast<uint64_t>(p.where) + 1, static_cast<uint64_t>(p.host + 1)),
                   static_cast<uint64_t>(p.level * 2 + p.slides));
  for (const OuterLoop &o : p.outer) {
    h = mix(mix(h, static_cast<uint64_t>(o.dim)), static_cast<uint64_t>(o.tile));
  }
  for (const Nest &n : p.nests) {
    h = mix(h, static_cast<uint64_t>(n.lanes) << 20 | static_cast<uint64_t>(n.across) << 10 |
                   static_cast<uint64_t>(n.down << 1 | static_cast<int>(n.whole)));
  }
  return h;
}

}  // namespace

bool FuncPlans::same(size_t f, const FuncPlans &o) const {
  if (plans_[f] == o.plans_[f]) return true;
  return plans_[f]->hash == o.plans_[f]->hash && plans_[f]->plan == o.plans_[f]->plan;
}

bool FuncPlans::operator==(const FuncPlans &o) const {
  for (size_t f = 0; f < size(); f++) {
    if (!same(f, o)) return false;
  }
  return true;
}

void FuncPlans::set(size_t f, FuncPlan p) {
  const uint64_t hash = hash_of(p);
  plans_[f] = std::make_shared<const Hashed>(Hashed{std::move(p), hash});
}

void FuncPlans::push_back(FuncPlan p) {
  plans_.emplace_back();
  set(plans_.size() - 1, std::move(p));
}

int host_stage(const FuncModel &f) { return static_cast<int>(f.stages.size()) - 1; }

std::vector<int> inner_dimensions(const PipelineModel &m, int func, const FuncPlan &plan) {
  constexpr int64_t kShort = 8;
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  std::vector<int> long_ones, short_ones;
  for (int d = f.dimensions() - 1; d > 0; d--) {
    const bool outside = std::any_of(plan.outer.begin(), plan.outer.end(),
                                     [&](const OuterLoop &o) { return o.dim == d && o.tile == 1; });
    if (outside) continue;
    const bool is_short = d > 1 && f.whole[static_cast<size_t>(d)].extent() <= kShort;
    (is_short ? short_ones : long_ones).push_back(d);
  }
  long_ones.insert(long_ones.end(), short_ones.begin(), short_ones.end());
  const bool row_of_its_own =
      std::any_of(plan.outer.begin(), plan.outer.end(),
                  [](const OuterLoop &o) { return o.dim == 0 && o.tile == 1; });
  if (f.dimensions() > 0 && !row_of_its_own) long_ones.push_back(0);
  return long_ones;
}

int row_dimension(const PipelineModel &m, int host, const FuncPlan &plan) {
  const FuncModel &f = m.funcs[static_cast<size_t>(host)];
  if (f.stages.size() > 1) return -1;  // the reduction's loops stand there
  const std::vector<int> inner = inner_dimensions(m, host, plan);
  if (inner.empty() || inner[0] == 0) return -1;
  // Of a block that is unrolled whole no loop is left.
  return inner[0] == 1 && plan.nests[0].whole ? -1 : inner[0];
}

int row_step(const PipelineModel &m, int host, const FuncPlan &plan) {
  return row_dimension(m, host, plan) == 1 ? plan.nests[0].down : 1;
}

int level_count(const PipelineModel &m, int host, const FuncPlan &plan) {
  if (plan.outer.empty()) return 0;
  return static_cast<int>(plan.outer.size()) + (row_dimension(m, host, plan) >= 0 ? 1 : 0);
}

std::vector<Nest> default_nests(const PipelineModel &m, int func, const NumberBox &box,
                                const Machine &machine) {
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  std::vector<Nest> nests;
  for (const StageModel &s : f.stages) {
    Nest n;
    if (f.is_extern || f.no_vectors || s.nest || box.empty() || !s.has_loop[0]) {
      nests.push_back(n);
      continue;
    }
    const int64_t natural = std::max(1, machine.vector_bytes / s.widest);
    n.lanes = static_cast<int>(std::min(natural, power_below(box[0].extent())));
    if (n.lanes < 4 && n.lanes < natural) n.lanes = 1;
    if (s.accumulates && !s.rvars.empty() && n.lanes > 1) {
      // Sums stay in registers while the reduction runs: two vectors by up to six rows.
      const double rounds = points(s.rvars);
      if (rounds >= 16) {
        if (box[0].extent() >= 2 * n.lanes) n.across = 2;
        const bool rows = f.dimensions() > 1 && s.has_loop[1];
        const int most = machine.vector_registers >= 32 ? 8 : 4;
        for (int down = most; rows && down > 1; down--) {
          if (box[1].extent() % down == 0) {
            n.down = down;
            break;
          }
        }
      }
    }
    nests.push_back(n);
  }
  return nests;
}

std::vector<Nest> member_nests(const PipelineModel &m, int func, const NumberBox &box,
                               const Machine &machine) {
  std::vector<Nest> nests = default_nests(m, func, box, machine);
  for (size_t s = 0; s < nests.size(); s++) {
    const bool sums = !m.funcs[static_cast<size_t>(func)].stages[s].rvars.empty();
    if (box.empty() || nests[s].lanes == 1) continue;
    const int64_t across = (box[0].extent() + nests[s].lanes - 1) / nests[s].lanes;
    const int64_t down = box.size() > 1 ? box[1].extent() : 1;
    if (across > kMostAcross || down > kMostDown || across * down > 24) continue;
    if (sums && box[0].extent() % nests[s].lanes != 0) continue;
    nests[s].across = static_cast<int>(across);
    nests[s].down = static_cast<int>(down);
    nests[s].whole = true;
  }
  return nests;
}

void fit_nests(const PipelineModel &m, int func, FuncPlan *plan) {
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  Nest &n = plan->nests[static_cast<size_t>(host_stage(f))];
  int64_t columns = 0, rows = f.dimensions() > 1 ? 0 : 1;
  for (const OuterLoop &o : plan->outer) {
    if (o.dim == 0) columns = o.tile;
    if (o.dim == 1) rows = o.tile;
  }
  if (n.lanes > 1 && columns > 0 && columns % n.lanes == 0 && columns / n.lanes <= 4 && rows > 0 &&
      rows <= 8) {
    n.across = static_cast<int>(columns / n.lanes);
    n.down = static_cast<int>(rows);
    n.whole = true;
    return;
  }
  for (const OuterLoop &o : plan->outer) {
    if (o.dim == 0) {
      while (n.across > 1 && o.tile % (int64_t{n.lanes} * n.across) != 0) n.across--;
      while (n.lanes > 1 && o.tile % n.lanes != 0) n.lanes /= 2;
    }
    if (o.dim == 1) {
      while (n.down > 1 && o.tile % n.down != 0) n.down--;
    }
  }
}

FuncPlan root_plan(const PipelineModel &m, int func, const Machine &machine) {
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  FuncPlan p;
  p.nests = default_nests(m, func, f.whole, machine);
  if (f.is_extern || f.fixed_loops || !f.may_strip()) return p;
  const StageModel &s = f.stages[static_cast<size_t>(host_stage(f))];
  double work = points(f.whole) * std::max(1.0, s.operations);
  for (const NumberRange &r : s.rvars) work *= static_cast<double>(r.extent());
  if (work < 20'000 || machine.cores == 1) {
    if (f.stages.size() == 1) return p;
  }
  for (int d = f.dimensions() - 1; d >= (f.dimensions() > 1 ? 1 : 0); d--) {
    const int64_t extent = f.whole[static_cast<size_t>(d)].extent();
    if (extent < 2 || !s.has_loop[static_cast<size_t>(d)]) continue;
    if (d == 0 && extent < 64 * p.nests[0].lanes) continue;
    int64_t tile = strip_of(extent, machine.cores);
    const Nest &n = p.nests[static_cast<size_t>(host_stage(f))];
    if (d == 0) tile = std::max<int64_t>(tile, n.lanes * n.across);
    if (d == 1) tile = std::max<int64_t>(tile, n.down);
    if (extent / tile < 2) continue;
    p.outer.push_back({d, tile});
    break;
  }
  fit_nests(m, func, &p);
  return p;
}

Plan template_plan(const PipelineModel &m, const Machine &machine) {
  Plan plan;
  for (size_t f = 0; f < m.funcs.size(); f++) {
    const FuncModel &func = m.funcs[f];
    FuncPlan p = root_plan(m, static_cast<int>(f), machine);
    if (func.user_inline) {
      p.where = Where::Inline;
    } else if (func.can_inline && !func.fixed_place && !func.fixed_loops && !func.is_host) {
      // Pointwise uses: nothing is computed twice.
      bool pointwise = func.stages[0].operations < 20;
      int uses = 0;
      for (int c : func.consumers) {
        for (const StageModel &s : m.funcs[static_cast<size_t>(c)].stages) {
          for (const Access &a : s.accesses) uses += a.callee == static_cast<int>(f);
        }
      }
      pointwise = pointwise && uses <= 1;
      if (pointwise) p.where = Where::Inline;
    }
    plan.funcs.push_back(std::move(p));
  }
  return plan;
}

std::vector<int> materialised_consumers(const PipelineModel &m, const Plan &plan, int func) {
  std::vector<int> result;
  std::set<int> seen;
  std::vector<int> todo = {func};
  while (!todo.empty()) {
    const int f = todo.back();
    todo.pop_back();
    for (int c : m.funcs[static_cast<size_t>(f)].consumers) {
      if (!seen.insert(c).second) continue;
      if (plan.funcs[static_cast<size_t>(c)].where == Where::Inline) {
        todo.push_back(c);
      } else {
        result.push_back(c);
      }
    }
  }
  return result;
}

std::string describe(const PipelineModel &m, const Plan &plan, int func) {
  const FuncPlan &p = plan.funcs[static_cast<size_t>(func)];
  if (p.where == Where::Inline) return "inlined";
  const FuncModel &f = m.funcs[static_cast<size_t>(func)];
  const auto dimension = [&](int owner, int d) {
    return m.algorithm.funcs[static_cast<size_t>(owner)].args[static_cast<size_t>(d)];
  };
  std::string s;
  if (p.where == Where::Root) {
    s = "root";
    for (size_t i = 0; i < p.outer.size(); i++) {
      s += std::string(i ? ", " : ": ") + dimension(func, p.outer[i].dim) + " by " +
           std::to_string(p.outer[i].tile) + (i ? "" : " parallel");
    }
  } else {
    const FuncPlan &host = plan.funcs[static_cast<size_t>(p.host)];
    const bool row = p.level == static_cast<int>(host.outer.size());
    const int step = row_step(m, p.host, host);
    s = "in " +
        std::string(row ? (step > 1 ? std::to_string(step) + " rows" : "rows")
                        : "tiles of " +
                              dimension(p.host, host.outer[static_cast<size_t>(p.level)].dim)) +
        " of '" + m.funcs[static_cast<size_t>(p.host)].name + "'" + (p.slides ? ", sliding" : "");
  }
  for (const StageModel &stage : f.stages) {
    if (stage.nest) s += ", " + stage.nest->what;
  }
  const Nest &n = p.nests[static_cast<size_t>(host_stage(f))];
  if (n.lanes > 1) s += ", vectors of " + std::to_string(n.lanes);
  if (n.across > 1 || n.down > 1) {  // vectors by rows
    s += ", " + std::to_string(n.across) + "x" + std::to_string(n.down) + " unrolled";
  }
  return s;
}

}  // namespace polyhalite::autosched
