#include "polyhedral/model/stage_model.h"

#include <algorithm>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/written_values.h"
#include "polyhedral/conditional_use.h"

namespace polyhalite {

namespace {

// What the walk over derivations knows of a dimension.
struct DimensionModel {
  AffineRow min, value;             // valid where has_value
  std::optional<AffineRow> extent;  // none: not affine
  bool has_value = true;
  std::vector<std::pair<std::string, AffineRow>> coordinates = {};  // name and row, outermost first
};

class InstanceBuilder {
 public:
  InstanceBuilder(Problem &problem, StageInstance &instance, const LoopTree &tree,
                  const Survey &survey, StageId stage, const StageCase *only)
      : problem_(problem),
        instance_(instance),
        tree_(tree),
        nest_(tree.nest(stage)),
        ranges_(survey.stages[stage.func][stage.stage].ranges),
        stage_(stage),
        only_(only) {
    for (const Derivation &d : nest_.derivations) {
      if (d.kind == Derivation::Split && is_rounding(d.tail)) rounded_.insert(d.a);
    }
  }

  void run() {
    const FuncDef &func = tree_.func(stage_);
    const StageDef &def = tree_.definition(stage_);
    for (int a = func.dimensions(); a-- > 0;) {
      if (has_pure_variable(tree_, stage_, a)) add_variable(func.args[a]);
    }
    for (size_t r = def.rvars.size(); r-- > 0;) add_variable(def.rvars[r].var);
    for (const Derivation &d : nest_.derivations) {
      if (is_linear(d)) {
        linear(d);
      } else {
        d.kind == Derivation::Split ? split(d) : fuse(d);
      }
    }
    for (size_t i = 0; i < nest_.loops.size(); i++) {
      const int loop = nest_.loops[i];
      const LoopInfo &info = tree_.loops[loop];
      const DimensionModel &dim = dims_[tree_.dim(stage_, i)];
      for (const auto &[name, row] : dim.coordinates) {
        const bool fused = dim.coordinates.size() > 1;
        instance_.time.push_back({loop, fused ? name : info.label, row});
      }
    }
    const Expr &predicate = only_ ? only_->def.predicate : def.predicate;
    if (predicate.defined()) instance_.scope.assume(predicate);
    if (only_) {
      for (const auto &[name, value] : only_->fixed) {
        problem_.require_zero(dims_.at(name).value - AffineRow(value));
      }
    }
    if (const Expr e = runs_where(func, stage_.stage); e.defined()) instance_.scope.assume(e);
  }

 private:
  AffineRow coordinate(const std::string &name) {
    return problem_.fresh(ModelVariable::Coordinate, name);
  }

  void add_variable(const std::string &name) {
    const AffineRow x = coordinate(name);
    instance_.scope.bind(name, x);
    instance_.position.push_back({name, x});
    DimensionModel &dim = dims_[name];
    dim.value = x;
    dim.coordinates = {{name, x}};
    auto it = ranges_.find(name);
    if (it == ranges_.end()) return;
    dim.min = instance_.scope.row(it->second.min);
    const AffineRow max = instance_.scope.row(it->second.max);
    dim.extent = max - dim.min + AffineRow(1);
    problem_.require_less_equal(dim.min, x);
    if (!rounded_.count(name)) problem_.require_less_equal(x, max);
  }

  // a -> outer b, inner c:  a = min + factor * b + c, and what the tail makes of the last tile.
  void split(const Derivation &d) {
    const DimensionModel a = dims_[d.a];
    const AffineRow b = coordinate(d.b), c = coordinate(d.c);
    DimensionModel outer, inner;
    outer.value = b;
    outer.coordinates = {{d.b, b}};
    inner.value = c;
    inner.coordinates = {{d.c, c}};
    problem_.require_nonnegative(b);
    problem_.require_nonnegative(c);
    int64_t factor;
    if (!is_const_int(d.factor, &factor)) {
      split_by_symbol(a, b, c, d);
      inner.extent = instance_.scope.row(d.factor);
    } else {
      inner.extent = AffineRow(factor);
      if (!rounded_.count(d.c)) problem_.require_less_equal(c, AffineRow(factor - 1));
      if (a.extent) {
        if (!rounded_.count(d.b)) problem_.require_less_equal(factor * b, *a.extent - AffineRow(1));
        outer.extent = ceil_div(*a.extent, factor);
      }
      if (a.has_value) {
        tile(a, factor * b, c, factor, d.tail);
      } else {
        instance_.scope.mark_inexact("the fused loop '" + d.a + "'");
      }
    }
    dims_[d.b] = std::move(outer);
    dims_[d.c] = std::move(inner);
  }

  void tile(const DimensionModel &a, const AffineRow &offset, const AffineRow &c, int64_t factor,
            TailStrategy tail) {
    if (!is_shifting(tail) || !a.extent) {
      problem_.require_zero(a.value - a.min - offset - c);
      return;
    }
    // The last tile is shifted to end where the loop ends.
    const AffineRow last = *a.extent - AffineRow(factor);
    Conjunction full, shifted;
    full.nonnegative.push_back(last - offset);
    full.zero.push_back(a.value - a.min - offset - c);
    shifted.nonnegative.push_back(offset - last - AffineRow(1));
    shifted.zero.push_back(a.value - a.min - last - c);
    // Blended points belong to the tile before.
    if (is_blending(tail)) shifted.nonnegative.push_back(a.value - a.min - offset);
    problem_.choices.push_back({full, shifted});
  }

  // factor * b is no affine term: the base of the tile is any number.
  void split_by_symbol(const DimensionModel &a, const AffineRow &b, const AffineRow &c,
                       const Derivation &d) {
    const AffineRow factor = instance_.scope.row(d.factor);
    const AffineRow offset = problem_.fresh(ModelVariable::Existential, "");
    problem_.require_nonnegative(factor - AffineRow(1));
    problem_.require_less_equal(c, factor - AffineRow(1));
    problem_.require_less_equal(b, offset);
    problem_.require_zero(a.value - a.min - offset - c);
    instance_.scope.mark_inexact("the split of '" + d.a + "' by a factor that is no constant");
  }

  AffineRow ceil_div(const AffineRow &e, int64_t factor) {
    if (e.is_constant()) return AffineRow((e.constant + factor - 1) / factor);
    const AffineRow q = problem_.fresh(ModelVariable::Existential, "");
    problem_.require_less_equal(e, factor * q);
    problem_.require_less_equal(factor * q, e + AffineRow(factor - 1));
    return q;
  }

  // outer a, inner b -> c:  the pair (a, b) in lexicographic order.
  void fuse(const Derivation &d) {
    const DimensionModel &a = dims_[d.a], &b = dims_[d.b];
    DimensionModel fused;
    fused.coordinates = a.coordinates;
    fused.coordinates.insert(fused.coordinates.end(), b.coordinates.begin(), b.coordinates.end());
    fused.has_value = a.has_value && b.has_value && b.extent && b.extent->is_constant();
    if (fused.has_value) {
      const int64_t n = b.extent->constant;
      fused.value = n * (a.value - a.min) + (b.value - b.min);
      if (a.extent) fused.extent = n * *a.extent;
    }
    dims_[d.c] = std::move(fused);
  }

  // a -> c = sign*a + skew*b + offset: no coordinate of its own.
  void linear(const Derivation &d) {
    const LinearStep step = linear_step(d);
    const DimensionModel &a = dims_[d.a];
    const DimensionModel nothing{AffineRow(), AffineRow(), AffineRow(1)};
    const DimensionModel &b = step.skew == 0 ? nothing : dims_[d.b];
    DimensionModel made;
    if (!a.has_value || !b.has_value) {
      made.has_value = false;
      made.coordinates = {{d.c, coordinate(d.c)}};
      instance_.scope.mark_inexact("the loop '" + d.c + "', made of a fused one,");
      dims_[d.c] = std::move(made);
      return;
    }
    const AffineRow offset(step.offset);
    made.value = step.sign * a.value + step.skew * b.value + offset;
    made.coordinates = {{d.c, made.value}};
    if (a.extent && b.extent) {
      const AffineRow a_end = step.sign > 0 ? a.min : a.min + *a.extent - AffineRow(1);
      const AffineRow b_end = step.skew > 0 ? b.min : b.min + *b.extent - AffineRow(1);
      const int64_t slope = step.skew > 0 ? step.skew : -step.skew;
      made.min = step.sign * a_end + step.skew * b_end + offset;
      made.extent = *a.extent + slope * (*b.extent - AffineRow(1));
    } else {
      // From where it counts is not affine: nothing more can be said of its parts.
      made.has_value = false;
    }
    dims_[d.c] = std::move(made);
  }

  Problem &problem_;
  StageInstance &instance_;
  const LoopTree &tree_;
  const StageNest &nest_;
  const std::map<std::string, IndexRange> &ranges_;
  StageId stage_;
  const StageCase *only_;
  std::set<std::string> rounded_;
  std::map<std::string, DimensionModel> dims_;
};

}  // namespace

std::vector<AffineRow> StageInstance::time_rows() const {
  std::vector<AffineRow> rows;
  for (const LoopCoordinate &c : time) rows.push_back(c.row);
  return rows;
}

std::vector<AffineRow> StageInstance::position_rows() const {
  std::vector<AffineRow> rows;
  for (const AlgorithmVariable &v : position) rows.push_back(v.row);
  return rows;
}

StageInstance add_instance(Problem &problem, SharedAtoms &shared, const LoopTree &tree,
                           const Survey &survey, StageId stage) {
  StageInstance instance{Translator(problem, shared), {}, {}};
  InstanceBuilder(problem, instance, tree, survey, stage, nullptr).run();
  return instance;
}

StageInstance add_instance(Problem &problem, SharedAtoms &shared, const LoopTree &tree,
                           const Survey &survey, StageId stage, const StageCase &only) {
  StageInstance instance{Translator(problem, shared), {}, {}};
  InstanceBuilder(problem, instance, tree, survey, stage, &only).run();
  return instance;
}

std::vector<SelfAccess> self_accesses(const std::string &func, const StageCase &only) {
  const StageDef &def = only.def;
  std::vector<SelfAccess> accesses;
  std::vector<Expr> values;  // what is computed, where it is
  // What stays as it is in this case alone is written all the same: code is of the whole stage.
  for (const CellWrite &w : cell_writes(only.whole)) {
    const std::vector<WrittenValue> written = written_values(func, only.whole, w);
    std::vector<Expr> cell;
    for (const Expr &e : w.cell) cell.push_back(only.part(e));
    for (size_t v = 0; v < written.size(); v++) {
      const Expr value = only.value(written[v].value);
      Expr where = written[v].where.defined() ? only.part(written[v].where) : Expr();
      if (where.defined() && is_true(where)) where = Expr();
      if (where.defined() && is_false(where)) continue;
      accesses.push_back({cell, static_cast<int>(v), true, where});
      values.push_back(where.defined() ? make_select(where, value, make_zero(value.type()))
                                       : value);
    }
  }
  auto same = [](const Expr &a, const Expr &b) {
    return a.defined() == b.defined() && (!a.defined() || equal(a, b));
  };
  auto add_read = [&](const CallNode &call, const Expr &where) {
    for (const SelfAccess &a : accesses) {
      bool known =
          !a.writes && a.value == call.value_index && (!a.where.defined() || same(a.where, where));
      for (size_t d = 0; known && d < a.cell.size(); d++) known = equal(a.cell[d], call.args[d]);
      if (known) return;
    }
    accesses.push_back({call.args, call.value_index, false, where});
  };
  auto collect = [&](const Expr &e) {
    for_each_use(e, [&](const CallNode &c, const Expr &where) {
      if (c.kind == CallKind::Func && c.name == func) add_read(c, where);
    });
  };
  for (const Expr &e : def.args) collect(e);
  for (const Expr &e : values) collect(e);
  if (def.predicate.defined()) collect(def.predicate);
  return accesses;
}

std::vector<SelfAccess> self_accesses(const LoopTree &tree, StageId stage) {
  return self_accesses(tree.func(stage).name,
                       StageCase{{}, tree.definition(stage), tree.definition(stage)});
}

bool has_pure_variable(const LoopTree &tree, StageId stage, int argument) {
  const VariableNode *v = as_variable(tree.definition(stage).args[argument]);
  return v && v->kind == VariableKind::Pure && v->name == tree.func(stage).args[argument];
}

bool is_pure_in_its_variables(const LoopTree &tree, StageId stage) {
  const FuncDef &func = tree.func(stage);
  for (const SelfAccess &access : self_accesses(tree, stage)) {
    for (int d = 0; d < func.dimensions(); d++) {
      if (!has_pure_variable(tree, stage, d)) continue;
      const VariableNode *v = as_variable(access.cell[d]);
      if (!v || v->kind != VariableKind::Pure || v->name != func.args[d]) return false;
    }
  }
  return true;
}

bool touches_other_rows(const LoopTree &tree, StageId stage) {
  if (!tree.is_update(stage)) return false;
  const FuncDef &func = tree.func(stage);
  for (const SelfAccess &access : self_accesses(tree, stage)) {
    for (int d = 0; d < func.dimensions(); d++) {
      const VariableNode *v = as_variable(access.cell[d]);
      if (v && v->kind == VariableKind::Pure && v->name == func.args[d]) continue;
      for (const auto &[atom, c] : to_linear(access.cell[d]).terms) {
        const VariableNode *other = as_variable(atom);
        if (other && other->kind == VariableKind::Pure) return true;
      }
    }
  }
  return false;
}

bool writes_one_value(const LoopTree &tree, StageId stage) {
  const StageDef &def = tree.definition(stage);
  if (cell_writes(def).size() != 1) return false;
  for (const SelfAccess &access : self_accesses(tree, stage)) {
    if (!access.writes) return false;
  }
  const std::vector<std::string> &args = tree.func(stage).args;
  bool one = true;
  for (const Expr &value : def.values) {
    for_each_node(value, [&](const Expr &n) {
      if (const CallNode *c = as_call(n)) {
        one = one && c->kind != CallKind::Extern && c->name != intrinsic::kUndef;
      }
      const VariableNode *v = as_variable(n);
      if (!v || (v->kind != VariableKind::Pure && v->kind != VariableKind::Reduction)) return;
      const auto at = std::find(args.begin(), args.end(), v->name);
      one = one && v->kind == VariableKind::Pure && at != args.end() &&
            has_pure_variable(tree, stage, static_cast<int>(at - args.begin()));
    });
  }
  return one;
}

}  // namespace polyhalite
