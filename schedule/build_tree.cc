#include "schedule/build_tree.h"

#include <set>

#include "lang/ir/visit.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"
#include "schedule/inline.h"
#include "schedule/levels.h"
#include "schedule/place.h"

namespace polyhalite {

namespace {

bool is_level(DirectiveKind k) {
  return k == DirectiveKind::ComputeRoot || k == DirectiveKind::ComputeInline ||
         k == DirectiveKind::ComputeAt;
}

bool is_store_level(DirectiveKind k) {
  return k == DirectiveKind::StoreRoot || k == DirectiveKind::StoreAt;
}

void check_subject(const Algorithm &a, const Directive &d) {
  std::string what = std::string("cannot ") + directive_verb(d.kind) + " ";
  const FuncDef *f = a.find(d.func);
  if (!f) {
    std::string names;
    for (const FuncDef &g : a.funcs) names += (names.empty() ? "" : ", ") + g.name;
    user_error(what + "'" + d.func + "': the pipeline has no such Func", "",
               "name one of: " + names, d.where);
  }
  if (d.stage < 0 || d.stage >= static_cast<int>(f->stages.size())) {
    user_error(what + describe_stage(d.func, d.stage) + ": there is no such update", "",
               "'" + d.func + "' has " + std::to_string(f->stages.size() - 1) + " of them",
               d.where);
  }
}

std::map<std::string, LevelDirectives> collect_levels(const std::vector<Directive> &directives) {
  std::map<std::string, LevelDirectives> levels;
  for (const Directive &d : directives) {
    if (is_level(d.kind)) levels[d.func].compute = d;
    if (is_store_level(d.kind)) levels[d.func].store = d;
  }
  return levels;
}

std::set<std::string> choose_inlined(const Algorithm &a,
                                     const std::map<std::string, LevelDirectives> &levels) {
  std::set<std::string> inlined;
  for (const FuncDef &f : a.funcs) {
    if (a.is_output(f.name)) continue;
    auto found = levels.find(f.name);
    LevelDirectives level = found == levels.end() ? LevelDirectives{} : found->second;
    if (level.compute && level.compute->kind != DirectiveKind::ComputeInline) continue;
    if (level.store) {
      user_error("cannot store '" + f.name + "': it is computed inline",
                 "only a Func with a compute level has storage",
                 "add compute_root or compute_at, or drop " +
                     std::string(directive_name(level.store->kind)),
                 level.store->where);
    }
    inlined.insert(f.name);
  }
  return inlined;
}

// Splits and orders of an inlined Func mean nothing, as in Halide; a kind of loop asks for a loop.
void check_inlined(const Algorithm &a, const std::set<std::string> &inlined, const Directive &d) {
  if (!inlined.count(d.func) || a.find(d.func)->stages.size() > 1) return;
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
    if (d.func == user_name && d.stage == stage) s = derive(s, d);
  }
  if (auto why = why_broken(s)) throw CompileError(*why);
  return s;
}

void add_nest(LoopTree &t, StageId id, const StageDimensions &s) {
  StageNest nest;
  nest.derivations = s.derivations;
  for (const LoopDimension &d : s.loops) {
    LoopInfo loop;
    loop.id = static_cast<int>(t.loops.size());
    loop.stage = id;
    loop.dim = d.name;
    loop.label = d.label;
    loop.name = s.func + ".s" + std::to_string(s.stage) + "." + d.label;
    loop.kind = d.kind;
    loop.is_reduction = d.is_reduction;
    loop.where = d.where;
    nest.loops.push_back(loop.id);
    t.loops.push_back(std::move(loop));
  }
  t.nests[id.func].push_back(std::move(nest));
}

BoundDirective bound(const FuncDef &f, int index, const Directive &d) {
  for (int i = 0; i < f.dimensions(); i++) {
    if (f.args[i] == d.loops[0]) return {index, i, d.factors[0], d.factors[1], d.where};
  }
  std::string names;
  for (const std::string &a : f.args) names += (names.empty() ? "" : ", ") + a;
  user_error("cannot bound '" + d.loops[0] + "' of '" + d.func + "': it is no dimension of it", "",
             "its dimensions are: " + (names.empty() ? "none" : names), d.where);
}

// A parsed schedule names Params and image fields; the algorithm holds what the names stand for.
Directive with_params(const Algorithm &a, Directive d) {
  for (Expr &factor : d.factors) {
    std::map<std::string, Expr> bound;
    for_each_node(factor, [&](const Expr &e) {
      const VariableNode *v = as_variable(e);
      if (!v || v->param || v->image) return;
      bool field = v->kind == VariableKind::BufferField;
      if (!field && v->kind != VariableKind::Param) return;
      for (const AlgorithmInput &input : a.inputs) {
        const Parameter &p = *input.param;
        if (p.is_buffer != field || v->name.substr(0, v->name.find('.')) != p.name) continue;
        auto node = std::make_shared<VariableNode>(field ? Int(32) : p.type, v->kind, v->name);
        node->param = input.param;
        bound[v->name] = make_cast(v->type, Expr(node));
      }
      if (bound.count(v->name)) return;
      user_error("cannot " + std::string(directive_verb(d.kind)) + " '" + d.func +
                     "': the pipeline " + "has no Param '" + v->name + "'",
                 "", "use a constant, or a Param that the algorithm uses", d.where);
    });
    if (!bound.empty()) factor = substitute(bound, factor);
  }
  return d;
}

}  // namespace

LoopTree build_tree(const Algorithm &algorithm, const std::vector<Directive> &given) {
  std::vector<Directive> directives;
  ErrorList errors;
  for (const Directive &d : given) {
    errors.attempt([&] {
      check_subject(algorithm, d);
      directives.push_back(with_params(algorithm, d));
    });
  }
  errors.raise();
  auto levels = collect_levels(directives);
  auto inlined = choose_inlined(algorithm, levels);
  std::set<std::string> told;  // one error for each Func: the rest have the same reason
  for (const Directive &d : directives) {
    if (told.count(d.func)) continue;
    if (!errors.attempt([&] { check_inlined(algorithm, inlined, d); })) told.insert(d.func);
  }

  Materialised m = inline_funcs(algorithm, inlined);
  LoopTree t;
  t.algorithm = m.algorithm;
  t.directives = given;
  t.nests.resize(t.algorithm.funcs.size());
  for (int f = 0; f < static_cast<int>(t.algorithm.funcs.size()); f++) {
    const FuncDef &func = t.algorithm.funcs[f];
    const std::string &user_name = m.origin_of(func.name);
    for (int s = 0; s < static_cast<int>(func.stages.size()); s++) {
      errors.attempt([&] { add_nest(t, {f, s}, dimensions(func, s, user_name, directives)); });
    }
    for (const Directive &d : directives) {
      if (d.kind != DirectiveKind::Bound || d.func != user_name) continue;
      errors.attempt([&] { t.bounds.push_back(bound(func, f, d)); });
    }
  }
  errors.raise();
  t = bind_levels(std::move(t), m, algorithm, levels);
  t = place(std::move(t));
  t.hash = tree_hash(t);
  return t;
}

}  // namespace polyhalite
