#include "autosched/analytic_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace polyhalite::autosched {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLaunch = 4000;      // nanoseconds to start and join a parallel loop
constexpr double kTask = 250;         // and for each of its tasks
constexpr double kLatency = 4;        // cycles until a multiply-add's result can be added to
constexpr double kRowCycles = 6;      // of a loop around the innermost
constexpr double kProductionCycles = 60;
constexpr double kBlockCycles = 4;    // of one that is unrolled whole

// A loop around a stage, innermost first in lists: afterwards variable extents are these.
struct Around {
  double trips = 1;
  std::vector<double> extents;  // [var]
};

struct ArrayUse {
  int callee = -1;
  std::vector<std::vector<double>> slope;  // [dim][var], the steepest
  std::vector<double> spread;              // [dim] between the accesses' offsets
  bool gathers = false, writes = false;
  double limit = 0;  // bytes that there are of it
  int made_at = -1;  // a member's depth: what is outside of it finds the same memory
};

class GroupCoster {
 public:
  GroupCoster(const PipelineModel &m, const Machine &machine, Expander &expand, const Plan &plan,
              int host)
      : m_(m), machine_(machine), expand_(expand), plan_(plan), host_(host) {}

  GroupCost run() {
    GroupCost g;
    if (!find_boxes()) {
      g.total = kInfinity;
      return g;
    }
    const FuncPlan &hp = plan(host_);
    const double tasks = hp.outer.empty() ? 1 : trips_[1];
    const double cores = std::min<double>(machine_.cores, tasks);
    const double speed = tasks / std::ceil(tasks / cores);
    for (const int f : cone_) {
      if (plan(f).where == Where::Inline) continue;
      for (int s = 0; s < static_cast<int>(func(f).stages.size()); s++) {
        const std::optional<StageCost> c = stage(f, s);
        if (!c) {
          g.total = kInfinity;
          return g;
        }
        g.stages.push_back(*c);
        g.total += (c->compute + c->caches) / speed +
                   c->memory / std::min(speed, machine_.memory_lanes);
      }
    }
    if (!hp.outer.empty()) g.total += kLaunch + kTask * tasks / cores;
    return g;
  }

 private:
  const FuncModel &func(int f) const { return m_.funcs[static_cast<size_t>(f)]; }
  const FuncPlan &plan(int f) const { return plan_.funcs[static_cast<size_t>(f)]; }
  bool in_group(int f) const { return f == host_ || plan(f).host == host_; }
  // Boxes are numbered from 0, outside of all loops; level l of the plan is number l + 1.
  int depth_of(int f) const {
    return f == host_ ? static_cast<int>(trips_.size()) - 1 : plan(f).level + 1;
  }

  void host_boxes() {
    const FuncPlan &hp = plan(host_);
    NumberBox box = func(host_).whole;
    boxes_[host_] = {box};
    trips_ = {1};
    for (const OuterLoop &o : hp.outer) {
      NumberRange &r = box[static_cast<size_t>(o.dim)];
      const int64_t count = (r.extent() + o.tile - 1) / o.tile;
      trips_.push_back(static_cast<double>(std::max<int64_t>(count, 1)));
      const int64_t lo = r.lo + count / 2 * o.tile;
      r = {lo, std::min(r.hi, lo + o.tile - 1)};
      if (r.extent() < o.tile) r.lo = std::max(func(host_).whole[static_cast<size_t>(o.dim)].lo,
                                               r.hi - o.tile + 1);
      boxes_[host_].push_back(box);
    }
    const int row = hp.outer.empty() ? -1 : row_dimension(m_, host_, hp);
    if (row >= 0) {
      NumberRange &r = box[static_cast<size_t>(row)];
      trips_.push_back(static_cast<double>(std::max<int64_t>(r.extent(), 1)));
      r.lo = r.hi = r.lo + r.extent() / 2;
      boxes_[host_].push_back(box);
    }
  }

  // False where a member is asked for where it is not yet computed.
  bool find_boxes() {
    host_boxes();
    std::map<int, int, std::greater<>> reach;  // Func -> the innermost box that its consumers have
    reach[host_] = static_cast<int>(trips_.size()) - 1;
    while (!reach.empty()) {
      const auto [f, innermost] = *reach.begin();
      reach.erase(reach.begin());
      int depth = innermost;
      if (f != host_ && plan(f).where == Where::At) {
        depth = depth_of(f);
        if (depth > innermost || depth >= static_cast<int>(trips_.size())) return false;
      }
      cone_.push_back(f);
      const int first = f == host_ ? host_stage(func(f)) : 0;
      for (size_t s = static_cast<size_t>(first); s < func(f).stages.size(); s++) {
        const StageModel &stage = func(f).stages[s];
        std::vector<int> callees;
        for (const Footprint &p : stage.footprints) {
          if (!m_.is_func(p.callee)) continue;
          const FuncPlan &c = plan(p.callee);
          if (c.where == Where::Root || (c.where == Where::At && c.host != host_)) continue;
          callees.push_back(p.callee);
          const auto known = reach.find(p.callee);
          reach[p.callee] = known == reach.end() ? depth : std::min(known->second, depth);
        }
        if (callees.empty()) continue;
        for (int d = 0; d <= depth; d++) {
          std::vector<NumberBox> needs(m_.funcs.size() + m_.images.size());
          for (const int c : callees) {
            if (d < static_cast<int>(boxes_[c].size())) needs[static_cast<size_t>(c)] = boxes_[c][static_cast<size_t>(d)];
          }
          add_needs(m_, stage, boxes_[f][static_cast<size_t>(d)], &needs);
          for (const int c : callees) {
            if (d >= static_cast<int>(boxes_[c].size())) boxes_[c].resize(static_cast<size_t>(d) + 1);
            boxes_[c][static_cast<size_t>(d)] = needs[static_cast<size_t>(c)];
          }
        }
      }
    }
    return true;
  }

  double bytes_of(int callee) const {
    return points(m_.whole(callee)) * m_.bytes(callee);
  }

  std::vector<ArrayUse> array_uses(int f, int s, const ExpandedStage &e, size_t vars) const {
    std::map<int, ArrayUse> uses;
    std::map<int, std::vector<std::pair<int64_t, int64_t>>> offsets;
    for (const Access &a : e.accesses) {
      ArrayUse &u = uses[a.callee];
      auto &ends = offsets[a.callee];
      if (u.callee < 0) {
        u.callee = a.callee;
        u.slope.assign(a.index.size(), std::vector<double>(vars, 0.0));
        ends.assign(a.index.size(), {INT64_MAX, INT64_MIN});
      }
      for (size_t d = 0; d < a.index.size(); d++) {
        for (size_t v = 0; v < vars; v++) {
          u.slope[d][v] = std::max(u.slope[d][v], std::abs(a.index[d].slope[v]));
        }
        u.gathers = u.gathers || a.index[d].gathers;
        ends[d] = {std::min(ends[d].first, a.index[d].offset),
                   std::max(ends[d].second, a.index[d].offset)};
      }
    }
    std::vector<ArrayUse> list;
    for (auto &[callee, u] : uses) {
      for (const auto &[lo, hi] : offsets[callee]) u.spread.push_back(static_cast<double>(hi - lo));
      u.limit = bytes_of(callee);
      if (m_.is_func(callee) && plan(callee).where == Where::At) {
        u.made_at = depth_of(callee);
        u.limit = points(boxes_.at(callee)[static_cast<size_t>(u.made_at)]) * m_.bytes(callee);
      }
      list.push_back(std::move(u));
    }
    ArrayUse own;
    own.callee = f;
    own.writes = true;
    const StageModel &stage = func(f).stages[static_cast<size_t>(s)];
    own.gathers = stage.scatters;
    const size_t dims = static_cast<size_t>(func(f).dimensions());
    own.slope.assign(dims, std::vector<double>(vars, 0.0));
    own.spread.assign(dims, 0.0);
    for (size_t d = 0; d < dims; d++) own.slope[d][d] = 1;
    own.limit = bytes_of(f);
    if (f != host_) {
      own.made_at = depth_of(f);
      own.limit = points(boxes_.at(f)[static_cast<size_t>(own.made_at)]) * m_.bytes(f);
    }
    list.push_back(std::move(own));
    return list;
  }

  double bytes_touched(const ArrayUse &u, const std::vector<double> &extents) const {
    if (u.gathers) return u.limit;
    const NumberBox &whole = m_.whole(u.callee);
    double bytes = m_.bytes(u.callee);
    for (size_t d = 0; d < u.slope.size(); d++) {
      double span = 1 + u.spread[d];
      for (size_t v = 0; v < extents.size(); v++) span += u.slope[d][v] * (extents[v] - 1);
      span = std::min(span, std::max<double>(1, static_cast<double>(whole[d].extent())));
      // Memory moves in lines.
      if (d == 0) span = std::max(span, std::min(64.0 / m_.bytes(u.callee),
                                                 static_cast<double>(whole[d].extent())));
      bytes *= span;
    }
    return std::min(bytes, std::max(u.limit, 64.0));
  }

  // All loops around the stage's innermost, innermost first. `inside`: how many are the stage's own.
  std::vector<Around> loops_around(int f, int s, const NumberBox &box, const Nest &n,
                                   size_t *inside) const {
    const StageModel &stage = func(f).stages[static_cast<size_t>(s)];
    const size_t dims = box.size();
    std::vector<double> full, now(stage.vars.size(), 1.0);
    for (size_t v = 0; v < stage.vars.size(); v++) {
      const bool runs = stage.has_loop[v];
      const NumberRange r = v < dims ? box[v] : stage.rvars[v - dims];
      full.push_back(runs ? static_cast<double>(std::max<int64_t>(r.extent(), 1)) : 1.0);
    }
    std::vector<Around> loops;
    const auto grow = [&](size_t v, double to) {
      to = std::min(to, full[v]);
      if (to <= now[v]) return;
      const double trips = std::ceil(to / now[v]);
      now[v] = to;
      loops.push_back({trips, now});
    };
    if (dims > 0) now[0] = std::min<double>(full[0], n.lanes * n.across);
    if (dims > 1) now[1] = std::min<double>(full[1], n.down);
    loops.push_back({1, now});
    for (size_t v = dims; v < full.size(); v++) grow(v, full[v]);
    if (dims > 0) grow(0, full[0]);
    std::vector<int> order;
    if (f == host_ && func(f).stages.size() == 1) {
      const std::vector<int> inner = inner_dimensions(m_, f, plan(f));
      order.assign(inner.rbegin(), inner.rend());
    }
    for (const int d : order) grow(static_cast<size_t>(d), full[static_cast<size_t>(d)]);
    for (size_t d = 0; d < dims; d++) grow(d, full[d]);
    *inside = loops.size();
    return loops;
  }

  std::optional<StageCost> stage(int f, int s) {
    const ExpandedStage &e = expand_(plan_, f, s);
    if (e.too_large) return std::nullopt;
    const StageModel &model = func(f).stages[static_cast<size_t>(s)];
    const FuncPlan &p = plan(f);
    const Nest n = p.nests.empty() ? Nest() : p.nests[static_cast<size_t>(s)];
    if (e.operations * n.across * n.down > 6000) return std::nullopt;
    const bool is_level_stage = f != host_ || s == host_stage(func(f));
    for (const Access &a : e.accesses) {
      if (!m_.is_func(a.callee)) continue;
      const FuncPlan &c = plan(a.callee);
      if (c.where == Where::At && (c.host != host_ || !is_level_stage)) return std::nullopt;
    }

    // A sliding window computes in a tile what the tile needs, in rows.
    int depth = is_level_stage ? depth_of(f) : 0;
    if (f == host_ && is_level_stage) {
      depth = static_cast<int>(plan(host_).outer.size());
    }
    const auto &boxes = boxes_.at(f);
    const NumberBox &box = boxes[static_cast<size_t>(depth)];
    double productions = 1;
    for (int d = 1; d <= depth; d++) productions *= trips_[static_cast<size_t>(d)];
    double total_points = productions * points(box);
    if (p.where == Where::At && p.slides) {
      total_points = productions / trips_[static_cast<size_t>(depth)] *
                     points(boxes[static_cast<size_t>(depth) - 1]);
    }
    double rounds = 1;
    for (const NumberRange &r : model.rvars) rounds *= static_cast<double>(r.extent());
    for (size_t d = 0; d < box.size(); d++) {
      if (!model.has_loop[d]) total_points /= std::max<double>(1, static_cast<double>(box[d].extent()));
    }
    // Whole vectors are computed.
    if (n.lanes > 1) {
      const double extent = static_cast<double>(box[0].extent());
      const double step = n.lanes;
      total_points *= std::ceil(extent / step) * step / extent;
    }

    StageCost cost;
    cost.func = f;
    cost.stage = s;
    cost.points = total_points * rounds;
    const double cycles = point_cycles(f, model, e, n, rounds) * cost.points +
                          kRowCycles * cost.points /
                              std::max<double>(1, innermost_extent(model, box, n)) +
                          (n.whole ? kBlockCycles : kProductionCycles) * productions;
    cost.compute = cycles * machine_.cycle;
    add_traffic(f, s, e, n, box, depth, total_points / std::max(1.0, productions * points(box)),
                &cost);
    return cost;
  }

  static double innermost_extent(const StageModel &model, const NumberBox &box, const Nest &n) {
    const double block = static_cast<double>(n.lanes) * n.across * n.down;
    if (!model.rvars.empty()) return block * static_cast<double>(model.rvars[0].extent());
    return box.empty() ? 1 : static_cast<double>(box[0].extent()) * n.down;
  }

  double point_cycles(int f, const StageModel &model, const ExpandedStage &e, const Nest &n,
                      double rounds) {
    const double lanes = n.lanes, width = machine_.vector_bytes;
    const auto per_point = [&](double bytes, double count) {
      return lanes > 1 ? std::max(bytes / width, count / lanes) : count;
    };
    double cycles = 0.5 * per_point(e.operation_bytes, e.operations);
    std::map<int, int64_t> first_offset;
    shifts_.clear();
    for (const Access &a : e.accesses) {
      if (a.index.empty()) continue;
      const auto [at, fresh] = first_offset.emplace(a.callee, a.index[0].offset);
      if (!fresh && at->second != a.index[0].offset) shifts_[a.callee] = true;
    }
    for (const Access &a : e.accesses) {
      const double bytes = m_.bytes(a.callee);
      const double vector_load = 0.5 * per_point(bytes, 1);
      bool gathers = false, moves = false, other_dim = false, moves_down = false;
      double slope = 0;
      for (size_t d = 0; d < a.index.size(); d++) {
        const IndexModel &i = a.index[d];
        gathers = gathers || i.gathers;
        if (i.slope.empty()) continue;
        if (i.slope[0] != 0) {
          moves = true;
          if (d == 0) slope = std::abs(i.slope[0]);
          if (d > 0) other_dim = true;
        }
        if (i.slope.size() > 1 && i.slope[1] != 0) moves_down = true;
      }
      double load;
      if (in_registers(a.callee) && lanes > 1 && !gathers && !other_dim) {
        // A register where vectors lie as they were made; else through memory, which waits for the
        // stores.
        const bool shifted = slope != 1 || shifts_[a.callee];
        cycles += shifted ? vector_load + 2.0 / lanes : 0;
        continue;
      }
      if (gathers) {
        const double size = bytes_of(a.callee);
        load = 1.5 + (size > machine_.l2 ? 12 : size > machine_.l1 ? 4 : 0);
        load *= lanes > 1 ? 1 : 0.7;
      } else if (lanes == 1) {
        load = 0.5;
      } else if (!moves) {
        load = 0.5 / lanes / n.across;
      } else if (other_dim) {
        load = 1.0;
      } else if (slope <= 1) {
        load = vector_load * (slope == 1 ? 1.15 : 2.5);
      } else {
        load = slope <= 4 ? vector_load * slope * 1.6 : 1.0;
      }
      if (!moves_down) load /= n.down;
      cycles += load;
      cycles += far_rows(model, a) / (lanes * n.across * n.down);
    }
    const double store = in_registers(f) ? 0.1 * per_point(m_.bytes(f), 1)
                                         : per_point(m_.bytes(f), 1);
    if (model.rvars.empty()) {
      cycles += store + (model.reads_itself ? 0.5 * store : 0);
    } else if (model.accumulates && lanes > 1) {
      // Sums wait in registers for the end of the reduction.
      const double sums = static_cast<double>(n.across) * n.down;
      cycles = std::max(cycles, kLatency / (sums * lanes));
      cycles += 2 * store / rounds;
      if (sums + n.across + 1 > machine_.vector_registers) cycles *= 2.5;
    } else {
      cycles += store + (model.reads_itself ? kLatency + 1 : 0);
    }
    return cycles;
  }

  // A member whose block is unrolled whole.
  bool in_registers(int f) const {
    if (!m_.is_func(f) || plan(f).where != Where::At) return false;
    return plan(f).nests[static_cast<size_t>(host_stage(func(f)))].whole;
  }

  // Cycles an iteration of the innermost reduction that steps from row to row of a wide array: each
  // row is another page.
  double far_rows(const StageModel &model, const Access &a) const {
    if (model.rvars.empty() || model.rvars[0].extent() < 48) return 0;
    const size_t innermost = model.vars.size() - model.rvars.size();
    const NumberBox &whole = m_.whole(a.callee);
    if (m_.is_func(a.callee) && plan(a.callee).where == Where::At) return 0;
    for (size_t d = 1; d < a.index.size(); d++) {
      const double pitch = static_cast<double>(whole[0].extent()) * m_.bytes(a.callee);
      if (a.index[d].slope[innermost] != 0 && pitch >= 2048) return 7;
    }
    return 0;
  }

  int host_rows() const {
    const std::vector<Nest> &nests = plan(host_).nests;
    return nests.empty() ? 1 : nests[static_cast<size_t>(host_stage(func(host_)))].down;
  }

  // `new_part`: of a box, what is not there yet.
  void add_traffic(int f, int s, const ExpandedStage &e, const Nest &n, const NumberBox &box,
                   int depth, double new_part, StageCost *cost) const {
    const StageModel &model = func(f).stages[static_cast<size_t>(s)];
    size_t inside = 0;
    std::vector<Around> loops = loops_around(f, s, box, n, &inside);
    std::vector<int> level;  // per loop list position: the box that it stands in
    level.assign(loops.size(), depth);
    const auto &boxes = boxes_.at(f);
    for (int d = depth; d > 0; d--) {
      Around a;
      a.trips = trips_[static_cast<size_t>(d)];
      a.extents = loops.back().extents;
      const NumberBox &outer = boxes[static_cast<size_t>(d) - 1];
      for (size_t v = 0; v < outer.size(); v++) {
        if (model.has_loop[v]) a.extents[v] = std::max<double>(1, static_cast<double>(outer[v].extent()));
      }
      loops.push_back(std::move(a));
      level.push_back(d - 1);
    }
    const std::vector<ArrayUse> uses = array_uses(f, s, e, model.vars.size());
    std::vector<std::vector<double>> touched(loops.size());
    std::vector<double> total(loops.size(), 0);
    for (size_t i = 0; i < loops.size(); i++) {
      for (const ArrayUse &u : uses) {
        touched[i].push_back(bytes_touched(u, loops[i].extents));
        total[i] += touched[i].back();
      }
    }
    std::vector<double> outside(loops.size() + 1, 1);  // trips of all loops from number i on
    for (size_t i = loops.size(); i-- > 0;) outside[i] = outside[i + 1] * loops[i].trips;

    const double capacity[3] = {machine_.l1, machine_.l2, machine_.l3};
    const double price[3] = {machine_.from_l2, machine_.from_l3, machine_.from_memory};
    for (int c = 0; c < 3; c++) {
      size_t fits = 0;
      while (fits + 1 < loops.size() && total[fits + 1] <= capacity[c]) fits++;
      for (size_t a = 0; a < uses.size(); a++) {
        const ArrayUse &u = uses[a];
        double bytes;
        if (u.made_at >= 0 && level[fits] <= u.made_at && total[fits] <= capacity[c]) {
          bytes = 0;  // made in the cache, and used there
        } else if (fits + 1 == loops.size()) {
          bytes = u.limit > capacity[c] / 2 ? touched[fits][a] : 0;
        } else {
          // What the next iteration touches again is still there.
          const double next = touched[fits + 1][a] * outside[fits + 2];
          const double again = touched[fits][a] * outside[fits + 1];
          bytes = 1.5 * total[fits] <= capacity[c] ? std::min(next, again) : again;
        }
        if (u.writes && c == 2) bytes *= 2;  // lines are read before they are written
        if (c == 2 && host_rows() >= 4) bytes *= machine_.rows_at_once;
        (c == 2 ? cost->memory : cost->caches) += bytes * price[c] * new_part;
      }
    }
  }

  const PipelineModel &m_;
  const Machine &machine_;
  Expander &expand_;
  const Plan &plan_;
  const int host_;
  std::vector<double> trips_;                    // [box]
  std::map<int, std::vector<NumberBox>> boxes_;  // [Func][box]
  std::map<int, bool> shifts_;                   // callees read at several places of one vector
  std::vector<int> cone_;                        // host, members and what is inlined between
};

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
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

uint64_t AnalyticCost::key_of(const Plan &plan, int host) const {
  uint64_t key = mix(static_cast<uint64_t>(host), hash_of(plan.funcs[static_cast<size_t>(host)]));
  std::set<int, std::greater<>> todo = {host}, seen = {host};
  while (!todo.empty()) {
    const int f = *todo.begin();
    todo.erase(todo.begin());
    for (const StageModel &s : model_.funcs[static_cast<size_t>(f)].stages) {
      for (const Footprint &p : s.footprints) {
        if (!model_.is_func(p.callee) || !seen.insert(p.callee).second) continue;
        const FuncPlan &c = plan.funcs[static_cast<size_t>(p.callee)];
        if (c.where == Where::Root) {
          key = mix(key, static_cast<uint64_t>(p.callee) * 3 + 1);
          continue;
        }
        key = mix(mix(key, static_cast<uint64_t>(p.callee)), hash_of(c));
        todo.insert(p.callee);
      }
    }
  }
  return key;
}

GroupCost AnalyticCost::group(const Plan &plan, int host) {
  return GroupCoster(model_, machine_, expand_, plan, host).run();
}

double AnalyticCost::cost(const Plan &plan) {
  double total = 0;
  for (size_t f = 0; f < plan.funcs.size(); f++) {
    if (plan.funcs[f].where != Where::Root) continue;
    const uint64_t key = key_of(plan, static_cast<int>(f));
    auto known = memo_.find(key);
    if (known == memo_.end()) {
      known = memo_.emplace(key, group(plan, static_cast<int>(f)).total).first;
    }
    total += known->second;
  }
  return total;
}

std::vector<double> AnalyticCost::costs(const std::vector<const Plan *> &plans) {
  std::vector<double> result;
  for (const Plan *p : plans) result.push_back(cost(*p));
  return result;
}

}  // namespace polyhalite::autosched
