#include "lang/ir/freeze.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "lang/ir/node.h"
#include "lang/ir/reach.h"
#include "lang/ir/unowned.h"
#include "lang/ir/visit.h"
#include "lang/language/loop_level.h"
#include "lang/language/names.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

using FuncPtr = std::shared_ptr<FunctionContents>;
using ParamPtr = std::shared_ptr<ParameterContents>;

// Names that are unique within a scope: "f", then "f$1", "f$2"...
class NameScope {
 public:
  std::string fresh(const std::string &name) {
    const std::string base = plain_name(name);
    std::string result = base;
    for (int i = 1; !taken_.insert(result).second; i++) result = base + "$" + std::to_string(i);
    return result;
  }

 private:
  std::set<std::string> taken_;
};

// The names of one stage's variables and loops.
class StageNames {
 public:
  const std::string &operator()(const std::string &name) {
    auto it = names_.find(name);
    if (it == names_.end()) it = names_.emplace(name, scope_.fresh(name)).first;
    return it->second;
  }
  bool has(const std::string &name) const { return names_.count(name) > 0; }

 private:
  std::map<std::string, std::string> names_;
  NameScope scope_;
};

struct Names {
  std::unordered_map<const FunctionContents *, std::string> funcs;
  std::map<std::string, const FunctionContents *> by_process_name;
  std::unordered_map<const ParameterContents *, ParamPtr> params;
  std::unordered_map<const BufferContents *, std::shared_ptr<BufferContents>> images;

  const std::string &of_func(const std::string &process_name) const {
    return funcs.at(by_process_name.at(process_name));
  }
};

// Whose name came from the user; the others have one that nobody knows.
bool is_given(const std::string &name) { return name.find('$') == std::string::npos; }

// Inputs go by the names that the user gives them, which no other part of the pipeline may have.
void check_names(const Reach &reach) {
  std::map<std::string, std::string> given;
  auto add = [&](const char *kind, const std::string &name) {
    if (!is_given(name)) return;
    const auto [other, is_new] = given.emplace(name, kind);
    if (is_new) return;
    user_error(
        other->second + " '" + name + "' and " + (other->second == kind ? "another " : "") + kind +
            " '" + name + "' are in one pipeline",
        "whoever calls it knows its inputs by their names",
        "rename one of them; a Func gets another name by itself where it is made after them");
  };
  for (const ParamPtr &p : reach.params) {
    if (!p->constant) add(p->is_buffer ? "ImageParam" : "Param", p->name);
  }
  for (const auto &b : reach.images) add("Buffer", b->name);
  for (const FuncPtr &f : reach.funcs) add("Func", f->name);
}

// Rewrites one stage's expressions to pipeline-unique names.
class Rename : public ExprRewriter {
 public:
  Rename(const Names &names, StageNames *stage) : names_(names), stage_(stage) {}

  Expr optional(const Expr &e) { return e.defined() ? (*this)(e) : e; }

 protected:
  Expr rewrite(const Expr &e) override {
    if (const VariableNode *v = as_variable(e)) return variable(*v);
    const CallNode *c = as_call(e);
    if (!c) return rewrite_children(e);
    auto copy = std::make_shared<CallNode>(static_cast<const CallNode &>(*rewrite_children(e)));
    if (c->kind == CallKind::Func) {
      const FunctionContents *f = c->func ? c->func.get() : names_.by_process_name.at(c->name);
      copy->name = names_.funcs.at(f);
      copy->func = nullptr;
    } else if (c->param) {
      copy->param = names_.params.at(c->param.get());
      copy->name = copy->param->name;
    } else if (c->image) {
      copy->image = names_.images.at(c->image.get());
      copy->name = copy->image->name;
    }
    return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
  }

 private:
  Expr variable(const VariableNode &v) {
    auto copy = std::make_shared<VariableNode>(v);
    copy->domain = nullptr;
    switch (v.kind) {
      case VariableKind::Pure:
      case VariableKind::Reduction:
        if (stage_) copy->name = (*stage_)(v.name);
        break;
      case VariableKind::Param:
      case VariableKind::BufferField: {
        std::string name = v.name;
        if (v.param && v.param->is_output && !names_.params.count(v.param.get())) {
          user_error("the shape of '" + plain_name(v.param->name) + "' as an output is used",
                     "it is no output of this pipeline", "use the shape of one of its outputs");
        }
        if (v.param) {
          copy->param = names_.params.at(v.param.get());
          name = copy->param->name;
        } else if (v.image) {
          copy->image = names_.images.at(v.image.get());
          name = copy->image->name;
        }
        // "NAME.min.0" keeps what follows NAME, which has no dot.
        const size_t dot = v.name.find('.');
        if (v.kind == VariableKind::BufferField && dot != std::string::npos) {
          name += v.name.substr(dot);
        }
        copy->name = name;
        break;
      }
      case VariableKind::Symbol:
      case VariableKind::Loop:
        break;
    }
    return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
  }

  const Names &names_;
  StageNames *stage_;
};

ParamPtr copy_parameter(const ParameterContents &p, NameScope *scope) {
  auto copy = std::make_shared<ParameterContents>(p);
  copy->name = scope->fresh(p.name);
  return copy;
}

// The same elements under a pipeline-unique name.
std::shared_ptr<BufferContents> copy_image(const BufferContents &b, NameScope *scope) {
  auto copy = std::make_shared<BufferContents>(b);
  copy->name = scope->fresh(b.name);
  return copy;
}

void rename_constraints(ParameterContents *p, const Names &names) {
  Rename rename(names, nullptr);
  p->min_value = rename.optional(p->min_value);
  p->max_value = rename.optional(p->max_value);
  p->estimate = rename.optional(p->estimate);
  for (ParameterContents::DimConstraint &d : p->dims) {
    for (Expr *e : {&d.min, &d.extent, &d.stride, &d.min_estimate, &d.extent_estimate}) {
      *e = rename.optional(*e);
    }
  }
  disown_itself(*p);
}

StageDef freeze_stage(const FunctionContents &f, int stage, const Names &names,
                      StageNames *stage_names) {
  const Definition &d = f.stage(stage);
  // The arguments' names come first, so that they keep the user's where loops share them.
  for (const std::string &a : f.pure_args) (*stage_names)(a);
  if (d.domain) {
    for (const ReductionVariable &v : d.domain->vars) (*stage_names)(v.var);
  }
  Rename rename(names, stage_names);
  StageDef s;
  for (const Expr &e : d.args) s.args.push_back(rename(e));
  for (const Expr &e : d.values) s.values.push_back(rename(e));
  if (d.domain) {
    for (const ReductionVariable &v : d.domain->vars) {
      s.rvars.push_back({(*stage_names)(v.var), rename(v.min), rename(v.extent)});
    }
    s.predicate = rename.optional(d.domain->predicate);
  }
  s.where = d.where;
  return s;
}

// Which Funcs a stage's values depend on, directly or through others.
bool stage_uses(const FunctionContents &consumer, int stage, const FunctionContents *producer) {
  std::unordered_set<const FunctionContents *> seen;
  bool found = false;
  std::function<void(const FunctionContents &)> visit_func;
  auto visit_stage = [&](const Definition &d) {
    auto visit_expr = [&](const Expr &e) {
      if (!e.defined()) return;
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (!c || !c->func) return;
        found = found || c->func.get() == producer;
        if (seen.insert(c->func.get()).second) visit_func(*c->func);
      });
    };
    for (const Expr &e : d.args) visit_expr(e);
    for (const Expr &e : d.values) visit_expr(e);
    if (d.domain) visit_expr(d.domain->predicate);
  };
  visit_func = [&](const FunctionContents &f) {
    visit_stage(*f.pure);
    for (const Definition &d : f.updates) visit_stage(d);
  };
  visit_stage(consumer.stage(stage));
  return found;
}

// Are there ever loops of this name in the stage?
bool stage_has_loop(const FunctionContents &f, int stage, const std::string &loop) {
  const Definition &d = f.stage(stage);
  for (size_t i = 0; i < f.pure_args.size(); i++) {
    const VariableNode *v = as_variable(d.args[i]);
    if (f.pure_args[i] == loop && v && v->kind == VariableKind::Pure) return true;
  }
  if (d.domain) {
    for (const ReductionVariable &v : d.domain->vars) {
      if (v.var == loop) return true;
    }
  }
  for (const Directive &s : f.directives) {
    if (s.stage != stage) continue;
    const bool makes =
        (s.kind == DirectiveKind::Split && (s.loops[1] == loop || s.loops[2] == loop)) ||
        ((s.kind == DirectiveKind::Fuse || s.kind == DirectiveKind::Skew) && s.loops[2] == loop) ||
        (s.kind == DirectiveKind::Rename && s.loops[1] == loop);
    if (makes) return true;
  }
  return false;
}

// The stage of `target` that compute_at(target, loop) means: the first that has the loop and uses
// the producer, else the first that has the loop, else the pure definition.
int resolve_stage(const FunctionContents &target, const std::string &loop,
                  const FunctionContents *producer) {
  const int stages = static_cast<int>(target.updates.size()) + 1;
  int first = -1;
  for (int s = 0; s < stages; s++) {
    if (!stage_has_loop(target, s, loop)) continue;
    if (first < 0) first = s;
    if (stage_uses(target, s, producer)) return s;
  }
  return std::max(first, 0);
}

// The name in the pipeline of what a prefetch asks for.
std::string prefetched(const Directive &d, const Names &names) {
  if (d.target_image) {
    const auto image = names.params.find(d.target_image.get());
    if (image != names.params.end()) return image->second->name;
  } else {
    const auto func = names.by_process_name.find(d.target_func);
    if (func != names.by_process_name.end()) return names.funcs.at(func->second);
  }
  const std::string target = plain_name(d.target_image ? d.target_image->name : d.target_func);
  user_error("cannot prefetch '" + target + "' in '" + d.func + "'",
             "'" + target + "' is not part of this pipeline",
             "name a Func or an image that '" + d.func + "' reads", d.where);
}

using AllStageNames = std::map<std::pair<std::string, int>, StageNames>;  // by process name

// The stages that the directive makes share names of loops with those that it makes them of.
void share_names(const Directive &d, const std::string &makes, const Reach &reach,
                 AllStageNames &names) {
  const auto made = std::find_if(reach.made.begin(), reach.made.end(),
                                 [&](const FuncPtr &f) { return f->name == makes; });
  if (made == reach.made.end() || reach.has(*made)) return;
  const FunctionContents &f = **made;
  for (int s = 0; s <= static_cast<int>(f.updates.size()); s++) {
    const bool of_update = d.kind == DirectiveKind::Rfactor || d.kind == DirectiveKind::Scan ||
                           d.kind == DirectiveKind::HoistInvariants;
    const int like = of_update && s > 0 ? d.stage : s;
    StageNames &scope = names[{f.name, s}];
    scope = names[{d.func, like}];
    for (const std::string &a : f.pure_args) scope(a);
  }
}

// Consumers that the pipeline does not have need no wrapper; false where none is left.
bool keep_consumers(Directive *d, const Names &names) {
  if (d->consumers.empty()) return true;
  std::vector<std::string> kept;
  for (const std::string &c : d->consumers) {
    const auto it = names.by_process_name.find(c);
    if (it != names.by_process_name.end()) kept.push_back(names.funcs.at(it->second));
  }
  d->consumers = std::move(kept);
  return !d->consumers.empty();
}

// What the directive names of the pipeline; false where it named something, and none of it is
// there.
bool rename_funcs(Directive *d, const Names &names) {
  if (d->funcs.empty() && d->images.empty()) return true;
  std::vector<std::string> kept;
  for (const std::string &f : d->funcs) {
    const auto it = names.by_process_name.find(f);
    if (it != names.by_process_name.end()) kept.push_back(names.funcs.at(it->second));
  }
  for (const ParamPtr &p : d->images) {
    const auto it = names.params.find(p.get());
    if (it != names.params.end()) kept.push_back(it->second->name);
  }
  d->images.clear();
  d->funcs = std::move(kept);
  return !d->funcs.empty();
}

void rename_level(Directive *d, const Names &names, AllStageNames &stage_names) {
  const FunctionContents *f = names.by_process_name.at(d->func);
  const auto target = names.by_process_name.find(d->target_func);
  if (target == names.by_process_name.end()) {
    user_error(std::string("cannot ") + directive_name(d->kind) + " '" +
                   plain_name(d->target_func) + "' for '" + names.funcs.at(f) + "'",
               quoted_name(d->target_func) + " is not part of this pipeline",
               "name a consumer of '" + names.funcs.at(f) + "'", d->where);
  }
  const FunctionContents &t = *target->second;
  const int stages = static_cast<int>(t.updates.size()) + 1;
  if (d->target_stage < 0) d->target_stage = resolve_stage(t, d->loops[0], f);
  d->loops[0] = d->target_stage < stages ? stage_names[{t.name, d->target_stage}](d->loops[0])
                                         : plain_name(d->loops[0]);
  for (size_t i = 1; i < d->loops.size(); i++) {
    d->loops[i] = stage_names[{f->name, d->stage}](d->loops[i]);
  }
  d->target_func = names.funcs.at(&t);
}

// What a frozen pipeline is for.
enum class Purpose {
  Compile,
  Ask,     // nothing is settled
  Derive,  // nor need LoopLevels have places
};

struct Pending {
  Directive d;
  const ParameterContents *image = nullptr;  // whose directive it is, or null: a Func's
};

std::vector<Pending> collect_directives(const Reach &reach) {
  std::vector<Pending> list;
  auto take = [&](const std::vector<Directive> &from, const ParameterContents *image) {
    for (const Directive &d : from) list.push_back({d, image});
  };
  for (const ParamPtr &p : reach.params) take(p->directives, p.get());
  for (const FuncPtr &f : reach.funcs) take(f->directives, nullptr);
  for (const FuncPtr &f : reach.made) {
    if (!reach.has(f)) take(f->directives, nullptr);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Pending &a, const Pending &b) { return a.d.order < b.d.order; });
  return list;
}

// Directives on Funcs that this pipeline has no use for are left out.
std::vector<Pending> needed_directives(const Reach &reach, const Names &names, Purpose purpose) {
  std::vector<Pending> result;
  std::set<std::string> unmade;  // process names
  for (Pending &p : collect_directives(reach)) {
    Directive &d = p.d;
    if (!p.image && unmade.count(d.func)) {
      if (!d.makes.empty()) unmade.insert(d.makes);
      unmade.insert(d.makes_more.begin(), d.makes_more.end());
      continue;
    }
    const bool levels = purpose != Purpose::Derive;
    if (!levels && d.kind == DirectiveKind::Prefetch) continue;
    if (levels && d.level && !bind_level(&d, purpose == Purpose::Compile)) continue;
    if (!rename_funcs(&d, names)) continue;
    if (!keep_consumers(&d, names)) {
      if (!reach.has(names.by_process_name.at(d.makes))) unmade.insert(d.makes);
      continue;
    }
    result.push_back(std::move(p));
  }
  return result;
}

std::vector<Directive> freeze_directives(const Reach &reach, const Names &names,
                                         AllStageNames &stage_names, Purpose purpose) {
  std::vector<Pending> list = needed_directives(reach, names, purpose);
  // Loops get their names in the order of the directives that make them, before any reference from
  // another Func's compute_at.
  for (Pending &p : list) {
    Directive &d = p.d;
    if (!p.image && !d.makes.empty()) share_names(d, d.makes, reach, stage_names);
    for (const std::string &makes : d.makes_more) share_names(d, makes, reach, stage_names);
    if (names_level(d.kind)) continue;
    for (size_t i = 0; i < d.loops.size(); i++) {
      const bool is_new =
          (d.kind == DirectiveKind::Rfactor || d.kind == DirectiveKind::Scan) && i % 2 == 1;
      d.loops[i] = is_new ? stage_names[{d.makes, 1}](d.loops[i])
                          : stage_names[{d.func, d.stage}](d.loops[i]);
    }
  }
  std::vector<Directive> result;
  for (Pending &p : list) {
    Directive &d = p.d;
    Rename rename(names, nullptr);
    for (Expr &e : d.factors) e = rename(e);
    for (Expr &e : d.branch) e = rename(e);
    if (names_level(d.kind) && purpose != Purpose::Derive) rename_level(&d, names, stage_names);
    d.func = p.image ? names.params.at(p.image)->name : names.of_func(d.func);
    if (d.kind == DirectiveKind::Prefetch) d.target_func = prefetched(d, names);
    if (!d.makes.empty()) d.makes = names.of_func(d.makes);
    for (std::string &makes : d.makes_more) makes = names.of_func(makes);
    result.push_back(std::move(d));
  }
  return result;
}

}  // namespace

void check_arguments(const FrozenPipeline &pipeline, const std::vector<ParamPtr> &declared) {
  auto described = [](const ParameterContents &p) {
    return std::string(p.is_buffer ? "ImageParam" : "Param") + " '" + plain_name(p.name) + "'";
  };
  std::unordered_set<const ParameterContents *> known;
  for (const ParamPtr &p : declared) {
    if (known.insert(p.get()).second) continue;
    user_error(described(*p) + " is listed twice among the arguments",
               "each input is one argument of the compiled function", "list it once");
  }
  for (const ParamPtr &p : pipeline.bindings) {
    if (known.count(p.get())) continue;
    user_error("the pipeline uses " + described(*p) + ", which is no argument",
               "the caller of the compiled function could not pass it",
               "add it to the list of arguments, or in a generator make it an Input");
  }
}

namespace {

FrozenPipeline freeze(
    const std::vector<FuncPtr> &outputs, const std::vector<ParamPtr> &declared_inputs,
    const std::vector<Expr> &requirements, Purpose purpose,
    std::unordered_map<const FunctionContents *, std::string> *func_names = nullptr) {
  Reach reach;
  for (const ParamPtr &p : declared_inputs) reach.parameter(p);
  for (const FuncPtr &f : outputs) reach.output(f);
  for (const Expr &e : requirements) reach.requirement(e);
  if (purpose != Purpose::Derive) check_names(reach);

  // Declared inputs and outputs are named by whoever calls the compiled function, so they come
  // first.
  Names names;
  NameScope scope;
  FrozenPipeline result;
  for (const ParamPtr &p : declared_inputs) {
    if (!names.params.count(p.get())) names.params[p.get()] = copy_parameter(*p, &scope);
  }
  auto name_func = [&](const FuncPtr &f) {
    if (names.funcs.count(f.get())) return;
    names.funcs[f.get()] = scope.fresh(f->name);
    names.by_process_name[f->name] = f.get();
  };
  // A name that the user gave is not lost to a Func without one.
  auto name_those = [&](const std::vector<FuncPtr> &funcs, bool named) {
    for (const FuncPtr &f : funcs) {
      if (f->is_named == named) name_func(f);
    }
  };
  name_those(outputs, true);
  for (const ParamPtr &p : reach.params) {
    if (!names.params.count(p.get())) names.params[p.get()] = copy_parameter(*p, &scope);
  }
  for (const bool named : {true, false}) {
    name_those(outputs, named);
    name_those(reach.funcs, named);
    name_those(reach.made, named);
  }
  for (const auto &b : reach.images) {
    if (b->raw().flags & polyhalite_buffer_flag_device_dirty) {
      user_error("the Buffer '" + b->name + "' has newer values on a device",
                 "code is made for the processor, which reads the host's copy",
                 "call copy_to_host() first");
    }
    names.images[b.get()] = copy_image(*b, &scope);
  }
  for (const FuncPtr &f : outputs) {
    for (size_t i = 0; i < f->output_params.size(); i++) {
      const ParamPtr &p = f->output_params[i];
      for (const ParameterContents::DimConstraint &d : p->dims) {
        if (i == 0 || (!d.min.defined() && !d.extent.defined())) continue;
        user_error("the min or extent of value " + std::to_string(i) + " of output '" +
                       plain_name(f->name) + "' is fixed",
                   "the buffers of all values have the bounds of the first",
                   "fix those of output_buffers()[0]", f->where);
      }
      names.params[p.get()] = std::make_shared<ParameterContents>(*p);
      names.params[p.get()]->name =
          names.funcs[f.get()] + (f->types.size() > 1 ? "." + std::to_string(i) : "");
    }
  }

  for (const ParamPtr &p : reach.params) {
    rename_constraints(names.params[p.get()].get(), names);
    result.algorithm.inputs.push_back({names.params[p.get()]});
    result.bindings.push_back(p);
  }

  AllStageNames stage_names;
  for (const FuncPtr &f : reach.funcs) {
    FuncDef def;
    def.name = names.funcs[f.get()];
    def.types = f->types;
    def.where = f->where;
    const int stages = static_cast<int>(f->updates.size()) + 1;
    for (int s = 0; s < stages; s++) {
      def.stages.push_back(freeze_stage(*f, s, names, &stage_names[{f->name, s}]));
    }
    for (const std::string &a : f->pure_args) def.args.push_back(stage_names[{f->name, 0}](a));
    def.estimates = constant_estimates(f->estimates);
    result.algorithm.funcs.push_back(std::move(def));
    result.functions.push_back(f);
  }
  for (const FuncPtr &f : outputs) {
    result.algorithm.outputs.push_back(names.funcs[f.get()]);
    for (const ParamPtr &p : f->output_params) {
      rename_constraints(names.params[p.get()].get(), names);
      result.algorithm.output_buffers.push_back(names.params[p.get()]);
    }
    if (purpose == Purpose::Compile) f->frozen = true;
  }

  for (const Expr &e : requirements) {
    result.algorithm.requirements.push_back(Rename(names, nullptr)(e));
  }

  for (const FuncPtr &f : reach.made) {
    if (!reach.has(f)) result.made.push_back(f);
  }
  result.directives = freeze_directives(reach, names, stage_names, purpose);
  if (func_names) *func_names = std::move(names.funcs);
  return result;
}

}  // namespace

FrozenPipeline freeze(const std::vector<FuncPtr> &outputs,
                      const std::vector<ParamPtr> &declared_inputs,
                      const std::vector<Expr> &requirements) {
  return freeze(outputs, declared_inputs, requirements, Purpose::Compile);
}

AskedPipeline freeze_to_ask(const std::vector<FuncPtr> &outputs,
                            const std::vector<Expr> &requirements) {
  AskedPipeline asked;
  asked.pipeline = freeze(outputs, {}, requirements, Purpose::Ask, &asked.names);
  return asked;
}

FrozenPipeline freeze_so_far(const FuncPtr &output) {
  return freeze({output}, {}, {}, Purpose::Derive);
}

}  // namespace polyhalite
