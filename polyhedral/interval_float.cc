// Bounder for floats. Every operation here keeps or turns the order of its operand, and rounding
// keeps it too, so that ends come out of the same operations on the operands' ends:
//
//   floor(float(x) * 22.5f), x in [a, b]   ->   [floor(float(a) * 22.5f), floor(float(b) * 22.5f)]
//
// NaNs have no order; see the constructor with values.
#include <algorithm>
#include <iterator>

#include "lang/ir/intrinsics.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/interval.h"

namespace polyhalite {

namespace {

// Functions that never fall.
constexpr const char *kRising[] = {"floor", "ceil", "round", "trunc", "sqrt",  "exp", "log",
                                   "asin",  "atan", "sinh",  "tanh",  "asinh", "erf"};

Expr folded(Op op, const Expr &a, const Expr &b) {
  if (!a.defined() || !b.defined()) return Expr();
  return equal(a, b) && (op == Op::Min || op == Op::Max) ? a : simplify(make_binary(op, a, b));
}

Expr either(Op op, const Expr &a, const Expr &b) {
  if (!a.defined()) return b;
  return b.defined() ? folded(op, a, b) : a;
}

Expr negated(const Expr &a) { return folded(Op::Sub, make_zero(a.type()), a); }

}  // namespace

Interval Bounder::bound_float_product(const Expr &a, const Expr &b, Op op) {
  const Interval x = bound(a), y = bound(b);
  double k = 0;
  auto by = [&](const Interval &i, const Expr &factor) -> Interval {
    auto times = [&](const Expr &e) { return e.defined() ? folded(op, e, factor) : e; };
    const Interval r{times(i.min), times(i.max)};
    if (!is_const_float(factor, &k))
      return {folded(Op::Min, r.min, r.max), folded(Op::Max, r.min, r.max)};
    if (k == 0) return op == Op::Mul ? Interval{factor, factor} : Interval();
    return k > 0 ? r : Interval{r.max, r.min};
  };
  if (y.is_point()) return by(x, y.min);
  if (op == Op::Mul && x.is_point()) return by(y, x.min);
  if (op == Op::Div) {
    // A divisor that may be 0 or change its sign gives anything.
    double low = 0, high = 0;
    const bool positive = y.min.defined() && is_const_float(y.min, &low) && low > 0;
    const bool negative = y.max.defined() && is_const_float(y.max, &high) && high < 0;
    if (!positive && !negative) return {};
  }
  Interval r;
  for (const Expr &p : {x.min, x.max}) {
    for (const Expr &q : {y.min, y.max}) {
      const Expr end = folded(op, p, q);
      if (!end.defined()) return {};
      r.min = either(Op::Min, r.min, end);
      r.max = either(Op::Max, r.max, end);
    }
  }
  return r;
}

Interval Bounder::bound_float_call(const CallNode &call) {
  if (call.kind == CallKind::Func) {
    const Interval i = value_of_(call);
    return {i.min, i.max};
  }
  if (call.kind == CallKind::Intrinsic && call.name == intrinsic::kStrictFloat) {
    return bound(call.args[0]);
  }
  if (call.kind == CallKind::Intrinsic && call.name == intrinsic::kAbs) {
    const Interval i = bound(call.args[0]);
    const Expr zero = make_zero(call.type);
    if (!i.min.defined() || !i.max.defined()) return {zero, Expr()};
    const Expr low = folded(Op::Max, i.min, negated(i.max));
    return {folded(Op::Max, low, zero), folded(Op::Max, i.max, negated(i.min))};
  }
  if (call.kind != CallKind::Math) return {};
  if (call.name == "sin" || call.name == "cos") {
    return {make_float(call.type, -1), make_float(call.type, 1)};
  }
  const bool rises = std::any_of(std::begin(kRising), std::end(kRising),
                                 [&](const char *name) { return call.name == name; });
  if (!rises) return {};
  const Interval i = bound(call.args[0]);
  auto at = [&](const Expr &e) {
    return e.defined() ? simplify(make_math(call.type, call.name, {e})) : e;
  };
  return {at(i.min), at(i.max)};
}

Interval Bounder::bound_float(const Expr &e) {
  const Type t = e.type();
  if (t.is_bfloat() || t.bits() < 32 || !t.is_scalar()) return {};
  switch (e->op) {
    case Op::FloatImm:
      return {e, e};
    case Op::Cast: {
      const Type from = e->args[0].type();
      if (from.is_bool() || (from.is_float() && (from.is_bfloat() || from.bits() < 32))) return {};
      const Interval i = bound(e->args[0]);
      auto cast = [&](const Expr &x) { return x.defined() ? simplify(make_cast(t, x)) : x; };
      return {cast(i.min), cast(i.max)};
    }
    case Op::Add:
    case Op::Sub: {
      const Interval a = bound(e->args[0]), b = bound(e->args[1]);
      if (e->op == Op::Add) return {folded(Op::Add, a.min, b.min), folded(Op::Add, a.max, b.max)};
      return {folded(Op::Sub, a.min, b.max), folded(Op::Sub, a.max, b.min)};
    }
    case Op::Mul:
    case Op::Div:
      return bound_float_product(e->args[0], e->args[1], e->op);
    case Op::Min:
    case Op::Max: {
      const Interval a = bound(e->args[0]), b = bound(e->args[1]);
      if (e->op == Op::Min) return {folded(Op::Min, a.min, b.min), either(Op::Min, a.max, b.max)};
      return {either(Op::Max, a.min, b.min), folded(Op::Max, a.max, b.max)};
    }
    case Op::Select: {
      const Interval a = bound(e->args[1]), b = bound(e->args[2]);
      return {folded(Op::Min, a.min, b.min), folded(Op::Max, a.max, b.max)};
    }
    case Op::Call:
      return bound_float_call(*as_call(e));
    default:
      return {};
  }
}

}  // namespace polyhalite
