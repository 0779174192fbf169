#include "lang/ir/reach.h"

#include "lang/ir/node.h"
#include "lang/ir/unowned.h"
#include "lang/ir/visit.h"
#include "lang/language/names.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

using FuncPtr = std::shared_ptr<FunctionContents>;
using ParamPtr = std::shared_ptr<ParameterContents>;

}  // namespace

// Funcs that directives make of `owner`: part of the schedule, unless they are called as well.
template <typename Owner>
void Reach::derived(const std::shared_ptr<Owner> &owner, const std::vector<DerivedFunc> &list) {
  for (const DerivedFunc &d : list) {
    if (!seen_made_.insert(d.func.get()).second) continue;
    made.push_back(FuncPtr(owner, d.func.get()));
    directives(d.func->directives);
    derived(owner, d.func->derived);
  }
}

void Reach::output(const FuncPtr &f) {
  if (!f->pure) {
    user_error("output '" + plain_name(f->name) + "' is undefined", "it has no values to compute",
               "define it first, as in f(x, y) = ...", f->where);
  }
  visit(f);
  for (const ParamPtr &p : f->output_params) constraints(*p);
}

void Reach::parameter(const ParamPtr &p) {
  if (p->is_output || !seen_params_.insert(p.get()).second) return;
  params.push_back(p);
  constraints(*p);
  derived(p, p->derived);
}

void Reach::constraints(const ParameterContents &parameter) {
  const ParameterContents *p = &parameter;
  for (const Expr &e : {p->min_value, p->max_value}) expr(owning(*p, e));
  for (const ParameterContents::DimConstraint &d : p->dims) {
    for (const Expr &e : {d.min, d.extent, d.stride}) expr(owning(*p, e));
  }
}

void Reach::visit(const FuncPtr &f) {
  if (!seen_funcs_.insert(f.get()).second) return;
  if (f->is_partial) {
    user_error(quoted_name(f->name) + " is called, but it holds partial results of an update",
               "a directive makes it as a part of the schedule",
               "call the Func that the directive is of", f->where);
  }
  stage(*f->pure);
  for (const Definition &d : f->updates) stage(d);
  directives(f->directives);
  funcs.push_back(f);
  derived(f, f->derived);
}

void Reach::directives(const std::vector<Directive> &list) {
  for (const Directive &d : list) {
    for (const Expr &e : d.factors) expr(e);
    for (const Expr &e : d.branch) expr(e);
  }
}

void Reach::stage(const Definition &d) {
  for (const Expr &e : d.args) expr(e);
  for (const Expr &e : d.values) expr(e);
  if (!d.domain) return;
  for (const ReductionVariable &v : d.domain->vars) {
    expr(v.min);
    expr(v.extent);
  }
  expr(d.domain->predicate);
}

void Reach::expr(const Expr &e) {
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

void Reach::image(const std::shared_ptr<BufferContents> &b) {
  if (seen_images_.insert(b.get()).second) images.push_back(b);
}

}  // namespace polyhalite
