// Reductions, positions of extrema, running sums, the k largest.
#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "polyhalite/operators.h"
#include "polyhalite/tuple.h"

namespace polyhalite::ops {

namespace {

// The axes of a reduction, and where each kept dimension lies in the result.
struct Plan {
  std::vector<int> axes, kept;
  std::vector<int> place;  // of kept[i] in the result
  Index shape;

  Plan(const Tensor &x, const std::vector<int> &reduced, bool keep_axes)
      : axes(normal_axes(reduced, x.rank())) {
    for (int d = 0; d < x.rank(); d++) {
      const bool is_reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
      if (is_reduced) {
        if (keep_axes) shape.emplace_back(1);
        continue;
      }
      kept.push_back(d);
      place.push_back(static_cast<int>(shape.size()));
      shape.push_back(x.size(d));
    }
  }
  // Innermost first: the last axis.
  Region domain(const Tensor &x) const {
    Region r;
    for (size_t i = axes.size(); i-- > 0;) {
      // Of an open size that is 0 one element is asked for, and not taken.
      const Expr n = x.size(axes[i]);
      r.emplace_back(Expr(0), constant(n) ? n : max(n, 1));
    }
    return r;
  }
  // Is there an element? Undefined: sizes say so.
  Expr has_some(const Tensor &x) const {
    Expr some;
    for (int a : axes) {
      if (constant(x.size(a))) continue;
      const Expr one = x.size(a) > 0;
      some = some.defined() ? some && one : one;
    }
    return some;
  }
  // A point of x for a point of the kept dimensions and of the domain.
  Index point(const Tensor &x, const Index &kept_index, const RDom &r) const {
    Index at(static_cast<size_t>(x.rank()));
    for (size_t i = 0; i < kept.size(); i++) at[static_cast<size_t>(kept[i])] = kept_index[i];
    for (size_t i = 0; i < axes.size(); i++) {
      at[static_cast<size_t>(axes[i])] = r[static_cast<int>(axes.size() - 1 - i)];
    }
    return at;
  }
  // The stages that x is made of: beside the result's points where they depend on kept dimensions
  // only.
  std::vector<Stage> stages(const Tensor &x) const {
    std::vector<Stage> out;
    for (const Stage &s : x.stages()) {
      std::vector<int> dims;
      for (int d : s.dims) {
        const auto at = std::find(kept.begin(), kept.end(), d);
        if (d >= 0 && at == kept.end()) {
          dims.clear();
          break;
        }
        dims.push_back(d < 0 ? d : place[static_cast<size_t>(at - kept.begin())]);
      }
      add_stage(&out, s, dims.size() == s.dims.size() ? dims : std::vector<int>());
    }
    return out;
  }
  Stage stage(const Tensor &x) const {
    Stage s;
    s.kind = Stage::Reduce;
    for (size_t i = kept.size(); i-- > 0;) {
      s.extents.push_back(x.size(kept[i]));
      s.dims.push_back(place[i]);
    }
    return s;
  }
  // Reads f, whose arguments are the kept dimensions.
  Tensor result(const Tensor &x, Type type, const Stage &own,
                const std::function<Expr(const std::vector<Expr> &)> &value) const {
    std::vector<Stage> all = stages(x);
    all.push_back(own);
    const std::vector<int> at = place;
    return Tensor(
        type, shape,
        [at, value](const Index &index) {
          std::vector<Expr> args;
          for (size_t i = at.size(); i-- > 0;) args.push_back(index[static_cast<size_t>(at[i])]);
          return value(args);
        },
        all);
  }
};

Expr identity(Reduction how, Type t) {
  switch (how) {
    case Reduction::Max:
      return t.min();
    case Reduction::Min:
      return t.max();
    case Reduction::Product:
      return cast(t, Expr(1));
    default:
      return cast(t, Expr(0));
  }
}

// What is added up for one value.
Expr term(Reduction how, const Expr &v) {
  if (how == Reduction::SumSquare || how == Reduction::L2) return v * v;
  if (how == Reduction::L1) return cast(v.type(), abs(v));
  return v;
}

Tensor finished(const Tensor &total, Reduction how, const Expr &count) {
  switch (how) {
    case Reduction::Mean:
      return divide(total, Tensor(cast(total.type(), count)));
    case Reduction::L2:
      return elementwise(total, [](Expr v) { return cast(v.type(), sqrt(v)); });
    case Reduction::LogSum:
      return elementwise(total, [](Expr v) { return cast(v.type(), log(v)); });
    default:
      return total;
  }
}

// An update runs over the domain that it mentions: a value that is the same everywhere has to.
Expr within(const RDom &r, const Expr &value, const Expr &otherwise) {
  bool mentioned = false;
  for_each_node(value, [&](const Expr &e) {
    const VariableNode *v = as_variable(e);
    mentioned = mentioned || (v && v->domain == r.domain());
  });
  return mentioned ? value : select(Expr(r[0]) >= 0, value, otherwise);
}

Tensor accumulate(const Tensor &x, Reduction how, const std::vector<int> &axes, bool keep_axes) {
  const Plan plan(x, axes, keep_axes);
  if (plan.axes.empty()) {
    return elementwise(x, [how](Expr v) { return term(how, v); });
  }
  const std::vector<Var> vars = index_vars(static_cast<int>(plan.kept.size()));
  Func f(how == Reduction::Max ? "largest" : how == Reduction::Min ? "smallest" : "total");
  RDom r(plan.domain(x), "r");
  const Expr start = identity(how, x.type());
  const Expr of_point = term(how, x(plan.point(x, as_index(vars), r)));
  const Expr some = plan.has_some(x);
  const Expr value = within(r, some.defined() ? select(some, of_point, start) : of_point, start);
  const std::vector<Var> args = reversed(vars);
  f(args) = start;
  switch (how) {
    case Reduction::Max:
      f(args) = max(f(args), value);
      break;
    case Reduction::Min:
      f(args) = min(f(args), value);
      break;
    case Reduction::Product:
      f(args) *= value;
      break;
    default:
      f(args) += value;
  }
  Stage own = plan.stage(x);
  own.func = f;
  for (int d = 0; d < r.dimensions(); d++) own.rvars.push_back(r[d]);
  return plan.result(x, x.type(), own, [f](const std::vector<Expr> &at) -> Expr { return f(at); });
}

}  // namespace

Tensor reduce(const Tensor &x, Reduction how, const std::vector<int> &axes, bool keep_axes) {
  if (x.type().is_bool()) {
    return convert(reduce(convert(x, UInt(8)), how, axes, keep_axes), Bool());
  }
  if (x.type() != computed_type(x.type())) {
    return convert(reduce(convert(x, computed_type(x.type())), how, axes, keep_axes), x.type());
  }
  if (how == Reduction::LogSumExp) {
    const Tensor peak = stored(accumulate(x, Reduction::Max, axes, true), "peak");
    // Stored, so that the sum's terms are free of the test, whose order of operations is fixed.
    const Tensor finite = stored(
        elementwise(peak, [](Expr v) { return select(is_finite(v), v, cast(v.type(), Expr(0))); }),
        "finite");
    // None is larger than a finite peak. An infinite one is the result, whatever the terms are.
    const Tensor scaled = elementwise({x, finite}, x.type(), [](const std::vector<Expr> &v) {
      const Expr below = v[0] - v[1], zero = cast(v[0].type(), Expr(0));
      return exp_of_nonpositive(select(below > zero, zero, below));
    });
    const Tensor total = accumulate(scaled, Reduction::Sum, axes, true);
    const Tensor result = elementwise({total, peak}, x.type(),
                                      [](const std::vector<Expr> &v) { return log(v[0]) + v[1]; });
    return keep_axes ? result : reshape(result, Plan(x, axes, false).shape);
  }
  Expr count = 1;
  for (int a : normal_axes(axes, x.rank())) count = count * x.size(a);
  return finished(accumulate(x, how, axes, keep_axes), how, count);
}

Tensor place_where(const Tensor &holds, bool last) {
  const int axis = holds.rank() - 1;
  const Expr n = holds.size(axis);
  const Tensor places(Int(32), {n}, [](const Index &at) { return at[0]; });
  const Tensor seen = elementwise({holds, places}, Int(32), [n, last](const std::vector<Expr> &v) {
    return select(v[0], v[1], last ? Expr(-1) : n);
  });
  return reduce(seen, last ? Reduction::Max : Reduction::Min, {axis}, /*keep_axes=*/true);
}

namespace {

// Of rows that lie side by side: the extremum first, then where it stands, both in vectors. Where
// no element equals it, as where it is not a number, the first one.
Tensor arg_reduce_rows(const Tensor &given, bool largest, bool keep_axis, bool last) {
  const Tensor x = given.stages().empty() ? given : stored(given, "elements");
  const int axis = x.rank() - 1;
  const Tensor peak =
      reduce(x, largest ? Reduction::Max : Reduction::Min, {axis}, /*keep_axes=*/true);
  const Tensor found = place_where(
      elementwise({x, peak}, Bool(), [](const std::vector<Expr> &v) { return v[0] == v[1]; }),
      last);
  const Expr none = last ? Expr(-1) : x.size(axis);
  const Tensor place = elementwise({found}, Int(64), [none](const std::vector<Expr> &v) {
    return cast<int64_t>(select(v[0] == none, 0, v[0]));
  });
  return keep_axis ? place : reshape(place, Index(x.shape().begin(), x.shape().end() - 1));
}

}  // namespace

Tensor arg_reduce(const Tensor &x, bool largest, int axis, bool keep_axis, bool last) {
  const Plan plan(x, {axis}, keep_axis);
  constexpr int64_t kLongRow = 32;
  if (plan.axes[0] == x.rank() - 1 && constant(x.size(-1)).value_or(kLongRow) >= kLongRow)
    return arg_reduce_rows(x, largest, keep_axis, last);
  const std::vector<Var> vars = index_vars(static_cast<int>(plan.kept.size()));
  const std::vector<Var> args = reversed(vars);
  const Type type = computed_type(x.type());
  Func f("best");
  Index first(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i < plan.kept.size(); i++) first[static_cast<size_t>(plan.kept[i])] = vars[i];
  first[static_cast<size_t>(plan.axes[0])] = 0;
  f(args) = Tuple(Expr(0), cast(type, x(first)));
  RDom r(1, max(x.size(plan.axes[0]) - 1, 0), "r");
  const Expr v = cast(type, x(plan.point(x, as_index(vars), r)));
  const Expr best = f(args)[1], position = f(args)[0];
  const Expr better = largest ? (last ? v >= best : v > best) : (last ? v <= best : v < best);
  f(args) = Tuple(select(better, Expr(r), position), select(better, v, best));
  Stage own = plan.stage(x);
  own.func = f;
  return plan.result(x, Int(64), own,
                     [f](const std::vector<Expr> &at) { return cast<int64_t>(f(at)[0]); });
}

Tensor cumulate(const Tensor &x, int axis, bool product, bool exclusive, bool reverse) {
  const size_t a = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
  const Type type = computed_type(x.type());
  const Expr n = x.shape()[a];
  auto mirrored = [a, n, reverse](Index index) {
    if (reverse) index[a] = n - 1 - index[a];
    return index;
  };
  const std::vector<Var> vars = index_vars(x.rank());
  // Each place is written once.
  Func f("running");
  f(reversed(vars)) = undef(type);
  Index here = as_index(vars), before = as_index(vars), from = as_index(vars);
  here[a] = 0;
  f(reversed(here)) = exclusive ? cast(type, Expr(product ? 1 : 0)) : cast(type, x(mirrored(here)));
  RDom r(1, max(n - 1, 0), "r");
  here[a] = r;
  before[a] = r - 1;
  from[a] = exclusive ? Expr(r) - 1 : Expr(r);
  const Expr value = cast(type, x(mirrored(from)));
  const Expr so_far = f(reversed(before));
  f(reversed(here)) = product ? so_far * value : so_far + value;
  Stage own;
  own.kind = Stage::InPlace;
  own.func = f;
  own.extents = reversed(x.shape());
  std::vector<Stage> stages = merged_stages({x});
  stages.push_back(own);
  return Tensor(
      x.type(), x.shape(),
      [f, mirrored, to = x.type()](const Index &index) {
        const Expr v = f(reversed(mirrored(index)));
        return v.type() == to ? v : cast(to, v);
      },
      stages);
}

}  // namespace polyhalite::ops
