#include "schedule/levels.h"

#include <algorithm>

#include "lang/language/names.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"

namespace polyhalite {

namespace {

using Path = std::vector<int>;  // loops, outermost first

class Binder {
 public:
  Binder(LoopTree &t, const Materialised &m, const Algorithm &user,
         const std::map<std::string, LevelDirectives> &levels)
      : t_(t), m_(m), user_(user), levels_(levels) {
    uses_.resize(t.algorithm.funcs.size());
    for (int c = 0; c < static_cast<int>(t.algorithm.funcs.size()); c++) {
      const FuncDef &f = t.algorithm.funcs[c];
      for (int s = 0; s < static_cast<int>(f.stages.size()); s++) {
        for (const std::string &name : called_funcs(f.stages[s])) {
          if (name != f.name) uses_[t.algorithm.index_of(name)].push_back({c, s});
        }
      }
    }
  }

  void run() {
    // Consumers first: their loops enclose their producers' productions.
    const size_t count = t_.algorithm.funcs.size();
    outside_.resize(count);
    ErrorList errors;
    std::vector<bool> failed(count, false);
    for (size_t f = count; f-- > 0;) {
      // Where a user of it stands is not known after an error of the user's.
      const bool unknown = std::any_of(uses_[f].begin(), uses_[f].end(),
                                       [&](const StageId &use) { return failed[use.func]; });
      failed[f] = unknown || !errors.attempt([&] { bind(static_cast<int>(f)); });
    }
    errors.raise();
  }

 private:
  const std::string &name_of(int f) const { return t_.algorithm.funcs[f].name; }

  // Loops around the leaf of a stage whose Func is bound already.
  Path path(StageId s) const {
    Path p = outside_[s.func];
    const Path &own = t_.nest(s).loops;
    p.insert(p.end(), own.begin(), own.end());
    return p;
  }

  // Loops around every use of f. A Func that is no output has a use: what nothing needs is gone
  // (drop_unused), and of copies each is made for a caller while one caller keeps the original.
  Path common_path(int f) const {
    internal_check(!uses_[f].empty(), "a Func that is no output has a use");
    Path common = path(uses_[f][0]);
    for (const StageId &use : uses_[f]) {
      Path p = path(use);
      size_t n = 0;
      while (n < common.size() && n < p.size() && common[n] == p[n]) n++;
      common.resize(n);
    }
    return common;
  }

  // Those of p that stand outside of vector loops of f's users. Where directives put a user inside
  // of another Func's vector loop, f is computed in its lanes, too.
  Path outside_vectors(int f, Path p) const {
    size_t around_users = p.size();
    for (const StageId &use : uses_[f]) {
      around_users = std::min(around_users, outside_[use.func].size());
    }
    auto vector = std::find_if(p.begin() + static_cast<ptrdiff_t>(around_users), p.end(),
                               [&](int l) { return t_.loops[l].kind == LoopKind::Vector; });
    p.erase(vector, p.end());
    return p;
  }

  // Is a Func that f uses, itself or through others, to be computed at a loop of `path` that stands
  // behind the first `outside` ones?
  bool needs_producers_inside(int f, const Path &path, size_t outside) const {
    if (outside == path.size()) return false;
    for (const std::string &name : needed_funcs(t_.algorithm, name_of(f))) {
      const auto d = levels_.find(m_.origin_of(name));
      if (d == levels_.end() || !d->second.compute) continue;
      Directive level = *d->second.compute;
      if (level.kind != DirectiveKind::ComputeAt) continue;
      if (m_.of_other_stages.count(name)) level.target_stage = 0;
      const auto loop = choose(level, path);
      const auto at = loop ? std::find(path.begin(), path.end(), *loop) : path.end();
      if (at != path.end() && static_cast<size_t>(at - path.begin()) >= outside) return true;
    }
    return false;
  }

  void bind(int f) {
    FuncPlacement &p = t_.placements[f];
    auto found = levels_.find(m_.origin_of(name_of(f)));
    LevelDirectives d = found == levels_.end() ? LevelDirectives{} : found->second;
    if (t_.algorithm.is_output(name_of(f))) {
      check_output(f, d);
      return;
    }
    // Without a word, no production is put inside a vector loop of its user, unless what it needs
    // is there.
    const bool inlined = !d.compute || d.compute->kind == DirectiveKind::ComputeInline;
    Path legal = common_path(f);
    if (inlined) {
      const Path outside = outside_vectors(f, legal);
      if (!needs_producers_inside(f, legal, outside.size())) legal = outside;
    }
    if (inlined) {
      if (!legal.empty()) p.compute = legal.back();
    } else {
      p.compute_where = d.compute->where;
      if (d.compute->kind == DirectiveKind::ComputeAt) {
        Directive level = *d.compute;
        if (m_.of_other_stages.count(name_of(f))) level.target_stage = 0;
        p.compute = bind_compute(f, level, legal);
      }
    }
    auto end = std::find(legal.begin(), legal.end(), p.compute);
    outside_[f] = p.compute == kRoot ? Path() : Path(legal.begin(), end + 1);
    refuse_parallel_lanes(f);
    p.store = p.compute;
    p.store_where = p.compute_where;
    if (d.store) {
      p.store_where = d.store->where;
      p.store = d.store->kind == DirectiveKind::StoreRoot ? kRoot : bind_store(f, *d.store);
    }
    bind_hoist(f, d);
    p.async = d.async.has_value();
    if (d.async) p.async_where = d.async->where;
  }

  void bind_hoist(int f, const LevelDirectives &d) {
    FuncPlacement &p = t_.placements[f];
    if (d.hoist) {
      p.hoist_where = d.hoist->where;
      Path legal = outside_[f];
      legal.erase(
          p.store == kRoot ? legal.begin() : std::find(legal.begin(), legal.end(), p.store) + 1,
          legal.end());
      p.hoist = d.hoist->kind == DirectiveKind::HoistStorageRoot ? std::optional<int>(kRoot)
                                                                 : choose(*d.hoist, legal);
      if (!p.hoist) refuse(f, *d.hoist, legal);
    }
    if (!d.ring) return;
    if (!d.hoist) {
      user_error(
          "cannot ring-buffer '" + m_.origin_of(name_of(f)) + "': its storage is not hoisted",
          "a ring holds the storages of several iterations of a loop, so its memory lives "
          "outside of that loop",
          "add hoist_storage at a loop outside of its storage, or hoist_storage_root",
          d.ring->where);
    }
    p.ring = d.ring->factors[0];
  }

  // Lanes run a production together, on one thread.
  void refuse_parallel_lanes(int f) const {
    for (int outer : outside_.at(f)) {
      if (t_.loops[outer].kind != LoopKind::Vector) continue;
      for (const StageNest &nest : t_.nests[f]) {
        for (int l : nest.loops) {
          if (t_.loops[l].kind != LoopKind::Parallel) continue;
          user_error("cannot run '" + t_.loops[l].label + "' of '" + name_of(f) +
                         "' in parallel: it is computed inside the vector loop '" +
                         level_name(outer) + "'",
                     "",
                     "compute '" + name_of(f) + "' outside that loop, or keep '" +
                         t_.loops[l].label + "' serial",
                     t_.loops[l].where);
        }
      }
    }
  }

  void check_output(int f, const LevelDirectives &d) const {
    for (const auto &level : {d.compute, d.store, d.hoist}) {
      if (!level || !names_level(level->kind)) continue;
      user_error(std::string("cannot ") + directive_verb(level->kind) + " '" + name_of(f) +
                     "' at a loop of '" + level->target_func + "': it is an output of the pipeline",
                 "the caller's buffer holds it whole",
                 "leave it at root, or make another Func the output", level->where);
    }
  }

  // The outermost loop of `legal` that the directive can mean. A target stage of 0 also stands for
  // "whichever stage uses it", as in Halide's LoopLevel(func, var).
  std::optional<int> choose(const Directive &d, const Path &legal) const {
    if (d.loops[0] == kOutermost) return around_target(d, legal);
    std::optional<int> other_stage;
    for (int l : legal) {
      const LoopInfo &loop = t_.loops[l];
      if (loop.label != d.loops[0]) continue;
      std::vector<StageId> stages = loop.also;
      stages.insert(stages.begin(), loop.stage);
      for (const StageId &s : stages) {
        if (m_.origin_of(name_of(s.func)) != d.target_func) continue;
        if (definition_of(s) == d.target_stage) return l;
        if (d.target_stage <= 0 && !other_stage) other_stage = l;
      }
    }
    return other_stage;
  }

  // Outside of the target's own loops: where it is computed itself, if that is legal.
  std::optional<int> around_target(const Directive &d, const Path &legal) const {
    const int target = t_.algorithm.index_of(d.target_func);
    if (target < 0 || m_.origin_of(d.target_func) != d.target_func) return std::nullopt;
    const int level = t_.placements[target].compute;
    if (level == kRoot || std::count(legal.begin(), legal.end(), level)) return level;
    return std::nullopt;
  }
  int definition_of(StageId s) const { return t_.func(s).definition_of(s.stage); }

  std::string level_name(int l) const {
    const LoopInfo &loop = t_.loops[l];
    std::string text = name_of(loop.stage.func);
    const int stage = definition_of(loop.stage);
    if (stage > 0) text += ".update(" + std::to_string(stage - 1) + ")";
    return text + "." + loop.label;
  }

  std::string level_list(const Path &legal) const {
    std::string text = "root";
    for (int l : legal) text += ", " + level_name(l);
    return text;
  }

  // Var::outermost() of a Func is where that is computed itself, if `legal` reaches so far.
  std::optional<int> choose_outermost(const Directive &d, const Path &legal) const {
    const int t = t_.algorithm.index_of(d.target_func);
    if (t < 0) return std::nullopt;
    const Path &around = outside_[t];
    if (around.size() > legal.size() || !std::equal(around.begin(), around.end(), legal.begin())) {
      return std::nullopt;
    }
    return around.empty() ? kRoot : around.back();
  }

  int bind_level(int f, const Directive &d, const Path &legal) const {
    const auto l = d.loops[0] == kOutermost ? choose_outermost(d, legal) : choose(d, legal);
    if (!l) refuse(f, d, legal);
    return *l;
  }

  int bind_compute(int f, const Directive &d, const Path &legal) const {
    return bind_level(f, d, legal);
  }

  int bind_store(int f, const Directive &d) const { return bind_level(f, d, outside_[f]); }

  [[noreturn]] void refuse(int f, const Directive &d, const Path &legal) const {
    const std::string &target = d.target_func;
    std::string what = std::string("cannot ") + directive_verb(d.kind) + " '" +
                       m_.origin_of(name_of(f)) + "' at loop '" + d.loops[0] + "' of " +
                       describe_stage(target, std::max(d.target_stage, 0));
    std::string fix = std::string(directive_verb(d.kind)) + " it at one of: " + level_list(legal);
    if (!user_.find(target)) {
      user_error(what + ": the pipeline has no Func '" + target + "'", "", fix, d.where);
    }
    if (target == m_.origin_of(name_of(f))) {
      user_error(what + ": that loop is its own", "", fix, d.where);
    }
    int t = t_.algorithm.index_of(target);
    if (t < 0) {
      user_error(what + ": '" + target + "' is computed inline and has no loops", "",
                 "give '" + target + "' a compute level, or " + fix, d.where);
    }
    std::vector<int> named = loops_named(t, d);
    if (named.empty()) {
      StageId s{t, std::max(d.target_stage, 0)};
      user_error(what + ": there is no such loop", "",
                 s.stage < static_cast<int>(t_.nests[t].size())
                     ? "the loops of " + t_.describe(s) + " are, outermost first: " + labels(s)
                     : fix,
                 d.where);
    }
    if (d.kind == DirectiveKind::StoreAt || d.kind == DirectiveKind::HoistStorage) {
      user_error(what + ": that loop does not enclose where it is " +
                     (d.kind == DirectiveKind::StoreAt ? "computed" : "stored"),
                 "", fix, d.where);
    }
    refuse_by_use(f, what, named, fix, d);
  }

  [[noreturn]] void refuse_by_use(int f, const std::string &what, const std::vector<int> &named,
                                  const std::string &fix, const Directive &d) const {
    std::optional<StageId> outside;
    bool used_inside = false;
    for (const StageId &use : uses_[f]) {
      Path p = path(use);
      bool inside = std::any_of(
          p.begin(), p.end(), [&](int l) { return std::count(named.begin(), named.end(), l) > 0; });
      used_inside |= inside;
      if (!inside && !outside) outside = use;
    }
    user_error(what + ": it is " + (used_inside ? "also " : "") + "used by " +
                   t_.describe(outside.value_or(uses_[f][0])) + ", outside that loop",
               "", fix, d.where);
  }

  std::vector<int> loops_named(int target, const Directive &d) const {
    std::vector<int> found;
    for (const LoopInfo &l : t_.loops) {
      if (l.stage.func == target && l.label == d.loops[0] &&
          (d.target_stage <= 0 || definition_of(l.stage) == d.target_stage)) {
        found.push_back(l.id);
      }
    }
    return found;
  }

  std::string labels(StageId s) const {
    std::string text;
    for (int l : t_.nest(s).loops) text += (text.empty() ? "" : ", ") + t_.loops[l].label;
    return text.empty() ? "none" : text;
  }

  LoopTree &t_;
  const Materialised &m_;
  const Algorithm &user_;
  const std::map<std::string, LevelDirectives> &levels_;
  std::vector<std::vector<StageId>> uses_;  // [func]: stages of other Funcs that call it
  std::vector<Path> outside_;               // [func]: loops around its production
};

}  // namespace

LoopTree bind_levels(LoopTree tree, const Materialised &materialised, const Algorithm &user,
                     const std::map<std::string, LevelDirectives> &levels) {
  tree.placements.assign(tree.algorithm.funcs.size(), {});
  Binder(tree, materialised, user, levels).run();
  return tree;
}

}  // namespace polyhalite
