#include "codegen/passes/entry_checks.h"

#include <set>

#include "codegen/ir/visit.h"
#include "codegen/passes/buffer_fields.h"
#include "codegen/passes/region_checks.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"
#include "schedule/stage_exprs.h"

namespace polyhalite {

namespace {

Expr error_call(const char *name, std::vector<Expr> args) {
  auto n = std::make_shared<CallNode>(Int(32), CallKind::Extern, name, std::move(args));
  return Expr(std::shared_ptr<const ExprNode>(std::move(n)));
}

Expr last_of(const Expr &min, const Expr &extent) {
  return make_binary(Op::Sub, make_binary(Op::Add, min, extent), Expr(1));
}

class Checks {
 public:
  explicit Checks(const std::string &function) : function_(make_string(function)) {}

  // With `queries`, a buffer without memory may have any type: the answer sets it.
  void shape(const FunctionArgument &a, bool queries) {
    const Expr name = make_string(a.name);
    require(make_not(buffer_fact(Bool(), intrinsic::kBufferIsNull, a.name)),
            error_call("polyhalite_error_buffer_is_null", {function_, name}));
    const Expr wanted =
        Expr(uint32_t(a.type.code()) | uint32_t(a.type.bits()) << 8 | uint32_t{1} << 16);
    const Expr found = buffer_fact(UInt(32), intrinsic::kBufferType, a.name);
    const Expr same_type = make_binary(Op::Eq, found, wanted);
    const Expr asks = buffer_fact(Bool(), intrinsic::kBufferIsQuery, a.name);
    require(queries ? make_binary(Op::Or, asks, same_type) : same_type,
            error_call("polyhalite_error_bad_type", {function_, name, found, wanted}));
    const Expr dims = buffer_fact(Int(32), intrinsic::kBufferDimensions, a.name);
    require(
        make_binary(Op::Eq, dims, Expr(a.dimensions)),
        error_call("polyhalite_error_bad_dimensions", {function_, name, dims, Expr(a.dimensions)}));
    if (a.dimensions == 0) return;
    require(make_not(buffer_fact(Bool(), intrinsic::kBufferDimIsNull, a.name)),
            error_call("polyhalite_error_dim_is_null", {function_, name}));
  }

  // Elements that the host reads and writes are the host's.
  void memory(const FunctionArgument &a) {
    const Expr name = make_string(a.name);
    require(make_not(buffer_fact(Bool(), intrinsic::kBufferHostIsNull, a.name)),
            error_call("polyhalite_error_host_is_null", {function_, name}));
    require(make_not(buffer_fact(Bool(), intrinsic::kBufferDeviceDirty, a.name)),
            error_call("polyhalite_error_device_dirty_with_no_device_support", {function_, name}));
  }

  // Index arithmetic does not overflow within these ranges.
  void ranges(const FunctionArgument &a, const ParameterContents *p) {
    for (int d = 0; d < a.dimensions; d++) {
      if (p && has_given_range(*p, static_cast<size_t>(d))) continue;
      const Expr min = buffer_field(a.name, "min", d), extent = buffer_field(a.name, "extent", d);
      const Expr end = make_binary(Op::Add, make_cast(Int(64), min), make_cast(Int(64), extent));
      require(make_binary(Op::And, make_binary(Op::Ge, extent, Expr(0)),
                          make_binary(Op::Le, end, make_int(Int(64), INT32_MAX))),
              error_call("polyhalite_error_bad_range",
                         {function_, make_string(a.name), Expr(d), min, extent}));
    }
  }

  // Each product fits int64, since the one before is at most the limit.
  void size(const FunctionArgument &a, int64_t limit) {
    const int64_t most = limit / a.type.bytes();
    Expr elements = make_int(Int(64), 1);
    for (int d = 0; d < a.dimensions; d++) {
      elements =
          make_binary(Op::Mul, elements, make_cast(Int(64), buffer_field(a.name, "extent", d)));
      require(make_binary(Op::Le, elements, make_int(Int(64), most)),
              error_call("polyhalite_error_buffer_too_large",
                         {function_, make_string(a.name), elements, make_int(Int(64), most)}));
    }
    for (int d = 0; d < a.dimensions; d++) {
      const Expr span = make_binary(Op::Mul, make_cast(Int(64), buffer_field(a.name, "extent", d)),
                                    make_cast(Int(64), buffer_field(a.name, "stride", d)));
      require(make_binary(Op::And, make_binary(Op::Le, span, make_int(Int(64), most)),
                          make_binary(Op::Ge, span, make_int(Int(64), -most))),
              error_call("polyhalite_error_buffer_allocation_too_large",
                         {function_, make_string(a.name), span, make_int(Int(64), most)}));
    }
  }

  void limits(const ParameterContents &p) {
    const Expr value = make_variable(p.type, VariableKind::Param, p.name);
    auto limit = [&](Op op, const Expr &bound, const char *error) {
      if (!bound.defined()) return;
      require(make_binary(op, value, bound),
              error_call(error, {function_, make_string(p.name), make_cast(Float(64), value),
                                 make_cast(Float(64), bound)}));
    };
    limit(Op::Ge, p.min_value, "polyhalite_error_param_too_small");
    limit(Op::Le, p.max_value, "polyhalite_error_param_too_large");
  }

  void constraint(const std::string &buffer, int d, const char *what, const Expr &wanted) {
    const Expr found = buffer_field(buffer, what, d);
    require(make_binary(Op::Eq, found, wanted), error_call("polyhalite_error_constraint_violated",
                                                           {function_, make_string(buffer), Expr(d),
                                                            make_string(what), found, wanted}));
  }

  void constraints(const FunctionArgument &a, const ParameterContents *p) {
    bool stride_fixed = false;
    if (p) {
      for (size_t d = 0; d < p->dims.size(); d++) {
        const auto &c = p->dims[d];
        if (c.min.defined()) constraint(a.name, int(d), "min", c.min);
        if (c.extent.defined()) constraint(a.name, int(d), "extent", c.extent);
        if (c.stride.defined()) constraint(a.name, int(d), "stride", c.stride);
        stride_fixed |= d == 0 && c.stride.defined();
      }
    }
    if (a.dimensions > 0 && !stride_fixed && !p) constraint(a.name, 0, "stride", Expr(1));
    if (p && p->host_alignment > 1) {
      const Expr host = buffer_fact(UInt(64), intrinsic::kBufferHost, a.name);
      const Expr wanted = make_int(UInt(64), p->host_alignment);
      require(make_binary(Op::Eq, make_binary(Op::Mod, host, wanted), make_int(UInt(64), 0)),
              error_call("polyhalite_error_unaligned_host_ptr",
                         {function_, make_string(a.name), Expr(p->host_alignment)}));
    }
  }

  // Of a Func of several values, one box is computed.
  void same_shapes(const Algorithm &algorithm) {
    for (const std::string &output : algorithm.outputs) {
      const FuncDef &def = *algorithm.find(output);
      for (size_t i = 1; i < def.types.size(); i++) {
        for (int d = 0; d < def.dimensions(); d++) {
          for (const char *what : {"min", "extent"}) {
            constraint(def.buffer_name(static_cast<int>(i)), d, what,
                       buffer_field(def.buffer_name(0), what, d));
          }
        }
      }
    }
  }

  void assumptions(const Survey &survey) {
    for (const Assumption &a : survey.assumptions) {
      const Expr func = make_string(a.func);
      if (const auto &b = a.bounds) {
        require(a.condition, error_call("polyhalite_error_explicit_bounds_too_small",
                                        {func, make_string(b->variable), b->given.min, b->given.max,
                                         b->required.min, b->required.max}));
        continue;
      }
      require(a.condition, error_call("polyhalite_error_assumption",
                                      {function_, func, Expr(a.dimension), make_string(a.text),
                                       a.actual, a.wanted, Expr(a.code)}));
    }
  }

  void requirements(const Algorithm &algorithm) {
    for (const Expr &e : algorithm.requirements) checks_.push_back(make_evaluate(simplify(e)));
  }

  void branches(const LoopTree &tree) {
    for (const FuncDef &f : tree.algorithm.funcs) {
      for (size_t s = 0; s < f.stages.size(); s++) {
        if (f.stages[s].fail.empty()) continue;
        const Expr where = runs_where(f, static_cast<int>(s));
        require(where.defined() ? make_not(where) : make_false(),
                error_call("polyhalite_error_specialize_fail", {make_string(f.stages[s].fail)}));
      }
    }
  }

  void box(const std::string &buffer, const Box &need) {
    Box held;
    for (int d = 0; d < static_cast<int>(need.size()); d++) {
      const Expr min = buffer_field(buffer, "min", d);
      held.push_back({min, last_of(min, buffer_field(buffer, "extent", d))});
    }
    box(buffer, need, held);
  }

  void box(const BufferContents &constant, const Box &need) {
    Box held;
    for (const polyhalite_dimension_t &d : constant.dims()) {
      held.push_back({Expr(d.min), Expr(d.min + d.extent - 1)});
    }
    box(constant.name, need, held);
  }

  void box(const std::string &buffer, const Box &need, const Box &held) {
    for (size_t d = 0; d < need.size(); d++) {
      const int dim = static_cast<int>(d);
      const auto &[min, max] = held[d];
      const IndexRange &r = need[d];
      require(
          make_binary(Op::And, make_binary(Op::Ge, r.min, min), make_binary(Op::Le, r.max, max)),
          error_call("polyhalite_error_access_out_of_bounds",
                     {function_, make_string(buffer), Expr(dim), r.min, r.max, min, max}));
    }
  }

  std::vector<Stmt> take() { return std::move(checks_); }

 private:
  // Do the constraints, which are tested too, name one range, and a good one?
  static bool has_given_range(const ParameterContents &p, size_t d) {
    if (d >= p.dims.size() || !p.dims[d].min.defined() || !p.dims[d].extent.defined()) return false;
    int64_t min, extent;
    return is_const_int(p.dims[d].min, &min) && is_const_int(p.dims[d].extent, &extent) &&
           extent >= 0 && min + extent <= INT32_MAX;
  }

  void require(const Expr &condition, const Expr &error) {
    const Expr c = simplify(condition);
    if (!is_true(c)) checks_.push_back(make_assert(c, error));
  }

  Expr function_;
  std::vector<Stmt> checks_;
};

}  // namespace

std::vector<Stmt> shape_checks(const std::string &function,
                               const std::vector<FunctionArgument> &args, bool queries) {
  Checks checks(function);
  for (const FunctionArgument &a : args) {
    if (a.is_buffer) checks.shape(a, queries);
  }
  return checks.take();
}

const ParameterContents *constraints_of(const FunctionArgument &a, const Algorithm &algorithm) {
  for (const AlgorithmInput &i : algorithm.inputs) {
    if (i.param->name == a.name) return i.param.get();
  }
  for (const auto &p : algorithm.output_buffers) {
    if (p->name == a.name) return p.get();
  }
  return nullptr;
}

const Box *needed_box(const FunctionArgument &a, const Algorithm &algorithm, const Survey &survey) {
  auto box_of = [&](const std::string &name) {
    const auto it = survey.inputs.find(name);
    return it == survey.inputs.end() ? nullptr : &it->second;
  };
  for (const std::string &output : algorithm.outputs) {
    const FuncDef &def = *algorithm.find(output);
    for (size_t i = 0; i < def.types.size(); i++) {
      if (def.buffer_name(static_cast<int>(i)) == a.name) return box_of(output);
    }
  }
  return box_of(a.name);
}

namespace {

void add_parameters(const Expr &e, std::set<std::string> &names) {
  if (!e.defined()) return;
  for_each_node(e, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    if (v && v->kind == VariableKind::Param) names.insert(v->name);
  });
}

// Copies between the sides of a buffer say themselves what is missing; a function of the user's may
// do without the host's.
bool stays_on_host(const Algorithm &algorithm, const Stmt &pipeline) {
  bool stays = true;
  for_each_stmt(pipeline, [&](const Stmt &s) { stays = stays && s->kind != StmtKind::Kernel; });
  for (const FuncDef &func : algorithm.funcs) {
    for (const StageDef &stage : func.stages) stays = stays && !is_extern_stage(stage);
  }
  return stays;
}

// The limits of scalars in `used`, and of those that limits speak of.
std::vector<Stmt> limit_checks(const std::string &function, const Algorithm &algorithm,
                               std::set<std::string> used) {
  Checks checks(function);
  for (bool grew = true; grew;) {
    const size_t before = used.size();
    for (const AlgorithmInput &i : algorithm.inputs) {
      if (i.param->is_buffer || !used.count(i.param->name)) continue;
      add_parameters(i.param->min_value, used);
      add_parameters(i.param->max_value, used);
    }
    grew = used.size() > before;
  }
  for (const AlgorithmInput &i : algorithm.inputs) {
    if (!i.param->is_buffer && used.count(i.param->name)) checks.limits(*i.param);
  }
  return checks.take();
}

}  // namespace

std::vector<Stmt> value_checks(const Function &f, const LoopTree &tree, const Survey &survey,
                               const Stmt &pipeline) {
  Checks checks(f.name);
  const bool is_on_host = stays_on_host(tree.algorithm, pipeline);
  for (const FunctionArgument &a : f.args) {
    if (!a.is_buffer) continue;
    if (is_on_host) checks.memory(a);
    checks.ranges(a, constraints_of(a, tree.algorithm));
    if (f.buffer_limit != INT64_MAX) checks.size(a, f.buffer_limit);
  }
  std::vector<Stmt> all = checks.take();
  for (const FunctionArgument &a : f.args) {
    if (!a.is_buffer) continue;
    checks.constraints(a, constraints_of(a, tree.algorithm));
  }
  checks.same_shapes(tree.algorithm);
  checks.requirements(tree.algorithm);
  checks.branches(tree);
  checks.assumptions(survey);
  for (const FunctionArgument &a : f.args) {
    const Box *need = a.is_buffer ? needed_box(a, tree.algorithm, survey) : nullptr;
    if (need) checks.box(a.name, *need);
  }
  for (const auto &c : f.constants) {
    auto it = survey.inputs.find(c->name);
    if (it != survey.inputs.end()) checks.box(*c, it->second);
  }
  const std::vector<Stmt> later = checks.take();
  std::set<std::string> used;
  auto look = [&](const Expr &e) { add_parameters(e, used); };
  // What the algorithm says may be gone from the pipeline because of a limit.
  for (const FuncDef &func : tree.algorithm.funcs) {
    for (const StageDef &stage : func.stages) {
      for_each_expr(stage, look);
      look(stage.when);
    }
  }
  for (const Symbol &s : survey.root_symbols) look(s.value);
  for_each_operand(pipeline, look);
  for (const Stmt &s : later) for_each_operand(s, look);
  for (Stmt &s : limit_checks(f.name, tree.algorithm, std::move(used))) all.push_back(std::move(s));
  for (Stmt &s : region_checks(f.name, tree, survey)) all.push_back(std::move(s));
  all.insert(all.end(), later.begin(), later.end());
  return all;
}

}  // namespace polyhalite
