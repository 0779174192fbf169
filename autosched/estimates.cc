#include "autosched/estimates.h"

#include <algorithm>
#include <set>

#include "autosched/number_program.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite::autosched {

namespace {

// Outputs of generators are made by their class: there the definition is what the user wrote.
SourceLocation place_of(const FuncDef &f) {
  return f.where.line == 0 && !f.stages.empty() ? f.stages[0].where : f.where;
}

std::optional<int64_t> number_of(const Expr &e);

std::optional<int64_t> scalar_value(const ParameterContents &p) {
  if (auto n = number_of(p.estimate)) return n;
  if (auto n = number_of(p.default_value)) return n;
  if (p.has_scalar && p.type.is_int_or_uint()) {
    const int shift = 64 - p.type.bits();
    if (p.type.is_uint()) return static_cast<int64_t>(p.scalar_bits << shift >> shift);
    return static_cast<int64_t>(p.scalar_bits << shift) >> shift;
  }
  const auto least = number_of(p.min_value), most = number_of(p.max_value);
  if (least && most) return *least + (*most - *least) / 2;
  return least ? least : most;
}

// "in.extent.1" -> field "extent" of dimension 1.
struct Field {
  std::string field;
  int dimension = 0;
};
Field field_of(const std::string &variable) {
  const size_t last = variable.rfind('.'), before = variable.rfind('.', last - 1);
  return {variable.substr(before + 1, last - before - 1), std::stoi(variable.substr(last + 1))};
}

std::optional<int64_t> field_value(const VariableNode &v) {
  const Field f = field_of(v.name);
  const size_t d = static_cast<size_t>(f.dimension);
  const BufferContents *held = v.image ? v.image.get() : v.param ? v.param->buffer.get() : nullptr;
  if (v.param && d < v.param->dims.size()) {
    const ParameterContents::DimConstraint &c = v.param->dims[d];
    const Expr &estimate = f.field == "min" ? c.min_estimate : c.extent_estimate;
    const Expr &fixed = f.field == "min" ? c.min : f.field == "extent" ? c.extent : c.stride;
    if (auto n = number_of(fixed)) return n;
    if (f.field != "stride") {
      if (auto n = number_of(estimate)) return n;
    }
  }
  if (held && held->buf.data() && d < held->dims().size()) {
    const polyhalite_dimension_t dim = held->dims()[d];
    return f.field == "min" ? dim.min : f.field == "extent" ? dim.extent : dim.stride;
  }
  if (f.field == "stride" && f.dimension == 0) return 1;
  return std::nullopt;
}

std::optional<int64_t> variable_value(const VariableNode &v) {
  if (v.kind == VariableKind::BufferField) return field_value(v);
  if (v.kind == VariableKind::Param && v.param) return scalar_value(*v.param);
  return std::nullopt;
}

class WithValues : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (!v) return rewrite_children(e);
    if (!v->type.is_int_or_uint()) return e;
    const auto n = variable_value(*v);
    return n ? make_int(v->type, *n) : e;
  }
};

std::optional<int64_t> number_of(const Expr &e) {
  if (!e.defined() || !e.type().is_int_or_uint()) return std::nullopt;
  int64_t n = 0;
  if (is_const_int(simplify(WithValues()(e)), &n)) return n;
  return std::nullopt;
}

class WithNumbers : public ExprRewriter {
 public:
  explicit WithNumbers(const std::map<std::string, int64_t> &numbers) : numbers_(numbers) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (!v) return rewrite_children(e);
    const auto n = numbers_.find(v->name);
    const bool known = v->kind == VariableKind::Param || v->kind == VariableKind::BufferField;
    return known && n != numbers_.end() && v->type.is_int_or_uint() ? make_int(v->type, n->second)
                                                                    : e;
  }

 private:
  const std::map<std::string, int64_t> &numbers_;
};

struct Bounds {
  std::optional<int64_t> min, extent;
  void take(const Expr &m, const Expr &e) {
    if (!min) min = number_of(m);
    if (!extent) extent = number_of(e);
  }
};

// What is said of dimension d of an output.
Bounds output_bounds(const FrozenPipeline &p, int func, size_t d) {
  const FuncDef &def = p.algorithm.funcs[static_cast<size_t>(func)];
  Bounds b;
  if (static_cast<size_t>(func) < p.functions.size()) {
    const FunctionContents &f = *p.functions[static_cast<size_t>(func)];
    if (d < f.estimates.size()) b.take(f.estimates[d].min, f.estimates[d].extent);
  }
  // Of a pipeline that was read from its text.
  if (d < def.estimates.size()) b.take(def.estimates[d].min, def.estimates[d].extent);
  for (const auto &o : p.algorithm.output_buffers) {
    bool own = false;
    for (size_t v = 0; v < def.types.size(); v++) {
      own = own || o->name == def.buffer_name(static_cast<int>(v));
    }
    if (!own || d >= o->dims.size()) continue;
    b.take(o->dims[d].min_estimate, o->dims[d].extent_estimate);
    b.take(o->dims[d].min, o->dims[d].extent);
  }
  for (const Directive &x : p.directives) {
    if (x.func != def.name || x.loops.empty() || x.loops[0] != def.args[d]) continue;
    if (x.kind == DirectiveKind::Bound) b.take(x.factors[0], x.factors[1]);
    if (x.kind == DirectiveKind::BoundExtent) b.take(Expr(), x.factors[0]);
  }
  if (b.extent && !b.min) b.min = 0;
  return b;
}

std::string quoted_list(const std::vector<std::string> &names) {
  std::string s;
  for (const std::string &n : names) s += (s.empty() ? "'" : ", '") + n + "'";
  return s;
}

void find_outputs(const FrozenPipeline &p, Estimates *e) {
  std::string unknown, fix;
  SourceLocation where;
  for (const std::string &name : p.algorithm.outputs) {
    const int func = p.algorithm.index_of(name);
    const FuncDef &def = p.algorithm.funcs[static_cast<size_t>(func)];
    std::vector<std::string> missing;
    NumberBox box;
    for (size_t d = 0; d < def.args.size(); d++) {
      const Bounds b = output_bounds(p, func, d);
      if (!b.extent) missing.push_back(def.args[d]);
      box.push_back({b.min.value_or(0), b.min.value_or(0) + b.extent.value_or(1) - 1});
      for (int v = 0; v < static_cast<int>(def.types.size()); v++) {
        const std::string dim = "." + std::to_string(d), buffer = def.buffer_name(v);
        e->numbers[buffer + ".min" + dim] = box.back().lo;
        e->numbers[buffer + ".extent" + dim] = box.back().extent();
      }
    }
    e->outputs[name] = box;
    if (missing.empty()) continue;
    if (unknown.empty()) {
      fix = name + ".set_estimate(" + missing[0] + ", 0, 1000), for each of them";
      where = place_of(def);
    }
    unknown += (unknown.empty() ? "output '" : ", nor output '") + name +
               "' is: " + quoted_list(missing) + " without estimate";
  }
  if (unknown.empty()) return;
  user_error("the auto-scheduler does not know how large " + unknown,
             "tiles and storage are chosen for sizes like those of the runs", fix, where);
}

// `sizes`: Param -> the Func whose reduction it sizes.
[[noreturn]] void refuse_unknown_sizes(const std::map<std::string, const FuncDef *> &sizes) {
  std::vector<std::string> params, funcs;
  for (const auto &[name, func] : sizes) {
    params.push_back(name);
    if (std::find(funcs.begin(), funcs.end(), func->name) == funcs.end()) {
      funcs.push_back(func->name);
    }
  }
  const bool one = params.size() == 1;
  user_error(std::string("the auto-scheduler does not know ") + (one ? "Param " : "Params ") +
                 quoted_list(params),
             std::string(funcs.size() == 1 ? "a reduction of " : "reductions of ") +
                 quoted_list(funcs) + (funcs.size() == 1 ? " has" : " have") +
                 " that many iterations",
             params[0] + ".set_estimate(...), or give it a range or a value" +
                 (one ? "" : "; likewise the others"),
             place_of(*sizes.begin()->second));
}

template <typename Visit>
void for_each_stage_expr(const Algorithm &a, Visit visit) {
  for (const FuncDef &f : a.funcs) {
    for (const StageDef &s : f.stages) {
      for (const Expr &x : s.args) visit(f, x, false);
      for (const Expr &x : s.values) visit(f, x, false);
      for (const ReductionVariable &r : s.rvars) {
        visit(f, r.min, true);
        visit(f, r.extent, true);
      }
      if (s.predicate.defined()) visit(f, s.predicate, false);
    }
  }
}

}  // namespace

double points(const NumberBox &box) {
  double n = 1;
  for (const NumberRange &r : box) n *= static_cast<double>(r.extent());
  return n;
}

Expr Estimates::with_numbers(const Expr &e) const { return simplify(WithNumbers(numbers)(e)); }

Estimates find_estimates(const FrozenPipeline &p) {
  Estimates e;
  find_outputs(p, &e);
  std::map<std::string, const FuncDef *> unknown_sizes;
  for_each_stage_expr(p.algorithm, [&](const FuncDef &f, const Expr &x, bool is_size) {
    for_each_node(x, [&](const Expr &n) {
      const VariableNode *v = as_variable(n);
      if (!v || !v->type.is_int_or_uint() || e.numbers.count(v->name)) return;
      if (v->kind != VariableKind::Param && v->kind != VariableKind::BufferField) return;
      if (const auto value = variable_value(*v)) {
        e.numbers[v->name] = *value;
      } else if (v->kind == VariableKind::Param) {
        if (is_size) unknown_sizes.emplace(v->name, &f);
      }
    });
  });
  if (!unknown_sizes.empty()) refuse_unknown_sizes(unknown_sizes);
  // The size of what is computed depends on differences, seldom on the Param itself.
  for_each_stage_expr(p.algorithm, [&](const FuncDef &, const Expr &x, bool) {
    for_each_node(x, [&](const Expr &n) {
      const VariableNode *v = as_variable(n);
      if (!v || v->kind != VariableKind::Param || !v->type.is_int_or_uint()) return;
      if (e.numbers.emplace(v->name, 1).second) e.assumed.push_back("Param " + v->name + " = 1");
    });
  });
  for (const AlgorithmInput &i : p.algorithm.inputs) {
    for (size_t d = 0; d < i.param->dims.size(); d++) {
      for (const char *field : {"min", "extent"}) {
        VariableNode v(Int(32), VariableKind::BufferField,
                       i.param->name + "." + field + "." + std::to_string(d));
        v.param = i.param;
        if (const auto n = field_value(v)) e.numbers[v.name] = *n;
      }
    }
  }
  return e;
}

}  // namespace polyhalite::autosched
