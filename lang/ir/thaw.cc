#include "lang/ir/thaw.h"

#include <algorithm>
#include <utility>

#include "lang/ir/unowned.h"
#include "lang/ir/visit.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "polyhalite/backend.h"
#include "polyhalite/param.h"

namespace polyhalite {

namespace {

using FuncPtr = std::shared_ptr<FunctionContents>;
using ParamPtr = std::shared_ptr<ParameterContents>;

struct Thawed {
  std::map<std::string, FuncPtr> funcs;  // by pipeline-unique name
  std::map<std::string, ParamPtr> params;
};

// Rewrites one stage's expressions to what this process calls things.
class Renew : public ExprRewriter {
 public:
  /// `own` is the Func whose definition this is: it does not own itself. What directives make is
  /// owned by what they make it of, and so `owns` nothing.
  Renew(const Thawed &thawed, const FunctionContents *own,
        std::shared_ptr<const ReductionDomain> domain, bool owns = true)
      : thawed_(thawed), own_(own), domain_(std::move(domain)), owns_(owns) {}

  Expr optional(const Expr &e) { return e.defined() ? (*this)(e) : e; }

 protected:
  Expr rewrite(const Expr &e) override {
    if (const VariableNode *v = as_variable(e)) {
      auto copy = std::make_shared<VariableNode>(*v);
      if (v->kind == VariableKind::Reduction) copy->domain = domain_;
      if (v->param) {
        copy->param = thawed_.params.at(v->param->name);
        // "NAME.min.0" keeps what follows NAME.
        copy->name = copy->param->name + v->name.substr(v->param->name.size());
      }
      return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
    }
    const CallNode *c = as_call(e);
    if (!c) return rewrite_children(e);
    auto copy = std::make_shared<CallNode>(static_cast<const CallNode &>(*rewrite_children(e)));
    if (c->kind == CallKind::Func) {
      const FuncPtr &f = thawed_.funcs.at(c->name);
      copy->name = f->name;
      copy->func = f.get() == own_ ? nullptr : owns_ ? f : FuncPtr(FuncPtr(), f.get());
    } else if (c->param) {
      copy->param = thawed_.params.at(c->param->name);
      copy->name = copy->param->name;
    }
    return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
  }

 private:
  const Thawed &thawed_;
  const FunctionContents *own_;
  std::shared_ptr<const ReductionDomain> domain_;
  const bool owns_;
};

void check_fits(const ParameterContents &given, const ParameterContents &wanted) {
  const std::string what = "the input given for '" + wanted.name + "'";
  auto kind = [](const ParameterContents &p) { return p.is_buffer ? "an image" : "a scalar"; };
  if (given.is_buffer != wanted.is_buffer) {
    user_error(what + " is " + kind(given), std::string("the pipeline takes ") + kind(wanted),
               "give one of that kind");
  }
  if (given.type != wanted.type) {
    user_error(what + " has type " + given.type.to_string(),
               "the pipeline takes " + wanted.type.to_string(), "give one of that type");
  }
  if (given.dimensions != wanted.dimensions) {
    user_error(what + " has " + std::to_string(given.dimensions) + " dimensions",
               "the pipeline takes " + std::to_string(wanted.dimensions),
               "give one of that many dimensions");
  }
}

void renew_limits(ParameterContents *p, const Thawed &thawed) {
  Renew renew(thawed, nullptr, nullptr);
  for (Expr *e : {&p->min_value, &p->max_value, &p->estimate, &p->default_value}) {
    *e = renew.optional(*e);
  }
  for (ParameterContents::DimConstraint &d : p->dims) {
    for (Expr *e : {&d.min, &d.extent, &d.stride, &d.min_estimate, &d.extent_estimate}) {
      *e = renew.optional(*e);
    }
  }
  disown_itself(*p);
}

Definition thaw_stage(const StageDef &s, const Thawed &thawed, const FunctionContents *own,
                      bool owns = true) {
  Definition d;
  std::shared_ptr<ReductionDomain> domain;
  if (!s.rvars.empty() || s.predicate.defined()) {
    domain = std::make_shared<ReductionDomain>();
    Renew bounds(thawed, own, nullptr, owns);
    for (const ReductionVariable &v : s.rvars) {
      domain->vars.push_back({v.var, bounds(v.min), bounds(v.extent)});
    }
    // A predicate's variables are of the domain that holds it: they name it without owning it.
    domain->predicate = bounds.optional(s.predicate);
  }
  Renew renew(thawed, own, domain, owns);
  for (const Expr &e : s.args) d.args.push_back(renew(e));
  for (const Expr &e : s.values) d.values.push_back(renew(e));
  d.domain = domain;
  d.where = s.where;
  return d;
}

// The constraints on the buffers of an output, one parameter for each value.
std::vector<ParamPtr> thaw_output_buffers(const Algorithm &algorithm, const FuncDef &def,
                                          const Thawed &thawed) {
  std::vector<ParamPtr> list(def.types.size());
  bool any = false;
  for (size_t i = 0; i < list.size(); i++) {
    for (const ParamPtr &constrained : algorithm.output_buffers) {
      if (constrained->name != def.buffer_name(static_cast<int>(i))) continue;
      list[i] = std::make_shared<ParameterContents>(*constrained);
      renew_limits(list[i].get(), thawed);
      any = true;
    }
  }
  if (!any) return {};
  // All values have one, once one has.
  for (size_t i = 0; i < list.size(); i++) {
    if (list[i]) continue;
    list[i] = ImageParam(def.types[i], def.dimensions(), def.buffer_name(static_cast<int>(i)))
                  .parameter()
                  .contents();
  }
  return list;
}

void add_stages(FunctionContents *f, const FuncDef &def, const Thawed &thawed, bool owns) {
  for (int s = 0; s < def.num_definitions(); s++) {
    Definition d = thaw_stage(def.stages[static_cast<size_t>(s)], thawed, f, owns);
    if (s == 0) {
      f->pure = std::move(d);
    } else {
      f->updates.push_back(std::move(d));
    }
  }
}

FuncPtr new_func(const FuncDef &def) {
  auto f = std::make_shared<FunctionContents>();
  f->name = unique_name(plain_name(def.name));
  f->is_named = def.name == plain_name(def.name);  // of several of one name it keeps its own
  f->pure_args = def.args;
  f->types = def.types;
  f->where = def.where;
  f->estimates = def.estimates;
  return f;
}

std::vector<std::string> names_of(const std::vector<std::string> &names, const Thawed &thawed) {
  std::vector<std::string> result;
  for (const std::string &n : names) {
    const auto f = thawed.funcs.find(n);
    if (f != thawed.funcs.end()) result.push_back(f->second->name);
  }
  return result;
}

// Funcs that directives make belong to what they make them of.
void add_made(const FrozenPipeline &pipeline, Thawed &thawed) {
  const bool any = std::any_of(pipeline.directives.begin(), pipeline.directives.end(),
                               [](const Directive &d) { return makes_func(d.kind); });
  if (!any) return;
  const FrozenPipeline derived = backend().derive(pipeline);
  std::vector<std::pair<FuncPtr, const FuncDef *>> fresh;
  for (const Directive &d : pipeline.directives) {
    if (!makes_func(d.kind)) continue;
    std::vector<std::string> names = {d.makes};
    names.insert(names.end(), d.makes_more.begin(), d.makes_more.end());
    const auto owner = thawed.funcs.find(d.func);
    const auto image = thawed.params.find(d.func);
    for (const std::string &name : names) {
      const FuncDef &def = *derived.algorithm.find(name);
      FuncPtr &made = thawed.funcs[name];
      if (!made) {
        made = new_func(def);
        made->frozen = true;
        fresh.emplace_back(made, &def);
      }
      auto &list = owner != thawed.funcs.end() ? owner->second->derived : image->second->derived;
      list.push_back({d.kind, names_of(d.consumers, thawed), made});
      if (d.kind == DirectiveKind::In || d.kind == DirectiveKind::CloneIn) continue;
      made->is_partial = true;
      made->made_of = owner->second.get();
    }
  }
  for (const auto &[f, def] : fresh) add_stages(f.get(), *def, thawed, false);
}

// As the program would have recorded it.
void thaw_directive(Directive d, const Thawed &thawed) {
  const auto func = thawed.funcs.find(d.func);
  const auto image = thawed.params.find(d.func);
  if (func == thawed.funcs.end() && (image == thawed.params.end() || d.makes.empty())) {
    user_error("a directive of '" + d.func + "'", "the algorithm has no such Func",
               "name one of its Funcs", d.where);
  }
  Renew renew(thawed, func == thawed.funcs.end() ? nullptr : func->second.get(), nullptr);
  for (Expr &e : d.factors) e = renew(e);
  for (Expr &e : d.branch) e = renew(e);
  const auto target = thawed.funcs.find(d.target_func);
  if (target != thawed.funcs.end()) {
    d.target_func = target->second->name;
  } else if (const auto p = thawed.params.find(d.target_func); p != thawed.params.end()) {
    d.target_image = p->second;
  }
  for (const std::string &f : d.funcs) {
    const auto p = thawed.params.find(f);
    if (p != thawed.params.end()) d.images.push_back(p->second);
  }
  d.funcs = names_of(d.funcs, thawed);
  d.consumers = names_of(d.consumers, thawed);
  if (!d.makes.empty()) d.makes = thawed.funcs.at(d.makes)->name;
  for (std::string &m : d.makes_more) m = thawed.funcs.at(m)->name;
  d.order = stamped(d.func, d.stage, d.kind, {}, {}, d.where).order;
  if (func == thawed.funcs.end()) {
    d.func = image->second->name;
    image->second->directives.push_back(std::move(d));
  } else {
    d.func = func->second->name;
    func->second->directives.push_back(std::move(d));
  }
}

}  // namespace

ThawedPipeline thaw(const FrozenPipeline &pipeline, const std::map<std::string, ParamPtr> &inputs) {
  Thawed thawed;
  std::vector<ParamPtr> fresh;
  for (const AlgorithmInput &i : pipeline.algorithm.inputs) {
    reserve_name(i.param->name);
    const auto given = inputs.find(i.param->name);
    if (given != inputs.end() && given->second) {
      check_fits(*given->second, *i.param);
      thawed.params[i.param->name] = given->second;
    } else {
      fresh.push_back(std::make_shared<ParameterContents>(*i.param));
      thawed.params[i.param->name] = fresh.back();
    }
  }
  for (const ParamPtr &p : fresh) renew_limits(p.get(), thawed);

  // Producers stand before consumers.
  for (const FuncDef &def : pipeline.algorithm.funcs) {
    const FuncPtr f = thawed.funcs[def.name] = new_func(def);
    add_stages(f.get(), def, thawed, true);
  }
  add_made(pipeline, thawed);
  for (const Directive &d : pipeline.directives) thaw_directive(d, thawed);
  ThawedPipeline result;
  for (const std::string &name : pipeline.algorithm.outputs) {
    const auto at = thawed.funcs.find(name);
    if (at == thawed.funcs.end()) {
      user_error("the output '" + name + "' is undefined", "the algorithm does not define it",
                 "name one of its Funcs");
    }
    at->second->output_params =
        thaw_output_buffers(pipeline.algorithm, *pipeline.algorithm.find(name), thawed);
    result.outputs.push_back(at->second);
  }
  Renew renew(thawed, nullptr, nullptr);
  for (const Expr &e : pipeline.algorithm.requirements) result.requirements.push_back(renew(e));
  return result;
}

}  // namespace polyhalite
