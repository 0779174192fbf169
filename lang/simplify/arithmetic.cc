// Sums and products.
#include <cmath>
#include <limits>

#include "lang/ir/function.h"
#include "lang/simplify/fold.h"
#include "lang/simplify/simplifier.h"

namespace polyhalite {

namespace {

bool is_negative_zero(const Expr &e) {
  double v;
  return is_const_float(e, &v) && v == 0 && std::signbit(v);
}
bool is_positive_zero(const Expr &e) {
  double v;
  return is_const_float(e, &v) && v == 0 && !std::signbit(v);
}

bool is_scalar_affine(const Expr &e) { return e.type().is_affine() && e.type().is_scalar(); }

// Does `l` have every term of c*e?
bool contains(const Linear &l, const Linear &e, int64_t c) {
  for (const auto &[atom, k] : e.terms) {
    auto it = l.terms.find(atom);
    if (it == l.terms.end() || it->second != k * c) return false;
  }
  return !e.terms.empty();
}

// Can to_expr write every coefficient, some of them with the other sign?
bool is_representable(const Linear &l) {
  auto has_negative = [&](int64_t c) {
    return fits(l.type, c) && c != std::numeric_limits<int64_t>::min() && fits(l.type, -c);
  };
  if (l.is_constant()) return fits(l.type, l.constant);
  bool all = has_negative(l.constant);
  for (const auto &[atom, c] : l.terms) all = all && has_negative(c);
  return all;
}

}  // namespace

// e/k%n*k + e%k  ->  e%(k*n)
bool Simplifier::is_any_number(const Expr &e) {
  const auto known = any_number_memo_.find(e.get());
  if (known != any_number_memo_.end()) return known->second;
  const VariableNode *v = as_variable(e);
  const CallNode *c = as_call(e);
  bool any = e->op == Op::Load || (c && c->kind != CallKind::Intrinsic) || (v && is_any_scalar(*v));
  for (const Expr &arg : e->args) any = any || is_any_number(arg);
  keep_.push_back(e);
  return any_number_memo_[e.get()] = any;
}

bool Simplifier::may_overflow(const Linear &l) {
  const bool is_atom = l.constant == 0 && l.terms.size() == 1 && l.terms.begin()->second == 1;
  if (is_atom) return false;
  bool any = false;
  for (const auto &[atom, c] : l.terms) any = any || is_any_number(atom);
  if (!any) return false;
  const ConstantBounds b = bounds_of(l);
  return !b.min || !b.max || !fits(l.type, *b.min) || !fits(l.type, *b.max);
}

bool Simplifier::join_remainders(Linear &l) {
  for (const auto &[atom, c] : l.terms) {
    int64_t n, k, product;
    const bool is_cast = atom->op == Op::Cast && atom->args[0].type() == Int(32);
    const Expr &outer = is_cast ? atom->args[0] : atom;
    if (outer->op != Op::Mod || !is_const_int(outer->args[1], &n) || n <= 0) continue;
    const Expr division = outer->args[0];
    if (division->op != Op::Div || !is_const_int(division->args[1], &k)) continue;
    if (k <= 1 || c % k != 0 || __builtin_mul_overflow(k, n, &product)) continue;
    if (!fits(outer.type(), product)) continue;
    const auto cast_too = [&](const Expr &e) { return is_cast ? cast(atom.type(), e) : e; };
    const Expr e = division->args[0];
    const auto partner = l.terms.find(cast_too(modulo(e, division->args[1])));
    if (partner == l.terms.end() || partner->second != c / k) continue;
    const Expr both = cast_too(modulo(e, constant(e.type(), product))), part = atom;
    const int64_t times = c / k;
    l.terms.erase(partner);
    l.terms.erase(part);
    l.add(to_linear(both), times);
    return true;
  }
  return false;
}

// e/k*k + e%k  ->  e          e - e/k*k  ->  e%k          also where each is cast to int64
void Simplifier::join_quotients(Linear &l) {
  for (bool changed = true; changed;) {
    changed = join_remainders(l);
    if (changed) continue;
    for (const auto &[atom, c] : l.terms) {
      int64_t k;
      const bool is_cast = atom->op == Op::Cast && atom->args[0].type() == Int(32);
      const Expr &division = is_cast ? atom->args[0] : atom;
      if (division->op != Op::Div || !is_const_int(division->args[1], &k)) continue;
      if (k <= 1 || c % k != 0) continue;
      const auto cast_too = [&](const Expr &e) { return is_cast ? cast(atom.type(), e) : e; };
      const Expr dividend = cast_too(division->args[0]);
      const int64_t times = c / k;
      const Expr remainder = cast_too(modulo(division->args[0], division->args[1]));
      auto partner = l.terms.find(remainder);
      if (partner != l.terms.end() && partner->second == times) {
        const Expr quotient = atom;
        l.terms.erase(partner);
        l.terms.erase(quotient);
        l.add(to_linear(dividend), times);
        changed = true;
        break;
      }
      const Linear whole = to_linear(dividend);
      if (contains(l, whole, -times)) {
        const Expr quotient = atom;
        l.terms.erase(quotient);
        l.add(whole, times);
        l.add(to_linear(remainder), -times);
        changed = true;
        break;
      }
    }
  }
}

// The canonical expression of `l`; `otherwise` where a coefficient leaves the type.
Expr Simplifier::from_linear(const Linear &l, const Expr &otherwise) {
  Linear joined = l;
  join_quotients(joined);
  if (is_representable(joined)) return intern(to_expr(joined));
  return intern(is_representable(l) ? to_expr(l) : otherwise);
}

Expr Simplifier::add(const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (t.is_float()) {
    // x + 0.0 is not x: it turns -0.0 into 0.0.
    if (is_negative_zero(b)) return a;
    if (is_negative_zero(a)) return b;
    return intern(make_binary(Op::Add, a, b));
  }
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  if (is_scalar_affine(a)) {
    Linear l = to_linear(a);
    return from_linear(l.add(to_linear(b)), make_binary(Op::Add, a, b));
  }
  if (is_const(a) && !is_const(b)) return add(b, a);
  if (a->op == Op::Add && is_const(a->args[1]) && is_const(b)) {
    const Expr sum = fold_binary(Op::Add, a->args[1], b);
    if (sum.defined()) return add(a->args[0], intern(sum));
  }
  // (x - y) + y  ->  x
  if (a->op == Op::Sub && equal(a->args[1], b)) return a->args[0];
  if (b->op == Op::Sub && equal(b->args[1], a)) return b->args[0];
  return intern(make_binary(Op::Add, a, b));
}

Expr Simplifier::subtract(const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (t.is_float()) {
    if (is_positive_zero(b)) return a;
    return intern(make_binary(Op::Sub, a, b));
  }
  if (is_zero(b)) return a;
  if (equal(a, b)) return constant(t, 0);
  if (is_scalar_affine(a)) {
    Linear l = to_linear(a);
    return from_linear(l.add(to_linear(b), -1), make_binary(Op::Sub, a, b));
  }
  if (is_const(b) && !t.is_bool()) {
    // Wrapping types: x - c is x + (-c), modulo 2^bits; affine vectors keep c where -c overflows.
    const Expr negative = fold_binary(Op::Sub, constant(t, 0), b);
    if (negative.defined() && a->op == Op::Add && is_const(a->args[1])) {
      return add(a, intern(negative));
    }
  }
  // (x + y) - y  ->  x
  if (a->op == Op::Add && equal(a->args[1], b)) return a->args[0];
  if (a->op == Op::Add && equal(a->args[0], b)) return a->args[1];
  return intern(make_binary(Op::Sub, a, b));
}

Expr Simplifier::multiply(const Expr &a, const Expr &b) {
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  if (a.type().is_float()) return intern(make_binary(Op::Mul, a, b));
  if (is_zero(a)) return a;
  if (is_zero(b)) return b;
  if (is_const(a) && !is_const(b)) return multiply(b, a);
  int64_t k;
  if (is_scalar_affine(a)) {
    if (is_const_int(b, &k)) {
      Linear l = to_linear(a);
      return from_linear(l.scale(k), make_binary(Op::Mul, a, b));
    }
    // (x*3)*y  ->  (x*y)*3
    for (const auto &[x, y] : {std::pair(a, b), std::pair(b, a)}) {
      if (x->op == Op::Mul && is_const_int(x->args[1], &k)) {
        return multiply(multiply(x->args[0], y), x->args[1]);
      }
    }
    if (polyhalite::compare(a, b) > 0) return intern(make_binary(Op::Mul, b, a));
    return intern(make_binary(Op::Mul, a, b));
  }
  if (a->op == Op::Mul && is_const(a->args[1]) && is_const(b)) {
    const Expr product = fold_binary(Op::Mul, a->args[1], b);
    if (product.defined()) return multiply(a->args[0], intern(product));
  }
  return intern(make_binary(Op::Mul, a, b));
}

}  // namespace polyhalite
