#include "lang/ir/thaw.h"

#include "lang/ir/unowned.h"
#include "lang/ir/visit.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
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
  /// `own` is the Func whose definition this is: it does not own itself.
  Renew(const Thawed &thawed, const FunctionContents *own,
        std::shared_ptr<const ReductionDomain> domain)
      : thawed_(thawed), own_(own), domain_(std::move(domain)) {}

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
      copy->func = f.get() == own_ ? nullptr : f;
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

Definition thaw_stage(const StageDef &s, const Thawed &thawed, const FunctionContents *own) {
  Definition d;
  std::shared_ptr<ReductionDomain> domain;
  if (!s.rvars.empty() || s.predicate.defined()) {
    domain = std::make_shared<ReductionDomain>();
    Renew bounds(thawed, own, nullptr);
    for (const ReductionVariable &v : s.rvars) {
      domain->vars.push_back({v.var, bounds(v.min), bounds(v.extent)});
    }
    // A predicate's variables are of the domain that holds it: they name it without owning it.
    domain->predicate = bounds.optional(s.predicate);
  }
  Renew renew(thawed, own, domain);
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

}  // namespace

ThawedPipeline thaw(const FrozenPipeline &pipeline,
                    const std::map<std::string, ParamPtr> &inputs) {
  Thawed thawed;
  std::vector<ParamPtr> fresh;
  for (const AlgorithmInput &i : pipeline.algorithm.inputs) {
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
    auto f = std::make_shared<FunctionContents>();
    f->name = unique_name(plain_name(def.name));
    f->pure_args = def.args;
    f->types = def.types;
    f->where = def.where;
    thawed.funcs[def.name] = f;
    for (size_t s = 0; s < def.stages.size(); s++) {
      Definition d = thaw_stage(def.stages[s], thawed, f.get());
      if (s == 0) {
        f->pure = std::move(d);
      } else {
        f->updates.push_back(std::move(d));
      }
    }
  }
  for (Directive d : pipeline.directives) {
    const auto at = thawed.funcs.find(d.func);
    if (at == thawed.funcs.end()) {
      user_error("a directive of '" + d.func + "'", "the algorithm has no such Func",
                 "name one of its Funcs", d.where);
    }
    Renew renew(thawed, at->second.get(), nullptr);
    for (Expr &e : d.factors) e = renew(e);
    const auto target = thawed.funcs.find(d.target_func);
    if (target != thawed.funcs.end()) d.target_func = target->second->name;
    d.func = at->second->name;
    Directive &place =
        record(*at->second, d.stage, d.kind, d.loops, d.factors, d.where, d.tail);
    d.order = place.order;
    place = std::move(d);
  }
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
