// What values say of regions: the interval of a Func's value, of floats, of fields of buffers that
// the user has fixed.
//
//   f(x) = clamp(x, 10, 20), g(x) = in(f(x))   ->   g needs in over [10, 20]
#include "lang/ir/extern_stage.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

namespace {

// Deeper ends cost more than they help.
constexpr int kMaxValueDepth = 16;

class Constrained : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (!v) return rewrite_children(e);
    if (v->kind != VariableKind::BufferField || !v->param) return e;
    for (size_t d = 0; d < v->param->dims.size(); d++) {
      const ParameterContents::DimConstraint &c = v->param->dims[d];
      const std::string suffix = "." + std::to_string(d);
      auto is = [&](const char *what) { return v->name == v->param->name + what + suffix; };
      const Expr value = is(".min")      ? c.min
                         : is(".extent") ? c.extent
                         : is(".stride") ? c.stride
                                         : Expr();
      if (value.defined() && constant(value)) return value;
    }
    return e;
  }
};

}  // namespace

Expr Surveyor::constrained(const Expr &e) { return Constrained()(e); }

Expr Surveyor::output_field(const FuncDef &f, const char *what, int dimension) const {
  for (const auto &p : tree_.algorithm.output_buffers) {
    if (p->name != f.buffer_name(0) || static_cast<size_t>(dimension) >= p->dims.size()) continue;
    const ParameterContents::DimConstraint &c = p->dims[static_cast<size_t>(dimension)];
    const Expr value = std::string(what) == "min" ? c.min : c.extent;
    if (value.defined() && constant(value)) return value;
  }
  return buffer_field(f.buffer_name(0), what, dimension);
}

bool Surveyor::needs_values(const Expr &index, const Interval &bound) {
  bool on_values = false, on_data = false;
  for_each_node(index, [&](const Expr &n) {
    const CallNode *c = as_call(n);
    const bool memory = c && (c->kind == CallKind::Func || c->kind == CallKind::Image ||
                              c->kind == CallKind::Extern);
    on_data |= memory;
    on_values |= memory || (n->op == Op::Cast && n->args[0].type().is_float());
  });
  if (!on_values) return false;
  // Floats that come out of loops say where one reads; those that come out of data hardly do.
  return !on_data || !bound.min.defined() || !bound.max.defined();
}

Interval Surveyor::value_interval(const CallNode &call) {
  const auto key = std::make_pair(call.name, call.value_index);
  if (auto it = values_.find(key); it != values_.end()) return it->second;
  values_[key] = {};
  const FuncDef *f = tree_.algorithm.find(call.name);
  if (!f || f->num_definitions() != 1 || is_extern_stage(f->stages[0])) return {};
  auto variable = [](const VariableNode &v) -> std::optional<Interval> {
    if (v.kind == VariableKind::Param || v.kind == VariableKind::BufferField) return std::nullopt;
    return Interval{};
  };
  const Expr &value = f->stages[0].values[static_cast<size_t>(call.value_index)];
  Interval i =
      Bounder(variable, [&](const CallNode &c) { return value_interval(c); })(constrained(value));
  for (Expr *end : {&i.min, &i.max}) {
    if (end->defined() && (*end)->depth > kMaxValueDepth) *end = Expr();
  }
  return values_[key] = i;
}

}  // namespace polyhalite
