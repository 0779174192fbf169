#include "autosched/recurrences.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "polyhedral/model/stage_cases.h"

namespace polyhalite::autosched {

namespace {

constexpr double kLatency = 5;          // cycles that the next point waits for its own Func's value
constexpr double kLeastGain = 1.3;      // of a nest over the one that it is made of
constexpr int kRowsSideBySide = 8;      // chains of instructions that wait for each other
constexpr double kLeastTasks = 20'000;  // nanoseconds of one parallel loop that pay for its start

constexpr double kNever = 1e9;  // cycles

enum class Mark : uint8_t { Serial, Vector, Unrolled, Parallel };

struct Loop {
  std::string name;
  int var = -1;  // of the stage, that it is or is a part of
  double extent = 1;
  Mark mark = Mark::Serial;
};

// Loops innermost first, and the splits that make them.
struct Guess {
  std::vector<Directive> splits;
  std::vector<Loop> loops;
  double cycles = 0;   // a point
  bool apart = false;  // the innermost loop's iterations should not wait for each other
  std::string what;

  size_t place(const std::string &name) const {
    return static_cast<size_t>(
        std::find_if(loops.begin(), loops.end(), [&](const Loop &l) { return l.name == name; }) -
        loops.begin());
  }
  void move(size_t from, size_t to) {
    const Loop l = loops[from];
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(from));
    loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(to), l);
  }
};

// What one case of the stage reads and writes in one point.
struct Touches {
  std::vector<std::vector<IndexModel>> stores, loads;  // [access][dim]
};

class NestGuesser {
 public:
  NestGuesser(const PipelineModel &m, const Machine &machine, int func, int stage)
      : machine_(machine),
        def_(m.algorithm.funcs[static_cast<size_t>(func)]),
        f_(m.funcs[static_cast<size_t>(func)]),
        s_(f_.stages[static_cast<size_t>(stage)]),
        stage_(stage) {
    taken_.insert(s_.vars.begin(), s_.vars.end());
    read_cases();
    operations_ = s_.operations / static_cast<double>(cases_.size());
  }

  /// The loops as they are, innermost first, phases unrolled.
  Guess start() const {
    Guess g;
    const auto dims = static_cast<size_t>(f_.dimensions());
    const auto add = [&](size_t v) {
      if (!s_.has_loop[v]) return;
      const NumberRange r = v < dims ? f_.whole[v] : s_.rvars[v - dims];
      Loop l{s_.vars[v], static_cast<int>(v), static_cast<double>(r.extent()), Mark::Serial};
      if (phases_.count(l.name)) l.mark = Mark::Unrolled;
      g.loops.push_back(l);
    };
    for (size_t v = dims; v < s_.vars.size(); v++) add(v);
    for (size_t v = 0; v < dims; v++) add(v);
    g.cycles = serial_cycles();
    // Without the phases' questions and jumps.
    if (!phases_.empty()) {
      g.what = "phases unrolled";
      g.cycles /= 2;
    }
    return g;
  }

  double serial_cycles() const {
    double loads = 0;
    for (const Touches &t : cases_) loads += 0.5 * static_cast<double>(t.loads.size());
    return operations_ + loads / static_cast<double>(cases_.size()) + 1 +
           (s_.reads_itself ? kLatency : 0) + (phases_.empty() ? 0 : 10);
  }

  /// Better ones than `start`, the best first.
  std::vector<Guess> better() const {
    std::vector<Guess> list;
    const Guess from = start();
    for (const Loop &v : from.loops) {
      if (v.mark != Mark::Serial || v.extent < lanes()) continue;
      const double cycles = vector_cycles(v.var);
      if (cycles * kLeastGain > from.cycles) continue;
      list.push_back(vectors(from, v, cycles));
      for (const Loop &row : from.loops) {
        if (carries_block(v, row, from)) list.push_back(block(from, v, row, cycles));
      }
    }
    for (const Loop &row : from.loops) {
      const bool innermost = row.var == from.loops[0].var;
      if (row.mark != Mark::Serial || innermost || row.extent < kRowsSideBySide) continue;
      if (cases_.size() > 2 || !moves_stores(row.var)) continue;
      for (const int skew : {0, 1, 2}) list.push_back(rows(from, row, skew));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Guess &a, const Guess &b) { return a.cycles < b.cycles; });
    return list;
  }

  /// The same with steps of time in tiles that move along with them, and with these in wavefronts:
  /// where an array does not stay in the cache from one step to the next.
  std::vector<Guess> time_tiles(const Guess &g) const {
    std::vector<Guess> list;
    const size_t time = g.loops.size() - 1;
    const double bytes = points(f_.whole) * f_.bytes;
    constexpr double kLeastSteps = 8;
    if (bytes < 4 * machine_.l2 || g.loops[0].mark != Mark::Vector) return list;
    if (g.loops[time].extent < kLeastSteps || walks(g.loops[time].var) != Walk::Stays) return list;
    std::vector<size_t> space;  // outermost first; rows stay whole
    size_t phase = time;
    for (size_t i = time; i-- > 0;) {
      const Loop &l = g.loops[i];
      if (l.mark == Mark::Unrolled) phase = i;
      if (l.mark == Mark::Serial && l.var != g.loops[0].var && walks(l.var) == Walk::Apart) {
        space.push_back(i);
      }
    }
    if (space.empty() || space.size() > 2) return list;
    // Halos of one and two; with phases, as many for a step as phases can add up to.
    const std::vector<int> per_phase = phase == time ? std::vector<int>{0} : std::vector<int>{1, 2};
    for (const int p : per_phase) {
      const std::vector<int> per_step =
          p == 0 ? std::vector<int>{1, 2} : std::vector<int>{2 * p, 3 * p};
      for (const int t : per_step) list.push_back(time_tile(g, space, phase, p, t));
    }
    return list;
  }

  /// The same with one loop parallel, the outermost ones first.
  std::vector<Guess> with_tasks(const Guess &g) const {
    std::vector<Guess> list;
    if (machine_.cores == 1) return list;
    for (size_t at = g.loops.size(); at-- > 0;) {
      const Loop &l = g.loops[at];
      if (l.mark != Mark::Serial) continue;
      // Further outside it starts less often.
      for (size_t to = g.loops.size() - 1; to > at; to--) {
        Guess outside = g;
        const size_t place = move_outside(&outside, at, to);
        try_tasks(std::move(outside), place, &list);
      }
      try_tasks(g, at, &list);
    }
    return list;
  }

  /// The same with the two outermost loops in wavefronts: iterations that add up to the same are
  /// tasks of one parallel loop.
  std::vector<Guess> wavefronts(const Guess &g) const {
    std::vector<Guess> list;
    if (machine_.cores == 1 || g.loops.size() < 3) return list;
    const size_t outer = g.loops.size() - 1;
    if (g.loops[outer].mark != Mark::Serial || g.loops[outer - 1].mark != Mark::Serial) return list;
    for (const int factor : {1, 2}) {
      Guess w = g;
      double points = s_.share;
      for (const Loop &l : g.loops) points *= l.extent;
      const double starts = g.loops[outer - 1].extent + factor * g.loops[outer].extent;
      if (points / starts * g.cycles * machine_.cycle < kLeastTasks) continue;
      skew(&w, outer - 1, outer, factor);
      std::swap(w.loops[outer - 1], w.loops[outer]);
      w.loops[outer - 1].mark = Mark::Parallel;
      w.what = join(w.what, "wavefronts of " + w.loops[outer - 1].name + " parallel");
      list.push_back(std::move(w));
    }
    return list;
  }

  FixedNest fixed(const Guess &g) const {
    FixedNest n;
    n.directives = g.splits;
    std::vector<std::string> order;
    for (const Loop &l : g.loops) order.push_back(l.name);
    n.directives.push_back(directive(DirectiveKind::Reorder, order));
    n.what = g.what;
    for (const Loop &l : g.loops) {
      if (l.mark == Mark::Serial) continue;
      n.parallel = n.parallel || l.mark == Mark::Parallel;
      n.directives.push_back(directive(l.mark == Mark::Vector     ? DirectiveKind::Vectorize
                                       : l.mark == Mark::Unrolled ? DirectiveKind::Unroll
                                                                  : DirectiveKind::Parallel,
                                       {l.name}));
    }
    for (const Directive &d : g.splits) {
      int64_t factor = 1;
      const auto at = std::find(s_.vars.begin(), s_.vars.end(), d.loops[0]) - s_.vars.begin();
      if (d.kind != DirectiveKind::Split || at >= f_.dimensions()) continue;
      if (is_const_int(d.factors[0], &factor)) n.together.emplace_back(at, factor);
    }
    n.speedup = std::max(1.0, serial_cycles() / g.cycles);
    return n;
  }

 private:
  void read_cases() {
    for (const StageCase &c : stage_cases(def_.stages[static_cast<size_t>(stage_)])) {
      for (const auto &[name, value] : c.fixed) phases_.insert(name);
      Touches t;
      const auto indices = [&](const std::vector<Expr> &args) {
        std::vector<IndexModel> list;
        for (const Expr &e : args) list.push_back(read_index(e, s_.vars));
        return list;
      };
      t.stores.push_back(indices(c.def.args));
      std::set<uint64_t> seen;
      for (const Expr &value : c.def.values) {
        for_each_node(value, [&](const Expr &n) {
          const CallNode *call = as_call(n);
          if (!call || (call->kind != CallKind::Func && call->kind != CallKind::Image)) return;
          if (seen.insert(structural_hash(n)).second) t.loads.push_back(indices(call->args));
        });
      }
      cases_.push_back(std::move(t));
    }
  }

  int lanes() const { return std::max(1, machine_.vector_bytes / s_.widest); }

  // How neighbours along a variable lie in memory: at one place, side by side, or apart.
  enum class Walk : uint8_t { Stays, Neighbours, Apart };
  static Walk walk(const std::vector<IndexModel> &access, int var) {
    Walk w = Walk::Stays;
    for (size_t d = 0; d < access.size(); d++) {
      const IndexModel &i = access[d];
      if (i.gathers) return Walk::Apart;
      const double slope = i.slope[static_cast<size_t>(var)];
      if (slope == 0) continue;
      if (d > 0 || std::abs(slope) != 1) return Walk::Apart;
      w = Walk::Neighbours;
    }
    return w;
  }

  // Is another cell written along the variable, found without data?
  bool moves_stores(int var) const {
    return std::all_of(cases_.begin(), cases_.end(), [&](const Touches &t) {
      const std::vector<IndexModel> &store = t.stores[0];
      return walk(store, var) != Walk::Stays &&
             std::none_of(store.begin(), store.end(),
                          [](const IndexModel &i) { return i.gathers; });
    });
  }

  // Cycles a point in vectors along a variable.
  double vector_cycles(int var) const {
    double cycles = operations_;
    size_t apart = 0;
    for (const Touches &t : cases_) {
      double c = 0;
      switch (walk(t.stores[0], var)) {
        case Walk::Stays:
          return kNever;  // all lanes to one place
        case Walk::Neighbours:
          c += 1;
          break;
        case Walk::Apart:
          c += 4 * lanes();
          apart++;
      }
      for (const std::vector<IndexModel> &load : t.loads) {
        const Walk w = walk(load, var);
        c += w == Walk::Stays ? 0 : w == Walk::Neighbours ? 0.5 : lanes();
      }
      cycles += c / static_cast<double>(cases_.size());
    }
    return 2 * apart > cases_.size() ? kNever : cycles / lanes();
  }

  Directive directive(DirectiveKind kind, std::vector<std::string> loops) const {
    Directive d;
    d.kind = kind;
    d.func = def_.name;
    d.stage = stage_;
    d.loops = std::move(loops);
    return d;
  }

  // Splits the loop in its place: the inner part is returned, and stands just inside of the outer.
  size_t split(Guess *g, size_t at, int64_t factor, const std::string &suffix) const {
    Loop inner = g->loops[at];
    std::set<std::string> taken = taken_;
    for (const Loop &l : g->loops) taken.insert(l.name);
    for (const Directive &d : g->splits) taken.insert(d.loops.begin(), d.loops.end());
    const std::string hint = s_.vars[static_cast<size_t>(inner.var)] + suffix;
    inner.name = hint;
    for (int i = 1; taken.count(inner.name); i++) inner.name = hint + std::to_string(i);
    Directive d =
        directive(DirectiveKind::Split, {g->loops[at].name, g->loops[at].name, inner.name});
    d.factors = {make_int(Int(32), factor)};
    if (inner.var < f_.dimensions()) d.tail = TailStrategy::GuardWithIf;
    g->splits.push_back(std::move(d));
    inner.extent = static_cast<double>(factor);
    g->loops[at].extent = std::ceil(g->loops[at].extent / static_cast<double>(factor));
    g->loops.insert(g->loops.begin() + static_cast<std::ptrdiff_t>(at), inner);
    return at;
  }

  static std::string join(const std::string &a, const std::string &b) {
    return a.empty() ? b : a + ", " + b;
  }

  // The variable innermost, in vectors.
  Guess vectors(Guess g, const Loop &v, double cycles) const {
    g.move(g.place(v.name), 0);
    split(&g, 0, lanes(), "v");
    g.loops[0].mark = Mark::Vector;
    g.cycles = cycles;
    g.what = join(g.what, "vectors of " + std::to_string(lanes()) + " along " + v.name);
    return g;
  }

  // Do blocks of v and row keep their sums over all other loops but those outside?
  bool carries_block(const Loop &v, const Loop &row, const Guess &from) const {
    if (cases_.size() > 1 || row.var == v.var || row.mark != Mark::Serial) return false;
    if (row.extent < 2 || walk(cases_[0].stores[0], row.var) != Walk::Apart) return false;
    if (walk(cases_[0].stores[0], v.var) != Walk::Neighbours) return false;
    double rounds = 1;
    for (const Loop &l : from.loops) {
      if (walk(cases_[0].stores[0], l.var) == Walk::Stays) rounds *= l.extent;
    }
    return rounds >= 8;
  }

  Guess block(Guess g, const Loop &v, const Loop &row, double cycles) const {
    constexpr int kAcross = 2;
    const int down = machine_.vector_registers >= 32 ? 10 : 6;
    std::vector<Loop> sums, rest;
    for (const Loop &l : g.loops) {
      if (l.var == v.var || l.var == row.var) continue;
      (walk(cases_[0].stores[0], l.var) == Walk::Stays ? sums : rest).push_back(l);
    }
    g.loops = {v};
    split(&g, 0, int64_t{kAcross} * lanes(), "b");
    split(&g, 0, lanes(), "v");
    g.loops[0].mark = Mark::Vector;
    g.loops[1].mark = Mark::Unrolled;
    Guess rows = g;
    rows.loops = {row};
    split(&rows, 0, down, "u");
    rows.loops[0].mark = Mark::Unrolled;
    g.splits = rows.splits;
    // Blocks, the sums, then what is outside of the blocks.
    std::vector<Loop> order = {g.loops[0], g.loops[1], rows.loops[0]};
    order.insert(order.end(), sums.begin(), sums.end());
    order.push_back(rows.loops[1]);
    order.push_back(g.loops[2]);
    order.insert(order.end(), rest.begin(), rest.end());
    g.loops = order;
    g.cycles = std::min(cycles, operations_ / lanes() + 0.3 / lanes()) * 0.6;
    g.what =
        join(g.what, std::to_string(kAcross) + "x" + std::to_string(down) +
                         " blocks of vectors of " + std::to_string(lanes()) + " along " + v.name);
    return g;
  }

  // Over all cases: does the variable move what is written?
  Walk walks(int var) const {
    Walk most = Walk::Stays;
    for (const Touches &t : cases_) most = std::max(most, walk(t.stores[0], var));
    return most;
  }

  Guess time_tile(Guess g, const std::vector<size_t> &space, size_t phase, int per_phase,
                  int per_step) const {
    // Iterations of a tile: what of the rest is whole should stay in the second cache.
    constexpr int64_t kRows = 8, kMostSteps = 16;
    double rows = points(f_.whole) * f_.bytes;
    for (const size_t s : space) rows *= 2 * kRows / g.loops[s].extent;
    const bool wide = rows < machine_.l2;
    const int64_t steps = wide ? kMostSteps : kMostSteps / 2;
    const size_t time = g.loops.size() - 1;
    const std::vector<Loop> loops = g.loops;
    std::vector<Loop> outer;
    for (const size_t s : space) {
      if (per_phase > 0) skew(&g, s, phase, per_phase);
      skew(&g, s, time, per_step);
    }
    const auto halve = [&](const std::string &name, int64_t factor, const char *suffix) {
      const size_t inner = split(&g, g.place(name), factor, suffix);
      outer.push_back(g.loops[inner + 1]);
      g.loops.erase(g.loops.begin() + static_cast<std::ptrdiff_t>(inner) + 1);
    };
    halve(loops[time].name, steps, "i");
    for (const size_t s : space) halve(loops[s].name, kRows, "i");
    // Outside of the tiles: the second dimension's, the first one's, time.
    std::reverse(outer.begin() + 1, outer.end());
    std::rotate(outer.begin(), outer.begin() + 1, outer.end());
    g.loops.insert(g.loops.end(), outer.begin(), outer.end());
    const size_t steps_at = g.loops.size() - 1;
    if (machine_.cores > 1) {
      // Tiles of one wavefront have steps and rows that add up to the same.
      skew(&g, steps_at - 1, steps_at, 1);
      std::swap(g.loops[steps_at - 1], g.loops[steps_at]);
      g.loops[steps_at - 1].mark = Mark::Parallel;
    }
    g.what = join(g.what, "tiles of " + std::to_string(steps) + " steps of " + loops[time].name);
    return g;
  }

  // Some iterations of the loop together, each `behind` the one before: what one of them waits for,
  // another one hides.
  Guess rows(Guess g, const Loop &row, int behind) const {
    const size_t at = split(&g, g.place(row.name), kRowsSideBySide, "u");
    g.loops[at].mark = Mark::Unrolled;
    if (behind > 0) skew(&g, 0, at, behind);
    g.move(at, 0);
    g.apart = true;
    g.cycles /= 3 - 0.1 * behind;
    g.what = join(g.what, std::to_string(kRowsSideBySide) + " of " + row.name + " side by side");
    return g;
  }

  // The loop's coordinate becomes its own plus the other one's times the factor.
  void skew(Guess *g, size_t loop, size_t by, int factor) const {
    const std::string &name = g->loops[loop].name;
    Directive d = directive(DirectiveKind::Skew, {name, g->loops[by].name, name});
    d.factors = {make_int(Int(32), factor)};
    g->splits.push_back(std::move(d));
  }

  // The loop goes outside of another one; that of vectors in blocks of some. Returns its place.
  size_t move_outside(Guess *g, size_t at, size_t other) const {
    const Loop &l = g->loops[at];
    if (at == 1 && g->loops[0].mark == Mark::Vector && g->loops[0].var == l.var) {
      constexpr int64_t kVectors = 8;
      const auto block = static_cast<int64_t>(std::ceil(l.extent / (4.0 * machine_.cores)));
      split(g, at, std::max(kVectors, block), "b");
      at++;
      other++;
    }
    g->move(at, other);
    return other;
  }

  void try_tasks(Guess g, size_t at, std::vector<Guess> *list) const {
    double points = s_.share;
    for (size_t i = 0; i <= at; i++) points *= g.loops[i].extent;
    if (g.loops[at].extent < 2 * machine_.cores) return;
    if (points * g.cycles * machine_.cycle < kLeastTasks) return;
    g.loops[at].mark = Mark::Parallel;
    g.what = join(g.what, s_.vars[static_cast<size_t>(g.loops[at].var)] + " parallel");
    list->push_back(std::move(g));
  }

  const Machine &machine_;
  const FuncDef &def_;
  const FuncModel &f_;
  const StageModel &s_;
  const int stage_;
  std::set<std::string> taken_, phases_;
  std::vector<Touches> cases_;
  double operations_ = 0;
};

}  // namespace

std::optional<FixedNest> find_nest(const PipelineModel &model, const Machine &machine, int func,
                                   int stage, const AcceptsNest &accepts) {
  const FuncModel &f = model.funcs[static_cast<size_t>(func)];
  const StageModel &s = f.stages[static_cast<size_t>(stage)];
  if (stage == 0 || !s.scatters || s.rvars.empty()) return std::nullopt;
  if (f.fixed_loops || f.is_host || f.is_extern) return std::nullopt;
  const NestGuesser guesser(model, machine, func, stage);
  std::optional<Guess> best;
  for (const Guess &g : guesser.better()) {
    Guess asked = g;
    if (g.apart) asked.loops[0].mark = Mark::Parallel;
    if (!accepts(guesser.fixed(asked))) continue;
    best = g;
    break;
  }
  if (!best && accepts(guesser.fixed(guesser.start()))) best = guesser.start();
  if (!best) return std::nullopt;
  std::vector<Guess> more = guesser.time_tiles(*best);
  for (const std::vector<Guess> &tasks : {guesser.with_tasks(*best), guesser.wavefronts(*best)}) {
    more.insert(more.end(), tasks.begin(), tasks.end());
  }
  for (const Guess &g : more) {
    if (!accepts(guesser.fixed(g))) continue;
    best = g;
    break;
  }
  if (best->what.empty()) return std::nullopt;
  return guesser.fixed(*best);
}

}  // namespace polyhalite::autosched
