#include "schedule/in_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lang/ir/extern_stage.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"
#include "schedule/stage_exprs.h"

namespace polyhalite {

namespace {

bool reads(const StageDef &stage, const std::string &func) {
  bool found = false;
  for_each_expr(stage, [&](const Expr &e) { found = found || calls_func(e, func); });
  return found;
}

bool says_where_it_is_computed(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::ComputeRoot:
    case DirectiveKind::ComputeInline:
    case DirectiveKind::ComputeAt:
    case DirectiveKind::StoreRoot:
    case DirectiveKind::StoreAt:
      return true;
    default:
      return false;
  }
}

class InPlace {
 public:
  explicit InPlace(DerivedAlgorithm d)
      : a_(std::move(d.algorithm)), list_(std::move(d.directives)) {}

  DerivedAlgorithm run() {
    std::vector<Directive> given;
    for (const Directive &d : list_) {
      if (d.kind == DirectiveKind::InPlace) given.push_back(d);
    }
    list_.erase(std::remove_if(list_.begin(), list_.end(),
                               [](const Directive &d) { return d.kind == DirectiveKind::InPlace; }),
                list_.end());
    for (size_t i = 0; i < given.size(); i++) {
      Directive &d = given[i];
      check(d);
      check_levels(d);
      join(d);
      // Memory that was taken has the name of whoever took it.
      for (size_t k = i + 1; k < given.size(); k++) {
        if (given[k].funcs[0] == d.funcs[0]) given[k].funcs[0] = d.func;
      }
    }
    return {std::move(a_), std::move(list_)};
  }

 private:
  [[noreturn]] static void refuse(const Directive &d, const std::string &why,
                                  const std::string &fix) {
    user_error("cannot compute '" + d.func + "' in place of '" + d.funcs[0] + "'", why, fix,
               d.where);
  }

  void check(const Directive &d) const {
    const FuncDef *f = a_.find(d.funcs[0]);
    const FuncDef &g = *a_.find(d.func);
    const std::string &from = d.funcs[0];
    if (!f) refuse(d, "the pipeline has no such Func", "name a Func that '" + g.name + "' reads");
    if (f->name == g.name) {
      refuse(d, "it is the Func itself", "name a Func that '" + g.name + "' reads");
    }
    for (const FuncDef *one : {f, &g}) {
      if (is_extern_stage(one->stages[0])) {
        refuse(d, "a C function computes '" + one->name + "'", "drop in_place");
      }
      if (one->num_definitions() != static_cast<int>(one->stages.size())) {
        refuse(d, "'" + one->name + "' is specialized", "drop specialize() or in_place()");
      }
    }
    if (a_.is_output(f->name)) {
      refuse(d, "'" + from + "' is an output, and its values are the caller's", "drop in_place");
    }
    if (f->dimensions() != g.dimensions()) {
      refuse(d,
             "they have " + std::to_string(f->dimensions()) + " and " +
                 std::to_string(g.dimensions()) + " dimensions",
             "name a Func of as many dimensions");
    }
    check_names(d, *f, g);
    if (f->types != g.types) {
      refuse(d, "their values have other types", "cast the values of one of both");
    }
    if (!reads(g.stages[0], from)) {
      refuse(d, "the definition of '" + g.name + "' does not read it", "name a Func that it reads");
    }
    for (size_t s = 1; s < g.stages.size(); s++) {
      if (!reads(g.stages[s], from)) continue;
      refuse(d,
             describe_stage(g.name, static_cast<int>(s)) + " reads '" + from +
                 "' when its values are overwritten",
             "drop in_place, or read it in the first definition only");
    }
    for (const FuncDef &other : a_.funcs) {
      if (other.name == f->name || other.name == g.name) continue;
      for (size_t s = 0; s < other.stages.size(); s++) {
        if (!reads(other.stages[s], from)) continue;
        refuse(d, describe_stage(other.name, static_cast<int>(s)) + " reads '" + from + "' too",
               "let '" + other.name + "' read a copy, " + from + ".clone_in(" + other.name +
                   "), or drop in_place");
      }
    }
  }

  // Its dimensions get the names that the other Func's have; none of its loops has such a one.
  void check_names(const Directive &d, const FuncDef &f, const FuncDef &g) const {
    std::set<std::string> others;
    for (const StageDef &s : f.stages) {
      for (const ReductionVariable &r : s.rvars) others.insert(r.var);
    }
    for (const Directive &o : list_) {
      for (size_t i = first_own_loop(o); o.func == f.name && i < o.loops.size(); i++) {
        if (!std::count(f.args.begin(), f.args.end(), o.loops[i])) others.insert(o.loops[i]);
      }
    }
    for (size_t i = 0; i < g.args.size(); i++) {
      if (f.args[i] == g.args[i] || !others.count(g.args[i])) continue;
      refuse(d,
             "'" + f.args[i] + "' of '" + f.name + "' is '" + g.args[i] + "' of '" + g.name +
                 "', and '" + f.name + "' has a loop '" + g.args[i] + "' already",
             "give that loop another name");
    }
  }

  // The first of `loops` that is one of the Func that the directive speaks of.
  static size_t first_own_loop(const Directive &d) { return names_level(d.kind) ? 1 : 0; }

  // The last word on where the Func is computed, as text; none: nobody said.
  std::optional<std::string> level_of(const std::string &func) const {
    std::optional<std::string> level;
    for (const Directive &d : list_) {
      if (d.func != func) continue;
      if (d.kind == DirectiveKind::ComputeRoot) level = "at the root";
      if (d.kind == DirectiveKind::ComputeInline) level = "inline";
      if (d.kind == DirectiveKind::ComputeAt) {
        level = "at '" + d.loops[0] + "' of '" + d.target_func + "'";
      }
    }
    return level;
  }

  void check_levels(const Directive &d) const {
    const std::string &from = d.funcs[0];
    const std::optional<std::string> of = level_of(from);
    std::optional<std::string> own = level_of(d.func);
    if (a_.is_output(d.func)) own = "at the root";
    if (own == "inline" || !own) {
      refuse(d, "'" + d.func + "' is computed inline", "add compute_root or compute_at to it");
    }
    if (!of || of == own) return;
    refuse(d, "'" + from + "' is computed " + *of + ", '" + d.func + "' " + *own,
           "compute both at one level");
  }

  void join(const Directive &d) {
    const std::string from = d.funcs[0], to = d.func;
    const int f = a_.index_of(from);
    FuncDef &g = a_.funcs[a_.index_of(to)];
    std::vector<StageDef> stages = a_.funcs[f].stages;
    const int before = static_cast<int>(stages.size());
    for (int s = 0; s < before; s++) {
      if (stages[s].called.empty()) stages[s].called = describe_stage(from, s);
    }
    for (int s = 0; s < static_cast<int>(g.stages.size()); s++) {
      stages.push_back(std::move(g.stages[s]));
      if (stages.back().called.empty()) stages.back().called = describe_stage(to, s);
    }
    stages[before].in_place = from;
    stages[before].in_place_where = d.where;
    RenameCalls rename(from, to);
    std::map<std::string, std::string> names;
    std::map<std::string, Expr> variables;
    for (size_t d = 0; d < g.args.size(); d++) {
      names[a_.funcs[f].args[d]] = g.args[d];
      variables[a_.funcs[f].args[d]] = make_variable(Int(32), VariableKind::Pure, g.args[d]);
    }
    for (int s = 0; s < static_cast<int>(stages.size()); s++) {
      rewrite_stage(stages[s], [&](const Expr &e) {
        return rename(s < before ? substitute(variables, e) : e);
      });
    }
    g.stages = std::move(stages);
    a_.funcs.erase(a_.funcs.begin() + f);
    redirect(from, to, before, names);
  }

  void redirect(const std::string &from, const std::string &to, int before,
                const std::map<std::string, std::string> &names) {
    auto renamed = [&](std::string &loop) {
      const auto it = names.find(loop);
      if (it != names.end()) loop = it->second;
    };
    list_.erase(std::remove_if(list_.begin(), list_.end(),
                               [&](const Directive &o) {
                                 return o.func == from && says_where_it_is_computed(o.kind);
                               }),
                list_.end());
    for (Directive &o : list_) {
      if (o.func == from) {
        o.func = to;
        for (size_t i = first_own_loop(o); i < o.loops.size(); i++) renamed(o.loops[i]);
      } else if (o.func == to && is_of_stage(o.kind)) {
        o.stage += before;
      }
      if (names_level(o.kind) && o.target_func == to) o.target_stage += before;
      if (o.target_func == from) {
        if (names_level(o.kind)) renamed(o.loops[0]);
        o.target_func = to;
      }
      std::replace(o.funcs.begin(), o.funcs.end(), from, to);
    }
  }

  Algorithm a_;
  std::vector<Directive> list_;
};

}  // namespace

DerivedAlgorithm compute_in_place(DerivedAlgorithm derived) {
  return InPlace(std::move(derived)).run();
}

}  // namespace polyhalite
