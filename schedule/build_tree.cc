#include "schedule/build_tree.h"

#include <set>

#include "lang/ir/cxx_symbol.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "lang/language/stream_rules.h"
#include "polyhalite/error.h"
#include "schedule/check_packed.h"
#include "schedule/derive.h"
#include "schedule/derive_algorithm.h"
#include "schedule/in_place.h"
#include "schedule/inherit_vectors.h"
#include "schedule/inline.h"
#include "schedule/levels.h"
#include "schedule/memoize.h"
#include "schedule/place.h"
#include "schedule/share_loops.h"
#include "schedule/stage_exprs.h"
#include "schedule/storage.h"

namespace polyhalite {

namespace {

bool is_level(DirectiveKind k) {
  return k == DirectiveKind::ComputeRoot || k == DirectiveKind::ComputeInline ||
         k == DirectiveKind::ComputeAt;
}

bool is_store_level(DirectiveKind k) {
  return k == DirectiveKind::StoreRoot || k == DirectiveKind::StoreAt;
}

bool is_hoist_level(DirectiveKind k) {
  return k == DirectiveKind::HoistStorageRoot || k == DirectiveKind::HoistStorage;
}

std::map<std::string, LevelDirectives> collect_levels(const std::vector<Directive> &directives) {
  std::map<std::string, LevelDirectives> levels;
  for (const Directive &d : directives) {
    if (is_level(d.kind)) levels[d.func].compute = d;
    if (is_store_level(d.kind)) levels[d.func].store = d;
    if (is_hoist_level(d.kind)) levels[d.func].hoist = d;
    if (d.kind == DirectiveKind::RingBuffer) levels[d.func].ring = d;
    if (d.kind == DirectiveKind::Async) levels[d.func].async = d;
    if (d.kind == DirectiveKind::Memoize) levels[d.func].memoize = d;
  }
  return levels;
}

ComputeTargets compute_targets(const std::map<std::string, LevelDirectives> &levels) {
  ComputeTargets targets;
  for (const auto &[func, level] : levels) {
    if (!level.compute || level.compute->kind != DirectiveKind::ComputeAt) continue;
    targets[func] = level.compute->target_func;
  }
  return targets;
}

std::set<std::string> choose_inlined(const Algorithm &a,
                                     const std::map<std::string, LevelDirectives> &levels) {
  std::set<std::string> inlined;
  for (const FuncDef &f : a.funcs) {
    if (a.is_output(f.name)) continue;
    auto found = levels.find(f.name);
    LevelDirectives level = found == levels.end() ? LevelDirectives{} : found->second;
    if (level.compute && level.compute->kind != DirectiveKind::ComputeInline) continue;
    for (const auto &d : {level.store, level.hoist, level.ring, level.async, level.memoize}) {
      if (!d) continue;
      user_error(std::string("cannot ") + directive_verb(d->kind) + " '" + f.name +
                     "': it is computed inline",
                 "only a Func with a compute level has storage and productions of its own",
                 "add compute_root or compute_at, or drop " + std::string(directive_name(d->kind)),
                 d->where);
    }
    inlined.insert(f.name);
  }
  // A C function reads memory.
  for (const FuncDef &f : a.funcs) {
    const CallNode *stage = extern_stage_of(f);
    if (!stage) continue;
    for (const ExternOperand &o : extern_operands(*stage)) {
      if (!o.buffer || !inlined.count(o.buffer->name)) continue;
      user_error(
          "extern stage '" + f.name + "' takes '" + o.buffer->name + "', which is computed inline",
          "the C function '" + readable_symbol(extern_function(*stage)) + "' reads it from memory",
          "add compute_root or compute_at to '" + o.buffer->name + "'", f.where);
    }
  }
  return inlined;
}

// Splits and orders of an inlined Func mean nothing, as in Halide; a kind of loop asks for a loop.
void check_inlined(const Algorithm &a, const std::set<std::string> &inlined, const Directive &d) {
  if (!inlined.count(d.func) || a.find(d.func)->num_definitions() > 1) return;
  if (d.kind != DirectiveKind::Parallel && d.kind != DirectiveKind::Vectorize &&
      d.kind != DirectiveKind::Unroll) {
    return;
  }
  user_error(std::string("cannot ") + directive_verb(d.kind) + " '" + d.loops[0] + "' of '" +
                 d.func + "': it is computed inline and has no loops",
             "", "add compute_root or compute_at to '" + d.func + "'", d.where);
}

StageDimensions dimensions(const FuncDef &f, int stage, const std::string &user_name,
                           const std::vector<Directive> &directives) {
  StageDimensions s = default_dimensions(f, stage);
  for (const Directive &d : directives) {
    int64_t extent;
    const bool is_bound = d.func == user_name && d.kind == DirectiveKind::Bound;
    if (!is_bound || f.definition_of(stage) != 0 || !is_const_int(d.factors[1], &extent)) continue;
    for (LoopDimension &loop : s.loops) {
      if (loop.name == d.loops[0]) loop.bound = extent;
    }
  }
  for (const Directive &d : directives) {
    if (d.func == user_name && d.stage == stage) s = derive(s, d);
  }
  if (auto why = why_broken(s)) throw CompileError(*why);
  return s;
}

// What of `list` is of the Func, and more.
std::vector<Directive> joined(std::vector<Directive> list, const std::vector<Directive> &more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

/// The stages of other Funcs that call the Func.
std::vector<StageId> users_of(const Algorithm &a, int func) {
  std::vector<StageId> users;
  for (int g = 0; g < static_cast<int>(a.funcs.size()); g++) {
    for (int s = 0; g != func && s < static_cast<int>(a.funcs[g].stages.size()); s++) {
      if (called_funcs(a.funcs[g].stages[s]).count(a.funcs[func].name)) users.push_back({g, s});
    }
  }
  return users;
}

// Is something that the Func needs to be computed inside of the vector loop of `user`? Then so is
// the Func, in each lane.
bool is_computed_in_lanes(const Materialised &m, const std::string &func, const std::string &user,
                          const StageDimensions &of_user,
                          const std::map<std::string, LevelDirectives> &levels) {
  const auto &loops = of_user.loops;
  const auto vector = std::find_if(loops.begin(), loops.end(), [](const LoopDimension &l) {
    return l.kind == LoopKind::Vector;
  });
  for (const std::string &needed : needed_funcs(m.algorithm, func)) {
    const auto d = levels.find(m.origin_of(needed));
    if (d == levels.end() || !d->second.compute) continue;
    const Directive &level = *d->second.compute;
    if (level.kind != DirectiveKind::ComputeAt || level.target_func != m.origin_of(user)) continue;
    if (std::any_of(vector, loops.end(),
                    [&](const LoopDimension &l) { return l.label == level.loops[0]; })) {
      return true;
    }
  }
  return false;
}

// Per Func of m: what it has of the vectors of its user, where nobody said how to compute it.
std::vector<std::vector<Directive>> all_inherited_vectors(
    const Materialised &m, const std::vector<Directive> &directives,
    const std::map<std::string, LevelDirectives> &levels) {
  const std::vector<FuncDef> &funcs = m.algorithm.funcs;
  std::vector<std::vector<Directive>> inherited(funcs.size());
  for (int f = static_cast<int>(funcs.size()); f-- > 0;) {
    const std::string &user_name = m.origin_of(funcs[f].name);
    const bool scheduled = std::any_of(directives.begin(), directives.end(),
                                       [&](const Directive &d) { return d.func == user_name; });
    if (scheduled || funcs[f].stages.size() < 2 || m.algorithm.is_output(funcs[f].name)) continue;
    const std::vector<StageId> users = users_of(m.algorithm, f);
    if (users.size() != 1) continue;
    const FuncDef &user = funcs[users[0].func];
    if (!user.stages[users[0].stage].fail.empty()) continue;
    try {
      const StageDimensions caller = dimensions(user, users[0].stage, m.origin_of(user.name),
                                                joined(directives, inherited[users[0].func]));
      if (is_computed_in_lanes(m, funcs[f].name, user.name, caller, levels)) continue;
      inherited[f] = inherited_vectors(funcs[f], user_name, user, users[0].stage, caller);
    } catch (const CompileError &) {
      // Told of where the user's own loops are made.
    }
  }
  return inherited;
}

// Loops of an instruction are the innermost, m outermost, and nothing else runs them.
void check_tensor(const LoopTree &t, StageId id, const StageNest &nest) {
  if (nest.tensor < 0) return;
  const TensorLoops &tensor = t.tensors[static_cast<size_t>(nest.tensor)];
  const std::vector<std::string> &wanted = tensor.loops;
  std::string innermost;
  bool same = wanted.size() <= nest.loops.size(), serial = true;
  for (size_t i = 0; same && i < wanted.size(); i++) {
    const LoopInfo &l = t.loops[nest.loops[nest.loops.size() - wanted.size() + i]];
    innermost += (i ? ", " : "") + l.label;
    same = same && l.label == wanted[i];
    serial = serial && l.kind == LoopKind::Serial;
  }
  std::string names;
  for (auto l = wanted.rbegin(); l != wanted.rend(); ++l) names += (names.empty() ? "" : ", ") + *l;
  const std::string what =
      "cannot tensorize " + describe_stage(t.algorithm.funcs[id.func].name, id.stage);
  if (!same) {
    user_error(what,
               "the loops of the instruction are not its innermost loops, from m inwards" +
                   (innermost.empty() ? "" : "; these are " + innermost),
               "reorder(" + names + ", ...) first", tensor.where);
  }
  if (!serial) {
    user_error(what, "a loop of the instruction is to be run otherwise", "leave its loops serial",
               tensor.where);
  }
}

void add_nest(LoopTree &t, StageId id, const StageDimensions &s, StageNest nest) {
  nest.derivations = s.derivations;
  for (const LoopDimension &d : s.loops) {
    if (d.is_extern) continue;
    LoopInfo loop;
    loop.id = static_cast<int>(t.loops.size());
    loop.stage = id;
    loop.dim = d.name;
    loop.label = d.label;
    loop.name = s.func + ".s" + std::to_string(id.stage) + "." + d.label;
    loop.kind = d.kind;
    loop.partition = d.partition;
    loop.is_reduction = d.is_reduction;
    loop.where = d.where;
    nest.loops.push_back(loop.id);
    t.loops.push_back(std::move(loop));
  }
  check_tensor(t, id, nest);
  t.nests[id.func].push_back(std::move(nest));
}

// What the stage may do without proof.
StageNest waivers(int stage, const std::string &user_name,
                  const std::vector<Directive> &directives) {
  StageNest nest;
  for (const Directive &d : directives) {
    if (d.func != user_name || d.stage != stage) continue;
    if (d.kind == DirectiveKind::Atomic) {
      nest.atomic = true;
      nest.any_order = is_true(d.factors[0]);
    }
    if (d.kind == DirectiveKind::AllowRaceConditions) nest.allow_races = true;
  }
  return nest;
}

// The loops that an instruction stands for.
void add_tensor(LoopTree &t, StageNest &nest, int stage, const std::string &user_name,
                const std::vector<Directive> &directives) {
  for (const Directive &d : directives) {
    if (d.kind != DirectiveKind::Tensorize || d.func != user_name || d.stage != stage) continue;
    if (nest.tensor < 0) {
      nest.tensor = static_cast<int>(t.tensors.size());
      t.tensors.emplace_back();
    }
    t.tensors[static_cast<size_t>(nest.tensor)] = {d.option, d.loops, d.where};
  }
}

// What goes past the caches. Names in directives are those before copies were made.
void add_streams(StageNest &nest, const FuncDef &func, int stage, const Materialised &m,
                 const std::vector<Directive> &directives) {
  bool all = false, any = false;
  std::set<std::string> wanted;
  for (const Directive &d : directives) {
    if (d.func != m.origin_of(func.name) || d.stage != stage) continue;
    if (d.kind == DirectiveKind::StreamStores) {
      if (auto why = why_not_streamed(func, stage)) {
        user_error("cannot stream the stores of " + describe_stage(func.name, stage), why->why,
                   why->fix, d.where);
      }
      nest.stream_stores = true;
    }
    if (d.kind != DirectiveKind::StreamLoads) continue;
    any = true;
    all |= d.funcs.empty();
    wanted.insert(d.funcs.begin(), d.funcs.end());
  }
  if (!any) return;
  std::set<std::string> found;
  for_each_expr(func.stages[static_cast<size_t>(stage)], [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return;
      if (c->name == func.name) return;
      if (all || wanted.count(m.origin_of(c->name))) found.insert(c->name);
    });
  });
  nest.stream_loads.assign(found.begin(), found.end());
}

// The loops around loop `inner` and itself, outermost first, below `n`.
bool find_path(const TreeNode &n, int inner, std::vector<int> &path) {
  const bool is_loop = n.kind == TreeNode::Loop;
  if (is_loop) path.push_back(n.loop);
  if (is_loop && n.loop == inner) return true;
  for (const auto &nodes : {n.children, n.otherwise}) {
    for (const Tree &c : nodes) {
      if (find_path(*c, inner, path)) return true;
    }
  }
  if (is_loop) path.pop_back();
  return false;
}

// What a prefetch asks for, at loops of the stage number `id`. It may ask from a loop of the Funcs
// that this one is computed for.
PrefetchDirective prefetch(const LoopTree &t, StageId id, const Directive &d) {
  const std::string what = "cannot prefetch '" + d.target_func + "' in " + t.describe(id);
  const std::vector<int> &own = t.nest(id).loops;
  const auto find = [&](const std::vector<int> &loops, const std::string &label) {
    return std::find_if(loops.rbegin(), loops.rend(),
                        [&](int l) { return t.loops[l].label == label; });
  };
  const auto found = [&](const std::vector<int> &loops, const std::string &label) {
    const auto it = find(loops, label);
    if (it != loops.rend()) return *it;
    std::string labels;
    for (int l : loops) labels += (labels.empty() ? "" : ", ") + t.loops[l].label;
    user_error(what + ": it has no loop '" + label + "'", "",
               "its loops are, outermost first: " + (labels.empty() ? "none" : labels), d.where);
  };
  const int at_loop = found(own, d.loops[0]);
  const auto at_place = find(own, d.loops[0]), from_place = find(own, d.loops[1]);
  if (from_place < at_place) {
    user_error(what + " at '" + d.loops[0] + "' from '" + d.loops[1] + "'",
               "loop '" + d.loops[1] + "' is inside '" + d.loops[0] +
                   "', so that it has no iteration there",
               "name a loop 'from' that is loop 'at', or around it", d.where);
  }
  std::vector<int> around = own;
  if (from_place == own.rend()) {
    around.clear();
    for (const Tree &r : t.roots) {
      if (find_path(*r, at_loop, around)) break;
    }
  }
  const int from_loop = found(around, d.loops[1]);
  for (int l : own) {
    const LoopInfo &loop = t.loops[l];
    if (loop.kind == LoopKind::Vector) {
      user_error(what + " at '" + d.loops[0] + "'",
                 "vector loop '" + loop.label + "' runs its iterations at once",
                 "prefetch at a loop around it", d.where);
    }
    if (l == at_loop) break;
  }
  PrefetchDirective p;
  p.target = d.target_func;
  p.at = at_loop;
  p.from = from_loop;
  p.offset = d.factors[0];
  p.where = d.where;
  for (PrefetchBoundStrategy s : {PrefetchBoundStrategy::Clamp, PrefetchBoundStrategy::GuardWithIf,
                                  PrefetchBoundStrategy::NonFaulting}) {
    if (d.option == prefetch_bound_name(s)) p.strategy = s;
  }
  return p;
}

// A parsed schedule names Params and image fields; the algorithm holds what the names stand for.
Directive with_params(const Algorithm &a, Directive d) {
  std::vector<Expr *> exprs;
  for (Expr &e : d.factors) exprs.push_back(&e);
  for (Expr &e : d.branch) exprs.push_back(&e);
  for (Expr *factor : exprs) {
    std::map<std::string, Expr> bound;
    for_each_node(*factor, [&](const Expr &e) {
      const VariableNode *v = as_variable(e);
      if (!v || v->param || v->image) return;
      bool field = v->kind == VariableKind::BufferField;
      if (!field && v->kind != VariableKind::Param) return;
      for (const AlgorithmInput &input : a.inputs) {
        const ParameterContents &p = *input.param;
        if (p.is_buffer != field || v->name.substr(0, v->name.find('.')) != p.name) continue;
        auto node = std::make_shared<VariableNode>(field ? Int(32) : p.type, v->kind, v->name);
        node->param = input.param;
        bound[v->name] = make_cast(v->type, Expr(node));
      }
      if (bound.count(v->name)) return;
      if (field && a.is_output(v->name.substr(0, v->name.find('.')))) return;
      user_error("cannot " + std::string(directive_verb(d.kind)) + " '" + d.func +
                     "': the pipeline " + "has no Param '" + v->name + "'",
                 "", "use a constant, or a Param that the algorithm uses", d.where);
    });
    if (!bound.empty()) *factor = substitute(bound, *factor);
  }
  return d;
}

}  // namespace

LoopTree build_tree(const Algorithm &original, const std::vector<Directive> &given, int64_t *work) {
  std::vector<Directive> bound_directives;
  ErrorList errors;
  for (const Directive &d : given) {
    errors.attempt([&] { bound_directives.push_back(with_params(original, d)); });
  }
  errors.raise();
  const DerivedAlgorithm derived = compute_in_place(derive_algorithm(original, bound_directives));
  const Algorithm &algorithm = derived.algorithm;
  const std::vector<Directive> &directives = derived.directives;
  auto levels = collect_levels(directives);
  auto inlined = choose_inlined(algorithm, levels);
  std::set<std::string> told;  // one error for each Func: the rest have the same reason
  for (const Directive &d : directives) {
    if (told.count(d.func)) continue;
    if (!errors.attempt([&] { check_inlined(algorithm, inlined, d); })) told.insert(d.func);
  }

  Materialised m =
      copy_per_stage(inline_funcs(algorithm, inlined, work), inlined, compute_targets(levels));
  const auto inherited = all_inherited_vectors(m, directives, levels);
  LoopTree t;
  t.algorithm = m.algorithm;
  t.origins = m.origin;
  t.directives = given;
  t.nests.resize(t.algorithm.funcs.size());
  for (int f = 0; f < static_cast<int>(t.algorithm.funcs.size()); f++) {
    const FuncDef &func = t.algorithm.funcs[f];
    const std::string &user_name = m.origin_of(func.name);
    for (int s = 0; s < static_cast<int>(func.stages.size()); s++) {
      if (!func.stages[s].fail.empty()) {
        t.nests[f].emplace_back();
        continue;
      }
      errors.attempt([&] {
        StageNest nest = waivers(s, user_name, directives);
        add_streams(nest, func, s, m, directives);
        add_tensor(t, nest, s, user_name, directives);
        StageDimensions of_stage = dimensions(func, s, user_name, joined(directives, inherited[f]));
        add_nest(t, {f, s}, of_stage, std::move(nest));
      });
    }
    errors.attempt([&] {
      for (BoundDirective &b : bounds_of(func, f, user_name, directives)) {
        t.bounds.push_back(std::move(b));
      }
    });
    errors.attempt([&] { t.storage.push_back(storage_of(func, user_name, directives)); });
  }
  errors.raise();
  t = share_loops(std::move(t), directives);
  t = bind_levels(std::move(t), m, algorithm, levels);
  check_shared(t);
  t = place(std::move(t));
  for (int f = 0; f < static_cast<int>(t.algorithm.funcs.size()); f++) {
    for (const Directive &d : directives) {
      if (d.kind != DirectiveKind::Prefetch || d.func != m.origin_of(t.algorithm.funcs[f].name)) {
        continue;
      }
      errors.attempt([&] { t.prefetches.push_back(prefetch(t, {f, d.stage}, d)); });
    }
  }
  errors.raise();
  check_forks(t);
  check_memoized(t);
  check_packed(t);
  t.hash = tree_hash(t);
  return t;
}

}  // namespace polyhalite
