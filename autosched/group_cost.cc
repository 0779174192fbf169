#include "autosched/group_cost.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "autosched/group_boxes.h"

namespace polyhalite::autosched {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLaunch = 4000;  // nanoseconds to start and join a parallel loop
constexpr double kTask = 250;     // and for each of its tasks
constexpr double kLatency = 4;    // cycles until a multiply-add's result can be added to
constexpr double kNestTasks = 8;  // that a nest of its own keeps busy at once
constexpr double kRowCycles = 6;  // of a loop around the innermost
constexpr double kProductionCycles = 60;
constexpr double kBlockCycles = 4;   // of one that is unrolled whole
constexpr double kNotHidden = 0.15;  // of what a core does while something else takes longer
constexpr double kMostStreams = 12;  // rows that are followed at once
constexpr double kPage = 4096;       // bytes

// A loop around a stage, innermost first in lists: afterwards variable extents are these.
struct Around {
  double trips = 1;
  std::vector<double> extents;  // [var]
};

// An array and how a stage walks through it.
struct ArrayUse {
  int callee = -1;
  const std::vector<std::vector<double>> *slope = nullptr;  // [dim][var], the steepest
  const std::vector<double> *spread = nullptr;              // [dim] between the accesses' offsets
  const std::vector<uint32_t> *found_by = nullptr;          // [dim] by reading along these
  bool writes = false;
  double limit = 0;  // bytes that there are of it
  int made_at = -1;  // the depth of a member, or of who reads the array first
  int made_by = -1;  // these
};

class GroupCoster {
 public:
  GroupCoster(const PipelineModel &m, const Machine &machine, Expander &expand, const Plan &plan,
              int host)
      : m_(m), machine_(machine), expand_(expand), plan_(plan), host_(host) {}

  GroupCost run() {
    GroupCost g;
    std::optional<GroupBoxes> boxes = find_group_boxes(m_, plan_, host_);
    if (!boxes) {
      g.total = kInfinity;
      return g;
    }
    boxes_ = std::move(*boxes);
    find_first_readers();
    const FuncPlan &hp = plan(host_);
    const double tasks = hp.outer.empty() ? 1 : boxes_.trips[1];
    const double cores = std::min<double>(machine_.cores, tasks);
    const double speed = tasks / std::ceil(tasks / cores);
    StageCost block;  // what is unrolled whole runs as one
    for (const int f : boxes_.cone) {
      if (plan(f).where == Where::Inline) continue;
      for (int s = 0; s < static_cast<int>(func(f).stages.size()); s++) {
        const std::optional<StageCost> c = stage(f, s);
        if (!c) {
          g.total = kInfinity;
          return g;
        }
        g.stages.push_back(*c);
        if (s == host_stage(func(f)) && plan(f).nests[static_cast<size_t>(s)].whole) {
          block.compute += c->compute;
          block.l2 += c->l2;
          block.l3 += c->l3;
          block.memory += c->memory;
        } else {
          g.total += time_of(*c, speed);
        }
      }
    }
    g.total += time_of(block, speed);
    if (!hp.outer.empty()) g.total += kLaunch + kTask * tasks / cores;
    return g;
  }

 private:
  // Of what a stage does the slowest counts: the rest goes on meanwhile, mostly.
  double time_of(const StageCost &c, double speed) const {
    const double parts[] = {c.compute / speed, c.l2 / speed, c.l3 / speed,
                            c.memory / std::min(speed, machine_.memory_lanes)};
    const double most = *std::max_element(std::begin(parts), std::end(parts));
    return most + kNotHidden * (std::accumulate(std::begin(parts), std::end(parts), 0.0) - most);
  }

  const FuncModel &func(int f) const { return m_.funcs[static_cast<size_t>(f)]; }
  const FuncPlan &plan(int f) const { return plan_.funcs[static_cast<size_t>(f)]; }
  int depth_of(int f) const { return f == host_ ? boxes_.innermost() : plan(f).level + 1; }
  const NumberBox &box(int f, int depth) const {
    return boxes_.boxes[static_cast<size_t>(depth)][static_cast<size_t>(f)];
  }

  // Of what is not made in the group, who brings it to the caches: producers run first.
  void find_first_readers() {
    first_reader_.assign(m_.funcs.size() + m_.images.size(), -1);
    for (const int f : boxes_.cone) {
      if (plan(f).where == Where::Inline) continue;
      for (size_t s = f == host_ ? static_cast<size_t>(host_stage(func(f))) : 0;
           s < func(f).stages.size(); s++) {
        for (const Read &r : expand_(plan_, f, static_cast<int>(s)).reads) {
          first_reader_[static_cast<size_t>(r.callee)] = f;
        }
      }
    }
  }

  // What one row of a stage may read of a callee, through what it inlines.
  double bytes_for_row(int f, const StageModel &stage, int callee) const {
    NumberBox row = box(f, f == host_ ? static_cast<int>(plan(f).outer.size()) : depth_of(f));
    for (size_t d = 1; d < row.size(); d++) row[d].hi = row[d].lo;
    std::vector<NumberBox> needs(m_.funcs.size() + m_.images.size());
    add_needs(m_, stage, row, &needs);
    for (int c = f; c-- > 0;) {
      const NumberBox need = needs[static_cast<size_t>(c)];
      if (need.empty() || plan(c).where != Where::Inline) continue;
      add_needs(m_, func(c).stages[0], need, &needs);
    }
    const double bytes = points(needs[static_cast<size_t>(callee)]) * m_.bytes(callee);
    return std::min(bytes, bytes_of(callee));
  }

  double bytes_of(int callee) const { return points(m_.whole(callee)) * m_.bytes(callee); }

  // What the stage writes stands last; `own` holds how.
  std::vector<ArrayUse> array_uses(int f, int s, const ExpandedStage &e, Read *own) const {
    std::vector<ArrayUse> list;
    for (const Read &r : e.reads) {
      ArrayUse u;
      u.callee = r.callee;
      u.slope = &r.slope;
      u.spread = &r.spread;
      u.found_by = &r.found_by;
      u.limit = bytes_of(r.callee);
      const int first = first_reader_[static_cast<size_t>(r.callee)];
      if (m_.is_func(r.callee) && plan(r.callee).where == Where::At) {
        u.made_at = depth_of(r.callee);
        u.made_by = r.callee;
        u.limit = points(box(r.callee, u.made_at)) * m_.bytes(r.callee);
      } else if (first >= 0 && first < f) {
        u.made_at = std::min(depth_of(first), depth_of(f));
        u.made_by = first;
      }
      list.push_back(u);
    }
    const StageModel &stage = func(f).stages[static_cast<size_t>(s)];
    const size_t dims = static_cast<size_t>(func(f).dimensions());
    own->slope.assign(dims, std::vector<double>(stage.vars.size(), 0.0));
    own->spread.assign(dims, 0.0);
    for (size_t d = 0; d < dims; d++) {
      own->slope[d][d] = 1;
      own->found_by.push_back(stage.has_loop[d] ? 0 : ~uint32_t{0});
    }
    ArrayUse u;
    u.callee = f;
    u.slope = &own->slope;
    u.spread = &own->spread;
    u.writes = true;
    u.found_by = &own->found_by;
    u.limit = bytes_of(f);
    if (f != host_) {
      u.made_at = depth_of(f);
      u.made_by = f;
      u.limit = points(box(f, u.made_at)) * m_.bytes(f);
    }
    list.push_back(u);
    return list;
  }

  double bytes_touched(const ArrayUse &u, const std::vector<double> &extents) const {
    constexpr double kLine = 64;  // memory moves in lines
    const NumberBox &whole = m_.whole(u.callee);
    double bytes = m_.bytes(u.callee), places = 1;
    uint32_t moving = 0;
    for (size_t v = 0; v < extents.size(); v++) moving |= extents[v] > 1 ? bit_of(v) : 0;
    bool gathers = false;
    for (size_t d = 0; d < u.slope->size(); d++) {
      const double most = std::max<double>(1, static_cast<double>(whole[d].extent()));
      double span = 1 + (*u.spread)[d];
      for (size_t v = 0; v < extents.size(); v++) span += (*u.slope)[d][v] * (extents[v] - 1);
      if (((*u.found_by)[d] & moving) != 0) {
        gathers = true;
        span = most;
      }
      span = std::min(span, most);
      if (d == 0) span = std::max(span, std::min(kLine / m_.bytes(u.callee), most));
      bytes *= span;
    }
    // Where data says which, at most a line for each iteration.
    for (const double e : extents) places *= e;
    if (gathers) bytes = std::min(bytes, places * kLine);
    return std::min(bytes, std::max(u.limit, kLine));
  }

  // The stage's own loops around its innermost, innermost first. `row`: how many stand in one
  // iteration of a host's row loop.
  std::vector<Around> loops_around(int f, int s, const NumberBox &box, const Nest &n,
                                   size_t *row) const {
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
    for (const int d : order) {
      *row = loops.size();
      grow(static_cast<size_t>(d), full[static_cast<size_t>(d)]);
    }
    for (size_t d = 0; d < dims; d++) grow(d, full[d]);
    if (order.empty()) *row = loops.size();
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
    for (const Read &r : e.reads) {
      if (!m_.is_func(r.callee)) continue;
      const FuncPlan &c = plan(r.callee);
      if (c.where == Where::At && (c.host != host_ || !is_level_stage)) return std::nullopt;
    }

    // A sliding window computes in a tile what the tile needs, in rows.
    int depth = is_level_stage ? depth_of(f) : 0;
    if (f == host_ && is_level_stage) {
      depth = static_cast<int>(plan(host_).outer.size());
    }
    const NumberBox &box = this->box(f, depth);
    double productions = 1;
    for (int d = 1; d <= depth; d++) productions *= boxes_.trips[static_cast<size_t>(d)];
    double total_points = productions * points(box);
    if (p.where == Where::At && p.slides) {
      total_points =
          productions / boxes_.trips[static_cast<size_t>(depth)] * points(this->box(f, depth - 1));
    }
    double rounds = 1;
    for (const NumberRange &r : model.rvars) rounds *= static_cast<double>(r.extent());
    for (size_t d = 0; d < box.size(); d++) {
      if (!model.has_loop[d])
        total_points /= std::max<double>(1, static_cast<double>(box[d].extent()));
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
    cost.points = total_points * rounds * model.share;
    const double cycles =
        point_cycles(f, model, e, n, rounds) * cost.points +
        kRowCycles * cost.points / std::max<double>(1, innermost_extent(model, box, n)) +
        (n.whole ? kBlockCycles : kProductionCycles) * productions;
    cost.compute = cycles * machine_.cycle;
    if (model.nest) {
      double full = 1;  // how much of its blocks there is
      for (const auto &[d, extent] : model.nest->together) {
        full *= std::min(1.0, static_cast<double>(box[static_cast<size_t>(d)].extent()) /
                                  static_cast<double>(extent));
      }
      cost.compute /= 1 + (model.nest->speedup - 1) * full;
      if (model.nest->parallel && f == host_) {
        cost.compute /= std::min<double>(machine_.cores, kNestTasks);
      }
    }
    add_traffic(f, s, e, n, box, depth, &cost);
    if (f == host_ && s == 0 && !func(f).is_output && bytes_of(f) > machine_.kept) {
      cost.memory += bytes_of(f) * machine_.fresh;
    }
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
    double cycles = 0.5 * per_point(e.row_bytes.per_row(n.down), e.row_operations.per_row(n.down));
    // What rows have in common waits in registers; values that find no room are stored, elements
    // are loaded again.
    constexpr double kInUse = 8;
    const double room = machine_.vector_registers - kInUse;
    double waiting = n.across * e.row_operations.waiting(n.down);
    if (waiting > room)
      cycles += 0.5 * e.row_operations.used_again(n.down) * per_point(e.widest, 1);
    for (const LoadKind &l : e.loads) waiting += n.across * l.elements.waiting(n.down);
    for (const LoadKind &l : e.loads) {
      cycles +=
          l.elements.per_row(n.down, waiting <= room) * load_cycles(f, model, e, l, n, per_point);
    }
    const double store =
        in_registers(f) ? 0.1 * per_point(m_.bytes(f), 1) : per_point(m_.bytes(f), 1);
    if (model.rvars.empty()) {
      cycles += store + (model.reads_itself ? 0.5 * store : 0);
    } else if (model.accumulates && lanes > 1) {
      // Sums wait in registers for the end of the reduction.
      const double sums = static_cast<double>(n.across) * n.down;
      cycles = std::max(cycles, kLatency / (sums * lanes));
      cycles += 2 * store / rounds;
      // One row's operands come from memory, several share them.
      const double operands = n.down > 1 ? n.across + 1 : 2;
      if (sums + operands > machine_.vector_registers) cycles *= 2.5;
    } else {
      cycles += store + (model.reads_itself ? kOwnValueCycles : 0);
    }
    return cycles;
  }

  // Cycles a point of one access.
  template <typename PerPoint>
  double load_cycles(int f, const StageModel &model, const ExpandedStage &e, const LoadKind &l,
                     const Nest &n, const PerPoint &per_point) const {
    const double lanes = n.lanes, bytes = m_.bytes(l.callee);
    const double vector_load = 0.5 * per_point(bytes, 1);
    if (in_registers(l.callee) && lanes > 1 && !l.gathers && !l.across_dim) {
      // A register where vectors lie as they were made; else through memory, which waits for the
      // stores.
      const auto read = std::find_if(e.reads.begin(), e.reads.end(),
                                     [&](const Read &r) { return r.callee == l.callee; });
      return l.slope != 1 || l.found || read->shifts ? vector_load + 2.0 / lanes : 0;
    }
    double load;
    if (lanes > 1 ? l.gathers : l.found) {
      // Along dimension 0 a gather of rows finds the lines of its neighbours.
      const double size = !l.scattered     ? 0
                          : model.scatters ? bytes_of(l.callee)
                                           : bytes_for_row(f, model, l.callee);
      load = 1.5 + (size > machine_.l2 ? 12 : size > machine_.l1 ? 4 : 0);
      load *= lanes > 1 ? 1 : 0.7;
    } else if (lanes == 1) {
      load = 0.5;
    } else if (!l.moves) {
      load = 0.5 / lanes / n.across;
    } else if (l.across_dim) {
      load = across_rows(l, lanes * n.across);
    } else if (l.slope <= 1) {
      load = vector_load * (l.slope == 1 ? 1.15 : 2.5);
    } else {
      load = l.slope <= 4 ? vector_load * l.slope * 1.6 : 1.0;
    }
    return load + far_rows(model, l) / (lanes * n.across);
  }

  // A member whose block is unrolled whole.
  bool in_registers(int f) const {
    if (!m_.is_func(f) || plan(f).where != Where::At) return false;
    return plan(f).nests[static_cast<size_t>(host_stage(func(f)))].whole;
  }

  // Cycles an element that is one of as many rows', which are read side by side. From some number
  // on their addresses find no registers, and lines of wide rows leave the caches before their next
  // element is read. (Measured: sums of rows of 390, 1900 and 4096 elements, 8 to 64 at once.)
  double across_rows(const LoadKind &l, double rows) const {
    constexpr double kAddresses = 16, kLines = 32;
    double cycles = 1 + 0.1 * std::max(0.0, std::log2(rows / kAddresses));
    if (rows > kLines && pitch(l) >= kPage / 2) cycles += 2;
    return cycles;
  }

  double pitch(const LoadKind &l) const {
    return static_cast<double>(m_.whole(l.callee)[0].extent()) * m_.bytes(l.callee);
  }

  // Cycles an iteration of the innermost reduction that steps from row to row of a wide array: each
  // row is another page.
  double far_rows(const StageModel &model, const LoadKind &l) const {
    if (!l.steps_rows || model.rvars[0].extent() < 48) return 0;
    if (m_.is_func(l.callee) && plan(l.callee).where == Where::At) return 0;
    return pitch(l) >= kPage / 2 ? 7 : 0;
  }

  // Memory is fast where it is read or written in long rows, or a few rows at once that the next
  // tile continues: how often does something else begin?
  double streams_begun(const ArrayUse &u, double bytes, int f, int depth,
                       const std::vector<double> &extents) const {
    if (u.slope->empty() || (*u.found_by)[0] != 0 || bytes == 0) return 0;
    const double whole = static_cast<double>(m_.whole(u.callee)[0].extent());
    double width = 1, rows = 1;
    for (size_t v = 0; v < extents.size(); v++) {
      width += (*u.slope)[0][v] * (extents[v] - 1);
      for (size_t d = 1; d < u.slope->size(); d++) {
        if ((*u.slope)[d][v] != 0) rows *= extents[v];
      }
    }
    for (size_t d = 1; d < u.slope->size(); d++) rows += (*u.spread)[d];
    const auto columns = [&](int d) {
      const NumberBox &b = box(f, d);
      return b.empty() ? 1 : static_cast<double>(b[0].extent());
    };
    for (int d = depth; d > 0 && rows <= kMostStreams && columns(d - 1) > columns(d); d--) {
      width *= columns(d - 1) / columns(d);
    }
    return width >= 0.9 * whole ? 0 : bytes / (width * m_.bytes(u.callee));
  }

  // Bytes that go through a cache between a production, or first read, and its use by a stage of
  // `f`, beside those that the stage itself touches: what is produced in between and further
  // inside. The memory that a production writes, and the rows that slide along, have to outlive all
  // that an iteration produces.
  double beside(const ArrayUse &u, int f, const std::vector<ArrayUse> &uses) const {
    const bool outlives = u.writes || (u.made_by == u.callee && plan(u.callee).slides);
    double bytes = 0;
    for (const int member : boxes_.cone) {
      if (plan(member).where != Where::At || depth_of(member) < u.made_at) continue;
      const bool between = depth_of(member) > u.made_at || (member > u.made_by && member < f);
      if (!between && !outlives) continue;
      const bool used = std::any_of(uses.begin(), uses.end(),
                                    [&](const ArrayUse &o) { return o.callee == member; });
      if (!used) bytes += points(box(member, depth_of(member))) * m_.bytes(member);
    }
    return bytes;
  }

  // Of the box that a production needs, what the iterations before have not made.
  NumberBox new_part(int f, NumberBox box, int depth) const {
    const FuncPlan &p = plan(f);
    if (p.where != Where::At || !p.slides) return box;
    const double trips = boxes_.trips[static_cast<size_t>(depth)];
    for (size_t d = 0; d < box.size(); d++) {
      const int64_t all = this->box(f, depth - 1)[d].extent();
      if (all <= box[d].extent()) continue;
      const auto step = static_cast<int64_t>(std::ceil(static_cast<double>(all) / trips));
      box[d].hi = std::min(box[d].hi, box[d].lo + step - 1);
    }
    return box;
  }

  void add_traffic(int f, int s, const ExpandedStage &e, const Nest &n, const NumberBox &box,
                   int depth, StageCost *cost) const {
    const StageModel &model = func(f).stages[static_cast<size_t>(s)];
    size_t row = 0;
    std::vector<Around> loops = loops_around(f, s, new_part(f, box, depth), n, &row);
    // Per depth, the outermost loop of what one iteration there runs.
    std::vector<size_t> last(boxes_.trips.size(), row - 1);
    last[static_cast<size_t>(depth)] = loops.size() - 1;
    for (int d = depth; d > 0; d--) {
      Around a;
      a.trips = boxes_.trips[static_cast<size_t>(d)];
      a.extents = loops.back().extents;
      const NumberBox &outer = this->box(f, d - 1);
      for (size_t v = 0; v < outer.size(); v++) {
        if (model.has_loop[v])
          a.extents[v] = std::max<double>(1, static_cast<double>(outer[v].extent()));
      }
      loops.push_back(std::move(a));
      last[static_cast<size_t>(d) - 1] = loops.size() - 1;
    }
    Read own;
    const std::vector<ArrayUse> uses = array_uses(f, s, e, &own);
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

    const std::vector<double> &once = loops[last[static_cast<size_t>(depth)]].extents;
    const double capacity[3] = {machine_.l1, machine_.l2, machine_.l3};
    const double price[3] = {machine_.from_l2, machine_.from_l3, machine_.from_memory};
    for (int c = 0; c < 3; c++) {
      size_t fits = 0;
      while (fits + 1 < loops.size() && total[fits + 1] <= capacity[c]) fits++;
      for (size_t a = 0; a < uses.size(); a++) {
        const ArrayUse &u = uses[a];
        double bytes;
        if (u.made_at >= 0 &&
            total[last[static_cast<size_t>(u.made_at)]] + beside(u, f, uses) <= capacity[c]) {
          bytes = 0;  // made in the cache, and used there
        } else if (fits + 1 == loops.size()) {
          bytes = u.limit > capacity[c] / 2 ? touched[fits][a] : 0;
        } else {
          // What the next iteration touches again is still there.
          const double next = touched[fits + 1][a] * outside[fits + 2];
          const double again = touched[fits][a] * outside[fits + 1];
          bytes = 1.5 * total[fits] <= capacity[c] ? std::min(next, again) : again;
        }
        if (c == 2) {
          cost->memory += streams_begun(u, bytes, f, depth, once) * machine_.stream_start;
        }
        if (u.writes && c == 2) bytes *= 2;  // lines are read before they are written
        (c == 0 ? cost->l2 : c == 1 ? cost->l3 : cost->memory) += bytes * price[c];
      }
    }
  }

  const PipelineModel &m_;
  const Machine &machine_;
  Expander &expand_;
  const Plan &plan_;
  const int host_;
  GroupBoxes boxes_;
  std::vector<int> first_reader_;  // [Func or image] -1: nobody
};

}  // namespace

GroupCost group_cost(const PipelineModel &m, const Machine &machine, Expander &expand,
                     const Plan &plan, int host) {
  return GroupCoster(m, machine, expand, plan, host).run();
}

}  // namespace polyhalite::autosched
