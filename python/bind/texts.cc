// Texts of expressions, definitions and schedules.
#include "codegen/driver/explain/stage_graph.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/freeze.h"
#include "lang/ir/function.h"
#include "lang/ir/visit.h"
#include "lang/language/names.h"
#include "lang/language/pipeline_contents.h"
#include "polyhalite/pipeline.h"
#include "python/bind/bind.h"
#include "python/bind/text.h"
#include "schedule/schedule_text.h"

namespace polyhalite::python {

namespace {

// f$1(x, y) -> f(y, x), r$2 -> r.
class InPythonsOrder : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const Expr inner = rewrite_children(e);
    if (const VariableNode *v = as_variable(inner)) {
      if (plain_name(v->name) == v->name) return inner;
      return make_variable(inner.type(), v->kind, plain_name(v->name));
    }
    const CallNode *call = as_call(inner);
    if (!call || (call->kind != CallKind::Func && call->kind != CallKind::Image)) return inner;
    auto turned = std::make_shared<CallNode>(*call);
    turned->name = plain_name(call->name);
    std::reverse(turned->args.begin(), turned->args.end());
    return Expr(std::shared_ptr<const ExprNode>(std::move(turned)));
  }
};

std::string list_text(const std::vector<Expr> &list) {
  std::string s;
  for (const Expr &e : list) s += (s.empty() ? "" : ", ") + python_text(e);
  return s;
}

// "f(y, x) = e", "over r(0, 3) where r < n: f(x) = e".
std::string definition_text(const FunctionContents &f, const Definition &d) {
  std::string s;
  if (d.domain) {
    for (const ReductionVariable &v : reversed(d.domain->vars)) {
      s += (s.empty() ? "over " : ", ") + plain_name(v.var) + "(" + python_text(v.min) + ", " +
           python_text(v.extent) + ")";
    }
    if (d.domain->predicate.defined()) s += " where " + python_text(d.domain->predicate);
    s += ": ";
  }
  s += plain_name(f.name) + "(" + list_text(reversed(d.args)) + ") = ";
  return s + (d.values.size() == 1 ? python_text(d.values[0]) : "{" + list_text(d.values) + "}");
}

std::vector<std::string> definitions(const Func &f) {
  std::vector<std::string> lines;
  const FunctionContents &contents = *f.function();
  if (contents.pure) lines.push_back(definition_text(contents, *contents.pure));
  for (const Definition &d : contents.updates) lines.push_back(definition_text(contents, d));
  return lines;
}

std::vector<Directive> directives_of(const py::object &pipeline) {
  const Pipeline p = to_pipeline(pipeline);
  return freeze_pipeline(*p.pipeline_contents()).directives;
}

}  // namespace

std::string python_text(const Expr &e) {
  return e.defined() ? to_text(InPythonsOrder()(e)) : "(undefined)";
}

std::string plain_name_of(const RVar &r) { return plain_name(r.name()); }

void bind_texts(py::module_ &m) {
  m.def("_definitions", [](AnyFunc f) { return definitions(f.f); });
  m.def("_graph_svg", [](const py::object &pipeline) {
    const Pipeline p = to_pipeline(pipeline);
    return graph_svg(freeze_pipeline(*p.pipeline_contents()).algorithm);
  });
  m.def("_schedule_text", [](const py::object &pipeline, const std::string &form) {
    const std::vector<Directive> list = directives_of(pipeline);
    return form == "python" ? to_python(list) : form == "cpp" ? to_cpp(list) : to_text(list);
  });
}

}  // namespace polyhalite::python
