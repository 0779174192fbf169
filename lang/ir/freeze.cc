#include "lang/ir/freeze.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "polyhalite/buffer_contents.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/loop_level.h"
#include "lang/language/names.h"

namespace polyhalite {

namespace {

using FuncPtr = std::shared_ptr<FunctionContents>;
using ParamPtr = std::shared_ptr<Parameter>;

// Everything reachable from the outputs, each list in order of first meeting.
class Reach {
 public:
  void output(const FuncPtr &f) {
    if (!f->pure) {
      user_error("output '" + plain_name(f->name) + "' is undefined", "it has no values to compute",
                 "define it first, as in f(x, y) = ...", f->where);
    }
    visit(f);
    for (const ParamPtr &p : f->output_params) constraints(*p);
  }

  void parameter(const ParamPtr &p) {
    if (p->is_output || !seen_params_.insert(p.get()).second) return;
    params.push_back(p);
    constraints(*p);
  }

  void constraints(const Parameter &parameter) {
    const Parameter *p = &parameter;
    for (const Expr &e : {p->min_value, p->max_value}) expr(e);
    for (const Parameter::DimConstraint &d : p->dims) {
      for (const Expr &e : {d.min, d.extent, d.stride}) expr(e);
    }
  }

  std::vector<FuncPtr> funcs;  // producers before consumers
  std::vector<ParamPtr> params;
  std::vector<std::shared_ptr<BufferContents>> images;

 private:
  void visit(const FuncPtr &f) {
    if (!seen_funcs_.insert(f.get()).second) return;
    stage(*f->pure);
    for (const Definition &d : f->updates) stage(d);
    for (const Directive &d : f->directives) {
      for (const Expr &e : d.factors) expr(e);
    }
    funcs.push_back(f);
  }

  void stage(const Definition &d) {
    for (const Expr &e : d.args) expr(e);
    for (const Expr &e : d.values) expr(e);
    if (!d.domain) return;
    for (const ReductionVariable &v : d.domain->vars) {
      expr(v.min);
      expr(v.extent);
    }
    expr(d.domain->predicate);
  }

  void expr(const Expr &e) {
    if (!e.defined()) return;
    for_each_node(e, [&](const Expr &n) {
      if (const CallNode *c = as_call(n)) {
        if (c->func) visit(c->func);
        if (c->param) parameter(c->param);
        if (c->image) image(c->image);
      } else if (const VariableNode *v = as_variable(n)) {
        if (v->param) parameter(v->param);
        if (v->image) image(v->image);
      }
    });
  }

  void image(const std::shared_ptr<BufferContents> &b) {
    if (seen_images_.insert(b.get()).second) images.push_back(b);
  }

  std::unordered_set<const FunctionContents *> seen_funcs_;
  std::unordered_set<const Parameter *> seen_params_;
  std::unordered_set<const BufferContents *> seen_images_;
};

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
  std::unordered_map<const Parameter *, ParamPtr> params;
  std::unordered_map<const BufferContents *, std::shared_ptr<BufferContents>> images;
};

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

ParamPtr copy_parameter(const Parameter &p, NameScope *scope) {
  auto copy = std::make_shared<Parameter>(p);
  copy->name = scope->fresh(p.name);
  return copy;
}

// The same elements under a pipeline-unique name.
std::shared_ptr<BufferContents> copy_image(const BufferContents &b, NameScope *scope) {
  auto copy = std::make_shared<BufferContents>(b);
  copy->name = scope->fresh(b.name);
  return copy;
}

void rename_constraints(Parameter *p, const Names &names) {
  Rename rename(names, nullptr);
  p->min_value = rename.optional(p->min_value);
  p->max_value = rename.optional(p->max_value);
  p->estimate = rename.optional(p->estimate);
  for (Parameter::DimConstraint &d : p->dims) {
    for (Expr *e : {&d.min, &d.extent, &d.stride, &d.min_estimate, &d.extent_estimate}) {
      *e = rename.optional(*e);
    }
  }
}

const Definition &definition(const FunctionContents &f, int stage) {
  return stage == 0 ? *f.pure : f.updates[stage - 1];
}

StageDef freeze_stage(const FunctionContents &f, int stage, const Names &names,
                      StageNames *stage_names) {
  const Definition &d = definition(f, stage);
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
  visit_stage(definition(consumer, stage));
  return found;
}

// Are there ever loops of this name in the stage?
bool stage_has_loop(const FunctionContents &f, int stage, const std::string &loop) {
  const Definition &d = definition(f, stage);
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
        (s.kind == DirectiveKind::Fuse && s.loops[2] == loop) ||
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

}  // namespace

void check_arguments(const FrozenPipeline &pipeline, const std::vector<ParamPtr> &declared) {
  auto described = [](const Parameter &p) {
    return std::string(p.is_buffer ? "ImageParam" : "Param") + " '" + plain_name(p.name) + "'";
  };
  std::unordered_set<const Parameter *> known;
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

FrozenPipeline freeze(const std::vector<FuncPtr> &outputs,
                      const std::vector<ParamPtr> &declared_inputs) {
  Reach reach;
  for (const ParamPtr &p : declared_inputs) reach.parameter(p);
  for (const FuncPtr &f : outputs) reach.output(f);

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
  for (const FuncPtr &f : outputs) name_func(f);
  for (const ParamPtr &p : reach.params) {
    if (!names.params.count(p.get())) names.params[p.get()] = copy_parameter(*p, &scope);
  }
  for (const FuncPtr &f : reach.funcs) name_func(f);
  for (const auto &b : reach.images) names.images[b.get()] = copy_image(*b, &scope);
  for (const FuncPtr &f : outputs) {
    for (size_t i = 0; i < f->output_params.size(); i++) {
      const ParamPtr &p = f->output_params[i];
      names.params[p.get()] = std::make_shared<Parameter>(*p);
      names.params[p.get()]->name =
          names.funcs[f.get()] + (f->types.size() > 1 ? "." + std::to_string(i) : "");
    }
  }

  for (const ParamPtr &p : reach.params) {
    rename_constraints(names.params[p.get()].get(), names);
    result.algorithm.inputs.push_back({names.params[p.get()]});
    result.bindings.push_back(p);
  }

  std::map<std::pair<std::string, int>, StageNames> stage_names;  // by process name
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
    result.algorithm.funcs.push_back(std::move(def));
    result.functions.push_back(f);
  }
  for (const FuncPtr &f : outputs) {
    result.algorithm.outputs.push_back(names.funcs[f.get()]);
    for (const ParamPtr &p : f->output_params) {
      rename_constraints(names.params[p.get()].get(), names);
      result.algorithm.output_buffers.push_back(names.params[p.get()]);
    }
    if (!f->frozen) f->frozen = true;
  }

  std::vector<Directive> list;
  for (const FuncPtr &f : reach.funcs) {
    for (Directive d : f->directives) {
      if (!d.level || bind_level(&d)) list.push_back(std::move(d));
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Directive &a, const Directive &b) { return a.order < b.order; });
  // Loops get their names in the order of the directives that make them, before any reference from
  // another Func's compute_at.
  auto is_level = [](const Directive &d) {
    return d.kind == DirectiveKind::ComputeAt || d.kind == DirectiveKind::StoreAt;
  };
  for (Directive &d : list) {
    if (is_level(d)) continue;
    for (std::string &loop : d.loops) loop = stage_names[{d.func, d.stage}](loop);
  }
  for (Directive &d : list) {
    const FunctionContents *f = names.by_process_name.at(d.func);
    Rename rename(names, nullptr);
    for (Expr &e : d.factors) e = rename(e);
    d.func = names.funcs.at(f);
    if (!is_level(d)) continue;
    const auto target = names.by_process_name.find(d.target_func);
    if (target == names.by_process_name.end()) {
      user_error(std::string("cannot ") + directive_name(d.kind) + " '" +
                     plain_name(d.target_func) + "' for '" + d.func + "'",
                 "'" + plain_name(d.target_func) + "' is not part of this pipeline",
                 "name a consumer of '" + d.func + "'", d.where);
    }
    const FunctionContents &t = *target->second;
    const int stages = static_cast<int>(t.updates.size()) + 1;
    if (d.target_stage < 0) d.target_stage = resolve_stage(t, d.loops[0], f);
    d.loops[0] = d.target_stage < stages ? stage_names[{t.name, d.target_stage}](d.loops[0])
                                         : plain_name(d.loops[0]);
    d.target_func = names.funcs.at(&t);
  }
  result.directives = std::move(list);
  return result;
}

}  // namespace polyhalite
