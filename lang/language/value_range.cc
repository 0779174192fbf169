#include "lang/language/value_range.h"

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

Expr binary(Op op, const Expr &a, const Expr &b) { return simplify(make_binary(op, a, b)); }

ValueRange point(const Expr &e) { return {e, e}; }

// Of a type that few values have.
ValueRange of_type(Type t) {
  if (t.is_bool()) return {Expr(0), Expr(1)};
  if (!t.is_int_or_uint() || t.bits() > 16) return {};
  int64_t low = 0, high = 0;
  if (!is_const_int(t.min(), &low) || !is_const_int(t.max(), &high)) return {};
  return {Expr(static_cast<int>(low)), Expr(static_cast<int>(high))};
}

ValueRange of_product(const ValueRange &a, const ValueRange &b) {
  int64_t k = 0;
  if (!b.min.same_as(b.max) || !is_const_int(b.min, &k)) {
    if (a.min.same_as(a.max) && is_const_int(a.min)) return of_product(b, a);
    return a.min.same_as(a.max) && b.min.same_as(b.max) ? point(binary(Op::Mul, a.min, b.min))
                                                        : ValueRange();
  }
  const Expr low = binary(Op::Mul, a.min, b.min), high = binary(Op::Mul, a.max, b.min);
  return k >= 0 ? ValueRange{low, high} : ValueRange{high, low};
}

ValueRange of_binary(Op op, const ValueRange &a, const ValueRange &b) {
  int64_t k = 0;
  const bool by_constant = b.defined() && is_const_int(b.min, &k) && b.min.same_as(b.max) && k > 0;
  // A limit on one side is one for the result.
  if (op == Op::Min || op == Op::Max) {
    const auto end = [&](const Expr &x, const Expr &y, bool either) {
      if (x.defined() && y.defined()) return binary(op, x, y);
      return either ? (x.defined() ? x : y) : Expr();
    };
    return {end(a.min, b.min, op == Op::Max), end(a.max, b.max, op == Op::Min)};
  }
  if (op == Op::Mod)
    return by_constant ? ValueRange{Expr(0), Expr(static_cast<int>(k - 1))} : ValueRange();
  if (!a.defined() || !b.defined()) return {};
  switch (op) {
    case Op::Add:
      return {binary(Op::Add, a.min, b.min), binary(Op::Add, a.max, b.max)};
    case Op::Sub:
      return {binary(Op::Sub, a.min, b.max), binary(Op::Sub, a.max, b.min)};
    case Op::Mul:
      return of_product(a, b);
    case Op::Div:
      if (!by_constant) return {};
      return {binary(Op::Div, a.min, b.min), binary(Op::Div, a.max, b.min)};
    default:
      return {};
  }
}

}  // namespace

ValueRange hull(const ValueRange &a, const ValueRange &b) {
  if (!a.defined() || !b.defined()) return {};
  return {binary(Op::Min, a.min, b.min), binary(Op::Max, a.max, b.max)};
}

ValueRange range_of(const Expr &e, const std::map<std::string, ValueRange> &variables) {
  if (is_const_int(e)) return point(make_cast(Int(32), e));
  if (const VariableNode *v = as_variable(e)) {
    if (v->kind == VariableKind::Param || v->kind == VariableKind::BufferField) {
      return e.type() == Int(32) ? point(e) : of_type(e.type());
    }
    const auto known = variables.find(v->name);
    return known == variables.end() ? ValueRange() : known->second;
  }
  if (const Expr value = wrapped_value(e); value.defined()) return range_of(value, variables);
  if (as_intrinsic(e, intrinsic::kPromiseClamped)) {
    return {make_cast(Int(32), e->args[1]), make_cast(Int(32), e->args[2])};
  }
  const bool fits = e.type() == Int(32) || of_type(e.type()).defined();
  if (!fits) return {};
  if (e->op == Op::Cast) {
    const ValueRange inner = range_of(e->args[0], variables);
    return e.type() == Int(32) && e->args[0].type().is_int_or_uint() ? inner : of_type(e.type());
  }
  if (e->op == Op::Select) {
    return hull(range_of(e->args[1], variables), range_of(e->args[2], variables));
  }
  if (is_binary(e->op) && e.type() == Int(32)) {
    return of_binary(e->op, range_of(e->args[0], variables), range_of(e->args[1], variables));
  }
  return of_type(e.type());
}

}  // namespace polyhalite
