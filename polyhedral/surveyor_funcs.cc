#include <algorithm>
#include <numeric>

#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

void Surveyor::survey_func(int f) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  const int scope = tree_.placements[f].compute;
  const bool output = tree_.algorithm.is_output(def.name);
  std::vector<Interval> box = needed(def.name, def.dimensions(), scope);
  if (output) {
    // The caller's buffer says what is wanted; consumers inside the pipeline may touch more.
    touched_[f] = box;
    for (int d = 0; d < def.dimensions(); d++) {
      const Expr min = buffer_field(def.buffer_name(0), "min", d),
                 extent = buffer_field(def.buffer_name(0), "extent", d);
      box[d] = {min, sum(sum(min, extent), -1)};
    }
  }
  apply_bounds(f, box);
  for (int d = 0; d < def.dimensions(); d++) check_bounded(def, d, box[d]);
  include_own_updates(f, box);
  for (int d = 0; d < def.dimensions(); d++) apply_needs(f, d, box[d], output);
  name_box(f, box, scope);
  out_.funcs[f].computed = out_.funcs[f].needed;
  slide(f, scope);
  for (size_t s = 0; s < def.stages.size(); s++) survey_stage({f, static_cast<int>(s)});
  survey_storage(f, scope);
}

std::vector<Interval> Surveyor::needed(const std::string &callee, int dimensions, int scope) {
  std::vector<Interval> box(dimensions);
  bool first = true;
  for (const ReadSite &r : reads_) {
    if (r.callee != callee) continue;
    for (int d = 0; d < dimensions; d++) {
      const Interval i = bound_at(r.args[d], &r.stage, scope);
      box[d] = first ? i : hull(box[d], i);
    }
    first = false;
  }
  return box;
}

void Surveyor::check_bounded(const FuncDef &def, int d, const Interval &i) {
  if (i.min.defined() && i.max.defined()) return;
  user_error(
      "the region of '" + def.name + "' that is needed in dimension " + std::to_string(d) + " (" +
          def.args[d] + ") is unbounded",
      "an index of a read of '" + def.name + "' comes from data, and nothing limits its values",
      "clamp the index, as in " + def.name + "(clamp(i, 0, n - 1)), or give '" + def.name +
          "' a bound()",
      def.where);
}

void Surveyor::apply_bounds(int f, std::vector<Interval> &box) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  for (const BoundDirective &b : tree_.bounds) {
    if (b.func != f) continue;
    const int d = b.dimension;
    Interval &i = box[d];
    const Expr max = sum(sum(b.min, b.extent), -1);
    const Interval at_root = {i.min.defined() ? bound_at(i.min, nullptr, kRoot).min : Expr(),
                              i.max.defined() ? bound_at(i.max, nullptr, kRoot).max : Expr()};
    const std::string name = "bound() of '" + def.args[d] + "'";
    if (at_root.min.defined()) {
      assume(make_binary(Op::Ge, at_root.min, b.min), def.name, d,
             name + " promises that nothing below its minimum is needed", at_root.min, b.min,
             b.where);
    }
    if (at_root.max.defined()) {
      assume(make_binary(Op::Le, at_root.max, max), def.name, d,
             name + " promises that nothing above its maximum is needed", at_root.max, max,
             b.where);
    }
    i = {b.min, max};
  }
}

void Surveyor::assume(Expr condition, const std::string &func, int dimension, std::string text,
                      Expr actual, Expr wanted, SourceLocation where) {
  condition = simplify(condition);
  if (is_true(condition)) return;
  for (const Assumption &a : out_.assumptions) {
    if (equal(a.condition, condition)) return;
  }
  out_.assumptions.push_back(
      {condition, func, dimension, std::move(text), simplify(actual), simplify(wanted), where});
}

void Surveyor::include_own_updates(int f, std::vector<Interval> &box) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  for (size_t s = 1; s < def.stages.size(); s++) {
    const StageDef &stage = def.stages[s];
    auto range_of = [&](const VariableNode &v) -> std::optional<Interval> {
      if (v.kind == VariableKind::Pure) {
        const auto at = std::find(def.args.begin(), def.args.end(), v.name);
        return box[at - def.args.begin()];
      }
      if (v.kind == VariableKind::Reduction) {
        for (const ReductionVariable &r : stage.rvars) {
          if (r.var == v.name) {
            return Interval{r.min, sum(sum(r.min, r.extent), -1)};
          }
        }
      }
      return std::nullopt;
    };
    Bounder whole(range_of);
    Bounder bounder([&](const VariableNode &v) {
      std::optional<Interval> i = range_of(v);
      if (!i) return i;
      const Interval limits = limits_of(stage.predicate, v.name);
      const Expr low = limits.min.defined() ? whole(limits.min).min : Expr();
      const Expr high = limits.max.defined() ? whole(limits.max).max : Expr();
      if (low.defined()) i->min = larger(i->min, low);
      if (high.defined()) i->max = smaller(i->max, high);
      return i;
    });
    std::vector<std::vector<Expr>> cells;
    for (const CellWrite &w : cell_writes(stage)) cells.push_back(w.cell);
    for_each_call(stage, [&](const CallNode &c) {
      if (c.kind == CallKind::Func && c.name == def.name) cells.push_back(c.args);
    });
    for (const auto &cell : cells) {
      for (int d = 0; d < def.dimensions(); d++) {
        const VariableNode *v = as_variable(cell[d]);
        if (v && v->kind == VariableKind::Pure && v->name == def.args[d]) continue;
        const Interval i = bounder(cell[d]);
        if (!i.min.defined() || !i.max.defined()) {
          user_error("update " + std::to_string(s - 1) + " of '" + def.name +
                         "' touches an unbounded region in dimension " + std::to_string(d) + " (" +
                         def.args[d] + ")",
                     "the index comes from data, and nothing limits its values",
                     "clamp the index, as in " + def.name + "(clamp(i, 0, n - 1))", stage.where);
        }
        if (tree_.algorithm.is_output(def.name)) {
          auto &t = touched_[f][d];
          t = t.min.defined() ? hull(t, i) : i;
        } else {
          box[d] = hull(box[d], i);
        }
      }
    }
  }
}

ExtentNeed Surveyor::need_of(const StageNest &nest, const std::string &dim) const {
  ExtentNeed need;
  for (const Derivation &d : nest.derivations) {
    if (d.kind != Derivation::Split || d.a != dim) continue;
    const ExtentNeed outer = need_of(nest, d.b);
    need.origin = outer.origin;
    const auto k = constant(d.factor);
    if (!k) {
      if (d.tail == TailStrategy::RoundUp) need.symbolic_multiple = d.factor, need.origin = &d;
      if (d.tail == TailStrategy::ShiftInwards) {
        need.symbolic_at_least = d.factor, need.origin = &d;
      }
      return need;
    }
    need.at_least = (outer.at_least - 1) * *k + 1;
    if (outer.multiple > 1) need.multiple = outer.multiple * *k;
    if (d.tail == TailStrategy::RoundUp) {
      need.multiple = std::max(need.multiple, *k), need.origin = &d;
    }
    if (d.tail == TailStrategy::ShiftInwards) {
      need.at_least = std::max(need.at_least, *k), need.origin = &d;
    }
    return need;
  }
  return need;
}

void Surveyor::apply_needs(int f, int d, Interval &i, bool output) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  int64_t at_least = 1, multiple = 1;
  for (size_t s = 0; s < def.stages.size(); s++) {
    const ExtentNeed n = need_of(tree_.nests[f][s], def.args[d]);
    if (n.symbolic_multiple.defined()) {
      const Expr e = extent_of({i.min, i.max});
      const Expr rounded =
          make_binary(Op::Mul, ceil_div(e, n.symbolic_multiple), n.symbolic_multiple);
      i.max = sum(i.min, sum(rounded, -1));
    }
    if (n.symbolic_at_least.defined()) {
      if (output) {
        assume_extent(f, d, n.symbolic_at_least, *n.origin);
      } else {
        i.max = larger(i.max, sum(sum(i.min, n.symbolic_at_least), -1));
      }
    }
    if (output && n.at_least > 1) {
      assume_extent(f, d, make_int(Int(32), n.at_least), *n.origin);
    }
    at_least = std::max(at_least, n.at_least);
    multiple = std::lcm(multiple, n.multiple);
  }
  if (!output && at_least > 1) {
    const Expr e = extent_of({i.min, i.max});
    const auto k = constant(e);
    if (!k) i.max = larger(i.max, sum(i.min, at_least - 1));
    if (k && *k < at_least) i.max = sum(i.min, at_least - 1);
  }
  if (multiple > 1) {
    const Expr e = extent_of({i.min, i.max});
    const auto k = constant(e);
    if (!k) {
      i.max = sum(i.min, sum(product(ceil_div(e, make_int(Int(32), multiple)), multiple), -1));
    } else {
      i.max = sum(i.min, (*k + multiple - 1) / multiple * multiple - 1);
    }
  }
}

void Surveyor::assume_extent(int f, int d, const Expr &least, const Derivation &split) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  const Expr extent = buffer_field(def.buffer_name(0), "extent", d);
  assume(make_binary(Op::Ge, extent, least), def.name, d,
         "a split of '" + def.args[d] +
             "' with tail ShiftInwards needs an extent of at least its factor (GuardWithIf "
             "needs no such thing)",
         extent, least, split.where);
}

void Surveyor::name_box(int f, std::vector<Interval> &box, int scope) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  FuncSurvey &fs = out_.funcs[f];
  for (int d = 0; d < def.dimensions(); d++) {
    const auto width = constant_difference(box[d].max, box[d].min);
    const std::string suffix = "." + std::to_string(d);
    Expr min = name_end(scope, def.name + ".lo" + suffix, box[d].min);
    Expr max = width ? sum(min, *width) : name_end(scope, def.name + ".hi" + suffix, box[d].max);
    fs.needed.push_back({min, max});
  }
}

Expr Surveyor::name_end(int scope, const std::string &name, const Expr &e) {
  const Expr simple = simplify(e);
  const Linear l = to_linear(simple);
  bool affine = l.terms.size() <= 3;
  for (const auto &[atom, c] : l.terms) affine = affine && as_variable(atom);
  return affine ? simple : add_symbol(scope, name, simple);
}

}  // namespace polyhalite
