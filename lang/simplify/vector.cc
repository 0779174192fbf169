// Ramps, broadcasts and shuffles.
#include <algorithm>
#include <vector>

#include "lang/simplify/simplifier.h"

namespace polyhalite {

namespace {

// A vector whose lane i is base + i*stride, of scalars; `stride` is undefined for a broadcast.
struct Lanes {
  Expr base, stride;
};

std::optional<Lanes> as_lanes(const Expr &e) {
  if ((e->op != Op::Ramp && e->op != Op::Broadcast) || !e->args[0].type().is_scalar()) return {};
  return Lanes{e->args[0], e->op == Op::Ramp ? e->args[1] : Expr()};
}

}  // namespace

Expr uniform_value(const Expr &e) {
  if (e.type().is_scalar()) return e;
  return e->op == Op::Broadcast ? uniform_value(e->args[0]) : Expr();
}

Expr Simplifier::ramp(const Expr &base, const Expr &stride, int lanes) {
  if (lanes == 1) return base;
  if (is_zero(stride) && !stride.type().is_float()) return broadcast(base, lanes);
  // Rows that follow each other: ramp(ramp(x, 1, 4), broadcast(4, 4), n)  ->  ramp(x, 1, 4*n)
  int64_t inner = 0, outer = 0;
  if (base->op == Op::Ramp && base->args[0].type().is_scalar() && base.type().is_affine() &&
      is_const_int(base->args[1], &inner) && stride->op == Op::Broadcast &&
      is_const_int(uniform_value(stride), &outer) && outer == inner * base.type().lanes()) {
    return ramp(base->args[0], base->args[1], base.type().lanes() * lanes);
  }
  return intern(make_ramp(base, stride, lanes));
}

Expr Simplifier::broadcast(const Expr &value, int lanes) {
  if (lanes == 1) return value;
  if (value->op == Op::Broadcast) {
    const int inner = value.type().lanes() / value->args[0].type().lanes();
    return broadcast(value->args[0], inner * lanes);
  }
  return intern(make_broadcast(value, lanes));
}

// Of ramps whose first rows are vectors, with others of as many rows, and with one row or one value
// for all.
Expr Simplifier::binary_of_rows(Op op, const Expr &a, const Expr &b) {
  const auto rows = [](const Expr &e) {
    const bool are = e->op == Op::Ramp && e->args[0].type().is_vector();
    return are ? e->args[0].type().lanes() : 0;
  };
  const int length = std::max(rows(a), rows(b)), lanes = a.type().lanes();
  if (length == 0 || !a.type().is_int_or_uint()) return Expr();
  const auto first = [&](const Expr &e) {
    if (rows(e) == length) return e->args[0];
    if (e->op == Op::Broadcast && e->args[0].type().lanes() == length) return e->args[0];
    const Expr value = e->op == Op::Broadcast ? uniform_value(e) : Expr();
    return value.defined() ? broadcast(value, length) : Expr();
  };
  const auto step = [&](const Expr &e) {
    if (rows(e) == length) return e->args[1];
    return broadcast(constant(e.type().element_of(), 0), length);
  };
  const Expr x = first(a), y = first(b);
  if (!x.defined() || !y.defined()) return Expr();
  if (op == Op::Add || op == Op::Sub)
    return ramp(binary(op, x, y), binary(op, step(a), step(b)), lanes / length);
  if (op != Op::Mul || rows(a) == rows(b)) return Expr();
  const Expr by = rows(a) == 0 ? binary(op, x, step(b)) : binary(op, step(a), y);
  return ramp(binary(op, x, y), by, lanes / length);
}

Expr Simplifier::binary_of_vectors(Op op, const Expr &a, const Expr &b) {
  const int lanes = a.type().lanes();
  if (const Expr rows = binary_of_rows(op, a, b); rows.defined()) return rows;
  if (a->op == Op::Broadcast && b->op == Op::Broadcast && a->args[0].type() == b->args[0].type()) {
    return broadcast(binary(op, a->args[0], b->args[0]), lanes / a->args[0].type().lanes());
  }
  const Type t = a.type();
  const auto x = as_lanes(a), y = as_lanes(b);
  if (!x || !y || !t.is_int_or_uint()) return Expr();
  const Expr none = constant(t.element_of(), 0);
  const Expr stride_x = x->stride.defined() ? x->stride : none;
  const Expr stride_y = y->stride.defined() ? y->stride : none;
  switch (op) {
    case Op::Add:
    case Op::Sub:
      return ramp(binary(op, x->base, y->base), binary(op, stride_x, stride_y), lanes);
    case Op::Mul:
      if (x->stride.defined() && y->stride.defined()) return Expr();
      if (x->stride.defined()) {
        return ramp(binary(op, x->base, y->base), binary(op, x->stride, y->base), lanes);
      }
      return ramp(binary(op, x->base, y->base), binary(op, x->base, y->stride), lanes);
    case Op::Min:
    case Op::Max:
      // Lanes that wrap would change their order.
      if (!t.is_affine() || !equal(stride_x, stride_y)) return Expr();
      return ramp(binary(op, x->base, y->base), stride_x, lanes);
    default:
      if (!is_comparison(op) || !t.is_affine() || !equal(stride_x, stride_y)) return Expr();
      return broadcast(binary(op, x->base, y->base), lanes);
  }
}

Expr Simplifier::shuffle(const Expr &e, std::vector<Expr> args) {
  std::vector<int> indices = as_shuffle(e)->indices;
  const int count = static_cast<int>(indices.size());
  // Operands that no lane comes from go.
  std::vector<Expr> used;
  std::vector<int> start;  // of each used operand among the lanes of all
  int first = 0;
  for (const Expr &a : args) {
    const int next = first + a.type().lanes();
    bool any = false;
    for (const int i : indices) any |= i >= first && i < next;
    if (any) {
      used.push_back(a);
      start.push_back(first);
    }
    first = next;
  }
  int moved_to = 0;
  std::vector<int> moved = indices;
  for (size_t k = 0; k < used.size(); k++) {
    const int lanes = used[k].type().lanes();
    for (int i = 0; i < count; i++) {
      if (indices[i] >= start[k] && indices[i] < start[k] + lanes) {
        moved[i] = indices[i] - start[k] + moved_to;
      }
    }
    moved_to += lanes;
  }
  auto build = [&] { return intern(Expr(std::make_shared<ShuffleNode>(used, moved))); };
  if (used.size() != 1) return build();

  const Expr a = used[0];
  bool is_identity = count == a.type().lanes();
  bool is_regular = true;
  const int step = count > 1 ? moved[1] - moved[0] : 0;
  for (int i = 0; i < count; i++) {
    is_identity = is_identity && moved[i] == i;
    is_regular = is_regular && moved[i] == moved[0] + i * step;
  }
  if (is_identity) return a;
  const Expr value = uniform_value(a);
  if (value.defined()) return broadcast(value, count);
  if (const ShuffleNode *inner = as_shuffle(a)) {
    for (int &i : moved) i = inner->indices[i];
    used = inner->args;
    return shuffle(build(), inner->args);
  }
  if (const auto lanes = as_lanes(a); lanes && is_regular && a.type().is_int_or_uint()) {
    const Expr from = binary(Op::Mul, lanes->stride, constant(lanes->base.type(), moved[0]));
    const Expr stride = binary(Op::Mul, lanes->stride, constant(lanes->base.type(), step));
    return ramp(binary(Op::Add, lanes->base, from), stride, count);
  }
  // Each lane several times: rows of one value.
  const int each = count / a.type().lanes();
  bool repeats = a->op == Op::Ramp && a->args[0].type().is_scalar() && each > 1 &&
                 count % a.type().lanes() == 0;
  for (int i = 0; i < count; i++) repeats = repeats && moved[i] == i / each;
  if (repeats) {
    return ramp(broadcast(a->args[0], each), broadcast(a->args[1], each), a.type().lanes());
  }
  return build();
}

}  // namespace polyhalite
