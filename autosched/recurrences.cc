#include "autosched/recurrences.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "autosched/nest_guess.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "polyhedral/model/stage_cases.h"

namespace polyhalite::autosched {

namespace {

constexpr double kDispatch = 10;        // cycles to ask which phase it is, and to jump there
constexpr double kLeastGain = 1.3;      // of vectors over the loops that they are made of
constexpr double kNever = 1e9;          // cycles
constexpr int kRowsSideBySide = 8;      // chains of instructions that wait for each other
constexpr double kLeastTasks = 20'000;  // nanoseconds of one parallel loop that pay for its start

// How neighbours along a variable lie in memory: at one place, side by side, or apart.
enum class Walk : uint8_t { Stays, Neighbours, Apart };

using Indices = std::vector<IndexModel>;

Walk walk(const Indices &access, int var) {
  Walk w = Walk::Stays;
  for (size_t d = 0; d < access.size(); d++) {
    if (access[d].found_by != 0) return Walk::Apart;
    const double slope = access[d].slope[static_cast<size_t>(var)];
    if (slope == 0) continue;
    if (d > 0 || std::abs(slope) != 1) return Walk::Apart;
    w = Walk::Neighbours;
  }
  return w;
}

// What one case of the stage writes and reads in one point.
struct Touches {
  Indices store;
  std::vector<Indices> loads;
};

class NestGuesser {
 public:
  NestGuesser(const PipelineModel &m, const Machine &machine, int func, int stage)
      : machine_(machine),
        def_(m.algorithm.funcs[static_cast<size_t>(func)]),
        f_(m.funcs[static_cast<size_t>(func)]),
        s_(f_.stages[static_cast<size_t>(stage)]),
        stage_(stage) {
    read_cases();
    operations_ = s_.operations / static_cast<double>(cases_.size());
  }

  /// A point's, as the definition has it.
  double serial_cycles() const {
    double loads = 0;
    for (const Touches &t : cases_) loads += 0.5 * static_cast<double>(t.loads.size());
    return operations_ + loads / static_cast<double>(cases_.size()) + 1 +
           (s_.reads_itself ? kOwnValueCycles : 0) + (phases_.empty() ? 0 : kDispatch);
  }

  /// The loops as they are, phases unrolled.
  NestGuess start() const {
    NestGuess g(f_, def_.name, stage_);
    g.cycles = serial_cycles();
    for (GuessedLoop &l : g.loops) {
      if (phases_.count(l.name)) l.mark = LoopMark::Unrolled;
    }
    if (!phases_.empty()) {
      g.add_word("phases unrolled");
      g.cycles /= 2;
    }
    return g;
  }

  /// Better ones than `start`, the best first.
  std::vector<NestGuess> better() const {
    std::vector<NestGuess> list;
    const NestGuess from = start();
    for (const GuessedLoop &v : from.loops) {
      if (v.mark != LoopMark::Serial || v.extent < lanes()) continue;
      const double cycles = vector_cycles(v.var);
      if (cycles * kLeastGain > from.cycles) continue;
      list.push_back(vectors(from, v, cycles));
      for (const GuessedLoop &row : from.loops) {
        if (carries_block(v, row, from)) list.push_back(block(from, v, row, cycles));
      }
    }
    for (const GuessedLoop &row : from.loops) {
      const bool innermost = row.var == from.loops[0].var;
      if (row.mark != LoopMark::Serial || innermost || row.extent < kRowsSideBySide) continue;
      if (cases_.size() > 2 || !moves_stores(row.var)) continue;
      for (const int behind : {0, 1, 2}) list.push_back(rows(from, row, behind));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const NestGuess &a, const NestGuess &b) { return a.cycles < b.cycles; });
    return list;
  }

  /// The same with steps of time in tiles that move along with them, and with these in wavefronts:
  /// where an array does not stay in the cache from one step to the next.
  std::vector<NestGuess> time_tiles(const NestGuess &g) const {
    constexpr double kLeastSteps = 8;
    const GuessedLoop &time = g.loops[g.outermost()];
    if (points(f_.whole) * f_.bytes < 4 * machine_.l2 || g.loops[0].mark != LoopMark::Vector ||
        time.extent < kLeastSteps || walks(time.var) != Walk::Stays) {
      return {};
    }
    std::vector<size_t> space;  // outermost first; rows stay whole
    size_t phase = g.outermost();
    for (size_t i = g.outermost(); i-- > 0;) {
      const GuessedLoop &l = g.loops[i];
      if (l.mark == LoopMark::Unrolled) phase = i;
      if (l.mark == LoopMark::Serial && l.var != g.loops[0].var && walks(l.var) == Walk::Apart) {
        space.push_back(i);
      }
    }
    if (space.empty() || space.size() > 2) return {};
    // Halos of one and two; with phases, as many for a step as phases can add up to.
    std::vector<NestGuess> list;
    if (phase == g.outermost()) {
      for (const int step : {1, 2}) list.push_back(time_tile(g, space, phase, 0, step));
    } else {
      for (const int halo : {1, 2}) {
        for (const int step : {2 * halo, 3 * halo}) {
          list.push_back(time_tile(g, space, phase, halo, step));
        }
      }
    }
    return list;
  }

  /// The same with one loop parallel, the outermost ones first.
  std::vector<NestGuess> with_tasks(const NestGuess &g) const {
    std::vector<NestGuess> list;
    if (machine_.cores == 1) return list;
    for (size_t at = g.loops.size(); at-- > 0;) {
      if (g.loops[at].mark != LoopMark::Serial) continue;
      // Further outside it starts less often.
      for (size_t to = g.outermost(); to > at; to--) {
        NestGuess outside = g;
        const size_t place = move_outside(&outside, at, to);
        try_tasks(std::move(outside), place, &list);
      }
      try_tasks(g, at, &list);
    }
    return list;
  }

  /// The same with the two outermost loops in wavefronts: iterations that add up to the same are
  /// tasks of one parallel loop.
  std::vector<NestGuess> wavefronts(const NestGuess &g) const {
    std::vector<NestGuess> list;
    if (machine_.cores == 1 || g.loops.size() < 3) return list;
    const size_t outer = g.outermost();
    for (const size_t l : {outer, outer - 1}) {
      if (g.loops[l].mark != LoopMark::Serial) return list;
    }
    for (const int factor : {1, 2}) {
      double points = s_.share;
      for (const GuessedLoop &l : g.loops) points *= l.extent;
      const double starts = g.loops[outer - 1].extent + factor * g.loops[outer].extent;
      if (points / starts * g.cycles * machine_.cycle < kLeastTasks) continue;
      NestGuess w = g;
      run_wavefronts(&w, factor);
      w.add_word("wavefronts of " + w.loops[outer - 1].name + " parallel");
      list.push_back(std::move(w));
    }
    return list;
  }

 private:
  void read_cases() {
    const auto indices = [&](const std::vector<Expr> &args) {
      Indices list;
      for (const Expr &e : args) list.push_back(read_index(e, s_.vars));
      return list;
    };
    for (const StageCase &c : stage_cases(def_.stages[static_cast<size_t>(stage_)])) {
      for (const auto &[name, value] : c.fixed) phases_.insert(name);
      Touches t;
      t.store = indices(c.def.args);
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

  // Over all cases: does the variable move what is written?
  Walk walks(int var) const {
    Walk most = Walk::Stays;
    for (const Touches &t : cases_) most = std::max(most, walk(t.store, var));
    return most;
  }

  // Is another cell written along the variable, found without data?
  bool moves_stores(int var) const {
    return std::all_of(cases_.begin(), cases_.end(), [&](const Touches &t) {
      return walk(t.store, var) != Walk::Stays &&
             std::none_of(t.store.begin(), t.store.end(),
                          [](const IndexModel &i) { return i.found_by != 0; });
    });
  }

  // Cycles a point in vectors along a variable.
  double vector_cycles(int var) const {
    double cycles = operations_;
    size_t apart = 0;
    for (const Touches &t : cases_) {
      double c = 0;
      switch (walk(t.store, var)) {
        case Walk::Stays:
          return kNever;  // all lanes to one place
        case Walk::Neighbours:
          c += 1;
          break;
        case Walk::Apart:
          c += 4 * lanes();
          apart++;
      }
      for (const Indices &load : t.loads) {
        const Walk w = walk(load, var);
        c += w == Walk::Stays ? 0 : w == Walk::Neighbours ? 0.5 : lanes();
      }
      cycles += c / static_cast<double>(cases_.size());
    }
    return 2 * apart > cases_.size() ? kNever : cycles / lanes();
  }

  // The variable innermost, in vectors.
  NestGuess vectors(NestGuess g, const GuessedLoop &v, double cycles) const {
    g.move(g.place(v.name), 0);
    g.loops[g.split(0, lanes(), "v")].mark = LoopMark::Vector;
    g.cycles = cycles;
    g.add_word("vectors of " + std::to_string(lanes()) + " along " + v.name);
    return g;
  }

  // Do blocks of v and row keep their sums over all other loops but those outside?
  bool carries_block(const GuessedLoop &v, const GuessedLoop &row, const NestGuess &from) const {
    if (cases_.size() > 1 || row.var == v.var || row.mark != LoopMark::Serial) return false;
    const Indices &store = cases_[0].store;
    if (row.extent < 2 || walk(store, row.var) != Walk::Apart) return false;
    if (walk(store, v.var) != Walk::Neighbours) return false;
    double rounds = 1;
    for (const GuessedLoop &l : from.loops) {
      if (walk(store, l.var) == Walk::Stays) rounds *= l.extent;
    }
    return rounds >= 8;
  }

  // Innermost first: a block of v and row, the sums, blocks of row, blocks of v, all other loops.
  NestGuess block(NestGuess g, const GuessedLoop &v, const GuessedLoop &row, double cycles) const {
    constexpr int kAcross = 2;
    const int down = machine_.vector_registers >= 32 ? 10 : 6;
    size_t sums = 0;
    for (size_t i = 0; i < g.loops.size(); i++) {
      if (walk(cases_[0].store, g.loops[i].var) == Walk::Stays) g.move(i, sums++);
    }
    g.move(g.place(row.name), sums);
    g.move(g.place(v.name), sums + 1);
    g.move(g.split(g.place(row.name), down, "u"), 0);
    g.loops[0].mark = LoopMark::Unrolled;
    g.move(g.split(g.place(v.name), int64_t{kAcross} * lanes(), "b"), 0);
    g.loops[0].mark = LoopMark::Unrolled;
    g.loops[g.split(0, lanes(), "v")].mark = LoopMark::Vector;
    g.loops[1].mark = LoopMark::Unrolled;
    g.cycles = std::min(cycles, (operations_ + 0.3) / lanes()) * 0.6;
    g.add_word(std::to_string(kAcross) + "x" + std::to_string(down) + " blocks of vectors of " +
               std::to_string(lanes()) + " along " + v.name);
    return g;
  }

  // Some iterations of the loop together, each `behind` the one before: what one of them waits for,
  // another one hides.
  NestGuess rows(NestGuess g, const GuessedLoop &row, int behind) const {
    const size_t at = g.split(g.place(row.name), kRowsSideBySide, "u");
    g.loops[at].mark = LoopMark::Unrolled;
    if (behind > 0) g.skew(0, at, behind);
    g.move(at, 0);
    g.apart = true;
    g.cycles /= 3 - 0.1 * behind;
    g.add_word(std::to_string(kRowsSideBySide) + " of " + row.name + " side by side");
    return g;
  }

  NestGuess time_tile(NestGuess g, const std::vector<size_t> &space, size_t phase, int per_phase,
                      int per_step) const {
    // Iterations of a tile: what of the rest is whole should stay in the second cache.
    constexpr int64_t kRows = 8, kMostSteps = 16;
    double bytes = points(f_.whole) * f_.bytes;
    for (const size_t s : space) bytes *= 2 * kRows / g.loops[s].extent;
    const int64_t steps = bytes < machine_.l2 ? kMostSteps : kMostSteps / 2;
    const size_t time = g.outermost();
    std::vector<std::string> tiled;
    for (const size_t s : space) {
      if (per_phase > 0) g.skew(s, phase, per_phase);
      g.skew(s, time, per_step);
      tiled.push_back(g.loops[s].name);
    }
    const std::string of_time = g.loops[time].name;
    g.split(time, steps, "i");
    // Outside of the tiles: the second dimension's, the first one's, time.
    std::reverse(tiled.begin(), tiled.end());
    for (const std::string &name : tiled) {
      const size_t inner = g.split(g.place(name), kRows, "i");
      g.move(inner + 1, g.outermost() - 1);
    }
    if (machine_.cores > 1) run_wavefronts(&g, 1);
    g.add_word("tiles of " + std::to_string(steps) + " steps of " + of_time);
    return g;
  }

  // Of the two outermost loops.
  static void run_wavefronts(NestGuess *g, int factor) {
    const size_t outer = g->outermost();
    g->skew(outer - 1, outer, factor);
    g->move(outer, outer - 1);
    g->loops[outer - 1].mark = LoopMark::Parallel;
  }

  // The loop goes outside of another one; that of vectors in blocks of some. Returns its place.
  size_t move_outside(NestGuess *g, size_t at, size_t other) const {
    const GuessedLoop &l = g->loops[at];
    if (at == 1 && g->loops[0].mark == LoopMark::Vector && g->loops[0].var == l.var) {
      constexpr int64_t kVectors = 8;
      const auto block = static_cast<int64_t>(std::ceil(l.extent / (4.0 * machine_.cores)));
      g->split(at, std::max(kVectors, block), "b");
      at++;
      other++;
    }
    g->move(at, other);
    return other;
  }

  void try_tasks(NestGuess g, size_t at, std::vector<NestGuess> *list) const {
    double points = s_.share;
    for (size_t i = 0; i <= at; i++) points *= g.loops[i].extent;
    if (g.loops[at].extent < 2 * machine_.cores) return;
    if (points * g.cycles * machine_.cycle < kLeastTasks) return;
    g.loops[at].mark = LoopMark::Parallel;
    g.add_word(s_.vars[static_cast<size_t>(g.loops[at].var)] + " parallel");
    list->push_back(std::move(g));
  }

  const Machine &machine_;
  const FuncDef &def_;
  const FuncModel &f_;
  const StageModel &s_;
  const int stage_;
  std::set<std::string> phases_;
  std::vector<Touches> cases_;
  double operations_ = 0;  // of one case
};

}  // namespace

std::optional<FixedNest> find_nest(const PipelineModel &model, const Machine &machine, int func,
                                   int stage, const AcceptsNest &accepts) {
  const FuncModel &f = model.funcs[static_cast<size_t>(func)];
  const StageModel &s = f.stages[static_cast<size_t>(stage)];
  if (stage == 0 || !s.scatters || s.rvars.empty()) return std::nullopt;
  if (f.fixed_loops || f.is_host || f.is_extern) return std::nullopt;
  const NestGuesser guesser(model, machine, func, stage);
  const double serial = guesser.serial_cycles();
  const auto first_legal = [&](const std::vector<NestGuess> &list) -> std::optional<NestGuess> {
    for (const NestGuess &g : list) {
      NestGuess asked = g;
      if (g.apart) asked.loops[0].mark = LoopMark::Parallel;
      if (accepts(asked.fixed(serial))) return g;
    }
    return std::nullopt;
  };
  std::vector<NestGuess> nests = guesser.better();
  nests.push_back(guesser.start());
  std::optional<NestGuess> best = first_legal(nests);
  if (!best) return std::nullopt;
  best->apart = false;  // it was asked for
  std::vector<NestGuess> more = guesser.time_tiles(*best);
  for (const std::vector<NestGuess> &tasks :
       {guesser.with_tasks(*best), guesser.wavefronts(*best)}) {
    more.insert(more.end(), tasks.begin(), tasks.end());
  }
  if (std::optional<NestGuess> with_more = first_legal(more)) best = std::move(with_more);
  if (best->what.empty()) return std::nullopt;
  return best->fixed(serial);
}

}  // namespace polyhalite::autosched
