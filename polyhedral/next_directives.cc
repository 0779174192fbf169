#include "polyhedral/next_directives.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "lang/ir/visit.h"
#include "schedule/fission.h"
#include "schedule/inline.h"

namespace polyhalite {

namespace {

using Step = std::vector<Directive>;

constexpr int kTile = 32;            // iterations of the inner loop of a split
constexpr int kUnrolled = 4;         // the same where it is unrolled
constexpr int kBlock = 4;            // cells of a block of storage, at least
constexpr int64_t kMostLanes = 64;   // of a loop that is a vector as it stands
constexpr int64_t kMostCopies = 16;  // of a loop that is unrolled as it stands

bool reads(const FuncDef &consumer, const std::string &func) {
  bool found = false;
  const auto look = [&](const Expr &e) {
    if (!e.defined()) return;
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      found |= c && c->kind == CallKind::Func && c->name == func;
    });
  };
  for (const StageDef &s : consumer.stages) {
    for (const Expr &e : s.args) look(e);
    for (const Expr &e : s.values) look(e);
    look(s.predicate);
  }
  return found;
}

// The Funcs that need `func`, directly or through others.
std::set<std::string> consumers_of(const Algorithm &algorithm, const std::string &func) {
  std::set<std::string> all;
  std::vector<std::string> open = {func};
  while (!open.empty()) {
    const std::string producer = open.back();
    open.pop_back();
    for (const FuncDef &f : algorithm.funcs) {
      if (f.name != producer && reads(f, producer) && all.insert(f.name).second) {
        open.push_back(f.name);
      }
    }
  }
  return all;
}

// Loops that no directive made, as those of vectors that a stage takes over from its consumer, have
// names that no program can write: "x$v". Those of several Vars of one name are "x", "x$1"...
bool is_sayable(const std::string &loop) {
  for (size_t at = loop.find('$'); at != std::string::npos; at = loop.find('$', at + 1)) {
    if (at + 1 == loop.size() || !std::isdigit(static_cast<unsigned char>(loop[at + 1])))
      return false;
  }
  return true;
}

class Steps {
 public:
  Steps(const Algorithm &algorithm, const LoopTree &tree, const Survey &survey,
        const NextPlace &place)
      : algorithm_(algorithm), tree_(tree), survey_(survey), place_(place) {
    for (size_t f = 0; f < tree.algorithm.funcs.size(); f++) {
      const FuncDef &def = tree.algorithm.funcs[f];
      if (tree.origin_of(def.name) != place.func) continue;
      if (place.stage >= static_cast<int>(def.stages.size())) continue;
      find_loops({static_cast<int>(f), place.stage});
      break;
    }
    for (const Directive &d : tree.directives) {
      if (d.func == place.func) taken_.insert(d.loops.begin(), d.loops.end());
      taken_funcs_.insert(d.makes);
    }
    for (const FuncDef &f : algorithm.funcs) taken_funcs_.insert(f.name);
  }

  std::vector<Step> all() {
    for (const Loop &l : loops_) marks(l);
    for (const Loop &l : loops_) kernels(l);
    for (size_t i = 0; i + 1 < loops_.size(); i++) exchanges(loops_[i], loops_[i + 1]);
    for (const Loop &l : loops_) {
      add({split(l.label, fresh(l.label + "_i"), kTile)});
    }
    for (size_t i = 0; i + 1 < loops_.size(); i++) {
      const Loop &inner = loops_[i], &outer = loops_[i + 1];
      const std::string fused = fresh(inner.label + "_" + outer.label);
      add({loop_directive(DirectiveKind::Fuse, {inner.label, outer.label, fused})});
    }
    for (const Loop &l : loops_) add({loop_directive(DirectiveKind::Reverse, {l.label})});
    for (const Loop &l : loops_) reductions(l);
    fissions();
    if (place_.stage == 0 && !algorithm_.is_output(place_.func)) {
      levels();
      if (!loops_.empty()) packs();
    }
    if (place_.stage == 0 && !loops_.empty()) memories();
    return std::move(steps_);
  }

 private:
  struct Loop {
    std::string label;
    bool is_reduction = false, is_serial = true;
    int64_t extent = 0;  // 0: not known
  };

  void find_loops(StageId s) {
    const std::vector<int> &ids = tree_.nest(s).loops;
    for (size_t i = ids.size(); i-- > 0;) {  // innermost first, as directives name them
      const LoopInfo &info = tree_.loops[static_cast<size_t>(ids[i])];
      Loop l;
      l.label = info.label;
      l.is_reduction = tree_.is_reduction(s, i);
      l.is_serial = info.kind == LoopKind::Serial;
      if (!is_const_int(survey_.loops[static_cast<size_t>(ids[i])].extent, &l.extent)) l.extent = 0;
      taken_.insert({info.label, info.dim});
      loops_.push_back(std::move(l));
    }
    const FuncDef &def = tree_.func(s);
    taken_.insert(def.args.begin(), def.args.end());
    for (const ReductionVariable &r : tree_.definition(s).rvars) taken_.insert(r.var);
  }

  static std::string fresh_in(const std::set<std::string> &taken, const std::string &wish) {
    std::string name = wish;
    for (int i = 1; taken.count(name); i++) name = wish + std::to_string(i);
    return name;
  }
  std::string fresh(const std::string &wish) const { return fresh_in(taken_, wish); }

  Directive directive(DirectiveKind kind) const {
    Directive d;
    d.kind = kind;
    d.func = place_.func;
    return d;
  }

  Directive loop_directive(DirectiveKind kind, std::vector<std::string> loops,
                           std::vector<Expr> factors = {}) const {
    Directive d = directive(kind);
    d.stage = place_.stage;
    d.loops = std::move(loops);
    d.factors = std::move(factors);
    return d;
  }

  Directive split(const std::string &loop, const std::string &inner, int factor) const {
    return loop_directive(DirectiveKind::Split, {loop, loop, inner}, {Expr(factor)});
  }

  void add(Step step) {
    const bool said = std::all_of(step.begin(), step.end(), [](const Directive &d) {
      return std::all_of(d.loops.begin(), d.loops.end(), is_sayable);
    });
    if (said) steps_.push_back(std::move(step));
  }

  void marks(const Loop &l) {
    if (!l.is_serial) {
      add({loop_directive(DirectiveKind::Serial, {l.label})});
      return;
    }
    const Directive atomic = loop_directive(DirectiveKind::Atomic, {}, {make_false()});
    for (const bool with_atomic : {false, true}) {
      // Without `atomic` where that is legal: whoever reads the list sees which it is.
      if (with_atomic && !l.is_reduction) break;
      const Step before = with_atomic ? Step{atomic} : Step{};
      const auto marked = [&](Step rest) {
        Step step = before;
        step.insert(step.end(), rest.begin(), rest.end());
        add(std::move(step));
      };
      marked({loop_directive(DirectiveKind::Parallel, {l.label})});
      if (l.extent > 1 && l.extent <= kMostLanes) {
        marked({loop_directive(DirectiveKind::Vectorize, {l.label})});
      } else if (place_.lanes > 1) {
        const std::string inner = fresh(l.label + "_v");
        marked({split(l.label, inner, place_.lanes),
                loop_directive(DirectiveKind::Vectorize, {inner})});
      }
    }
    if (l.extent > 1 && l.extent <= kMostCopies) {
      add({loop_directive(DirectiveKind::Unroll, {l.label})});
    } else {
      const std::string inner = fresh(l.label + "_u");
      add({split(l.label, inner, kUnrolled), loop_directive(DirectiveKind::Unroll, {inner})});
    }
  }

  void kernels(const Loop &l) {
    if (!place_.kernels || !l.is_serial) return;
    add({loop_directive(DirectiveKind::GpuBlocks, {l.label})});
    add({loop_directive(DirectiveKind::GpuThreads, {l.label})});
    const std::string inner = fresh(l.label + "_i");
    add({split(l.label, inner, kTile), loop_directive(DirectiveKind::GpuBlocks, {l.label}),
         loop_directive(DirectiveKind::GpuThreads, {inner})});
  }

  // The two loops in the other order, and the inner one in coordinates that go along with the
  // outer one, which makes the exchange legal for stencils.
  void exchanges(const Loop &inner, const Loop &outer) {
    const Directive exchange = loop_directive(DirectiveKind::Reorder, {outer.label, inner.label});
    add({exchange});
    if (place_.stage == 0) return;
    for (const int factor : {1, 2}) {
      add({loop_directive(DirectiveKind::Skew, {inner.label, outer.label, inner.label},
                          {Expr(factor)}),
           exchange});
    }
  }

  void reductions(const Loop &l) {
    if (!l.is_reduction) return;
    Directive d = loop_directive(DirectiveKind::Rfactor, {l.label, fresh(l.label + "_p")});
    d.makes = fresh_in(taken_funcs_, place_.func + "_intm");
    add({std::move(d)});
  }

  // The values of a Tuple apart, outside of all loops and inside of each.
  void fissions() {
    const FuncDef &f = *algorithm_.find(place_.func);
    if (loops_.empty() || !f.is_update(place_.stage) || fission_parts(f, place_.stage).size() < 2) {
      return;
    }
    const std::string part = fresh("part");
    add({loop_directive(DirectiveKind::Fission, {part})});
    for (const Loop &l : loops_) add({loop_directive(DirectiveKind::Fission, {l.label, part})});
  }

  void levels() {
    for (const DirectiveKind kind : {DirectiveKind::ComputeInline, DirectiveKind::ComputeRoot}) {
      add({directive(kind)});
    }
    levels(DirectiveKind::ComputeAt);
    add({directive(DirectiveKind::StoreRoot)});
    levels(DirectiveKind::StoreAt);
  }

  void packs() {
    for (const std::string &arg : algorithm_.find(place_.func)->args) {
      add({loop_directive(DirectiveKind::Pack, {arg}, {Expr(std::max(place_.lanes, kBlock))})});
    }
  }

  // Those of the Funcs that it reads.
  void memories() {
    for (const std::string &read : called_funcs(algorithm_.find(place_.func)->stages[0])) {
      if (tree_.algorithm.index_of(read) < 0) continue;
      Directive d = directive(DirectiveKind::InPlace);
      d.funcs = {read};
      add({std::move(d)});
    }
  }

  void levels(DirectiveKind kind) {
    const std::set<std::string> consumers = consumers_of(algorithm_, place_.func);
    std::set<std::string> seen;
    for (size_t f = 0; f < tree_.algorithm.funcs.size(); f++) {
      const std::string &origin = tree_.origin_of(tree_.algorithm.funcs[f].name);
      if (!consumers.count(origin) || !seen.insert(origin).second) continue;
      const FuncDef &def = tree_.algorithm.funcs[f];
      for (int s = 0; s < def.num_definitions(); s++) {
        const std::vector<int> &ids = tree_.nest({static_cast<int>(f), s}).loops;
        for (const int id : ids) {
          Directive d = directive(kind);
          d.target_func = origin;
          d.target_stage = s;
          d.loops = {tree_.loops[static_cast<size_t>(id)].label};
          add({std::move(d)});
        }
      }
    }
  }

  const Algorithm &algorithm_;
  const LoopTree &tree_;
  const Survey &survey_;
  const NextPlace &place_;
  std::vector<Loop> loops_;  // innermost first; none where the Func is inlined
  std::set<std::string> taken_, taken_funcs_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<std::vector<Directive>> next_directives(const Algorithm &algorithm,
                                                    const LoopTree &tree, const Survey &survey,
                                                    const NextPlace &place) {
  return Steps(algorithm, tree, survey, place).all();
}

}  // namespace polyhalite
