#include "codegen/passes/product_operands.h"

#include <functional>

#include "codegen/passes/lanes.h"
#include "codegen/passes/widen_expr.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

Expr at(const ProductLoop &loop, int i) {
  return simplify(make_binary(Op::Add, loop.min, Expr(i)));
}

// Does the index grow by expected(i) from the first iteration of a loop to the i-th one?
bool grows_as(const Expr &index, const ProductLoop &loop,
              const std::function<Expr(int)> &expected) {
  const Expr first = substitute(loop.counter, at(loop, 0), index);
  for (int i = 1; i < loop.extent; i++) {
    const Expr grown = make_binary(Op::Sub, substitute(loop.counter, at(loop, i), index), first);
    if (!is_zero(simplify(make_binary(Op::Sub, grown, expected(i))))) return false;
  }
  return true;
}

// What one step of a loop adds to the index, `steps` of its iterations being one.
Expr step_of(const Expr &index, const ProductLoop &loop, int steps) {
  return simplify(make_binary(Op::Sub, substitute(loop.counter, at(loop, steps), index),
                              substitute(loop.counter, at(loop, 0), index)));
}

Expr times(const Expr &stride, int i) {
  return make_binary(Op::Mul, stride, make_int(stride.type(), i));
}

}  // namespace

InLanes in_lanes(const Expr &e, const std::vector<ProductLoop> &loops, const Expr &mask) {
  InLanes lanes{e};
  for (size_t i = 0; i < loops.size(); i++) {
    const ProductLoop &l = loops[i];
    VectorLoop loop;
    loop.n = l.extent;
    loop.varying[l.counter] = make_ramp(l.min, make_one(l.min.type()), l.extent);
    if (i == 0) loop.mask = mask;
    WidenExpr widen(loop);
    lanes.value = widen.widened(lanes.value);
    if (!widen.possible()) return {};
    lanes.has_uniform_load |= i == 0 && widen.has_uniform_load();
    // Iterations that take no part have the value 0.
    if (i == 0 && mask.defined()) {
      lanes.value = make_select(mask, lanes.value, make_zero(lanes.value.type()));
    }
  }
  return lanes;
}

std::optional<MemoryRows> rows_of(const Expr &index, const ProductLoop &row,
                                  const ProductLoop &column) {
  const Expr stride = substitute(column.counter, at(column, 0), step_of(index, row, 1));
  const bool dense = grows_as(index, column, [&](int i) { return make_int(index.type(), i); }) &&
                     grows_as(index, row, [&](int i) { return times(stride, i); });
  if (!dense) return std::nullopt;
  const Expr first =
      substitute({{row.counter, at(row, 0)}, {column.counter, at(column, 0)}}, index);
  return MemoryRows{simplify(first), stride};
}

std::optional<MemoryRows> interleaved_rows_of(const Expr &index, const ProductLoop &column,
                                              const ProductLoop &term, int group) {
  const Expr stride = substitute(column.counter, at(column, 0), step_of(index, term, group));
  const bool interleaved =
      grows_as(index, term,
               [&](int i) {
                 return make_binary(Op::Add, times(stride, i / group),
                                    make_int(index.type(), i % group));
               }) &&
      grows_as(index, column, [&](int i) { return make_int(index.type(), i * group); });
  if (!interleaved) return std::nullopt;
  const Expr first =
      substitute({{term.counter, at(term, 0)}, {column.counter, at(column, 0)}}, index);
  return MemoryRows{simplify(first), stride};
}

Expr index_of_rows(const MemoryRows &rows, int count, int columns) {
  const Expr row = make_ramp(rows.first, make_one(rows.first.type()), columns);
  return lane_ramp(row, make_broadcast(rows.stride, columns), count);
}

Expr groups_repeated(const Expr &e, int group, int times) {
  auto repeated = [&](const Expr &part) { return groups_repeated(part, group, times); };
  const int lanes = e.type().lanes();
  if (e->op == Op::Not) return make_not(repeated(e->args[0]));
  if (is_comparison(e->op) || e->op == Op::And || e->op == Op::Or) {
    return make_binary(e->op, repeated(e->args[0]), repeated(e->args[1]));
  }
  const bool has_scalar = !e->args.empty() && e->args[0].type().is_scalar();
  if (e->op == Op::Broadcast && has_scalar) return make_broadcast(e->args[0], lanes * times);
  if (e->op == Op::Ramp && has_scalar && lanes > group) {
    const Expr &stride = e->args[1];
    const Expr first = make_broadcast(make_ramp(e->args[0], stride, group), times);
    const Expr step = simplify(make_binary(Op::Mul, stride, make_int(stride.type(), group)));
    return make_ramp(first, make_broadcast(step, group * times), lanes / group);
  }
  return repeat_groups(e, group, times);
}

}  // namespace polyhalite
