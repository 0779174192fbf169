// Division and remainder of integers: floor for a positive divisor, 0 for the divisor 0.
#include <algorithm>
#include <numeric>
#include <utility>

#include "lang/simplify/fold.h"
#include "lang/simplify/simplifier.h"

namespace polyhalite {

namespace {

// l = k*multiple + rest, with every term in one of both.
struct Parts {
  Linear multiple, rest;
};

Parts split_by(const Linear &l, int64_t k) {
  Parts p;
  p.multiple.type = p.rest.type = l.type;
  for (const auto &[atom, c] : l.terms) {
    const int64_t inside = c / k;
    if (inside != 0) p.multiple.terms[atom] = inside;
    if (c % k != 0) p.rest.terms[atom] = c % k;
  }
  p.multiple.constant = euclidean_div(l.constant, k);
  p.rest.constant = euclidean_mod(l.constant, k);
  return p;
}

int64_t common_divisor(const Linear &l, int64_t k) {
  int64_t g = k;
  for (const auto &[atom, c] : l.terms) g = std::gcd(g, c);
  return g;
}

Linear divided(const Linear &l, int64_t g) {
  Linear r = l;
  for (auto &[atom, c] : r.terms) c /= g;
  r.constant = euclidean_div(l.constant, g);
  return r;
}

// The single atom of l, if l is that atom plus a constant.
Expr sole_atom(const Linear &l) {
  return l.terms.size() == 1 && l.terms.begin()->second == 1 ? l.terms.begin()->first : Expr();
}

}  // namespace

Expr Simplifier::divide(const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (is_one(b)) return a;
  if (t.is_float()) return intern(make_binary(Op::Div, a, b));
  if (is_zero(a) || is_zero(b)) return constant(t, 0);
  int64_t k;
  if (!is_const_int(b, &k) || k <= 0) return intern(make_binary(Op::Div, a, b));
  const ConstantBounds range = bounds_of(a);
  if (range.min && range.max && euclidean_div(*range.min, k) == euclidean_div(*range.max, k)) {
    return constant(t, euclidean_div(*range.min, k));
  }
  if (t.is_affine() && t.is_scalar()) return divide_linear(a, k);
  if (t.is_vector()) {
    if (auto r = divide_ramp(a, k)) return *r;
  }
  return intern(make_binary(Op::Div, a, b));
}

Expr Simplifier::divide_linear(const Expr &a, int64_t k) {
  const Type t = a.type();
  const Expr plain = make_binary(Op::Div, a, constant(t, k));
  // (8*x + y)/8  ->  x + y/8
  const Parts p = split_by(to_linear(a), k);
  if (may_overflow(p.rest)) return intern(plain);
  if (!p.multiple.terms.empty() || p.multiple.constant != 0) {
    const Expr rest = from_linear(p.rest, a);
    const Expr quotient = divide(rest, constant(t, k));
    return add(from_linear(p.multiple, plain), quotient);
  }
  // (4*x + 3)/8  ->  x/2
  const int64_t g = common_divisor(p.rest, k);
  if (g > 1) return divide(from_linear(divided(p.rest, g), a), constant(t, k / g));
  // (x/4 + 1)/8  ->  (x + 4)/32
  const Expr atom = sole_atom(p.rest);
  int64_t inner;
  if (atom.defined() && atom->op == Op::Div && is_const_int(atom->args[1], &inner) && inner > 0) {
    int64_t both, offset;
    if (!__builtin_mul_overflow(inner, k, &both) && fits(t, both) &&
        !__builtin_mul_overflow(inner, p.rest.constant, &offset) && fits(t, offset) &&
        (offset == 0 || !is_any_number(atom))) {
      return divide(add(atom->args[0], constant(t, offset)), constant(t, both));
    }
  }
  return intern(plain);
}

Expr Simplifier::modulo(const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (t.is_float()) return intern(make_binary(Op::Mod, a, b));
  if (is_zero(a) || is_zero(b) || is_one(b)) return constant(t, 0);
  int64_t k;
  if (!is_const_int(b, &k) || k <= 0) return intern(make_binary(Op::Mod, a, b));
  const ConstantBounds range = bounds_of(a);
  if (range.min && range.max && *range.min >= 0 && *range.max < k) return a;
  if (t.is_affine() && t.is_scalar()) return modulo_linear(a, k);
  if (t.is_vector()) {
    if (auto r = modulo_ramp(a, k)) return *r;
  }
  return intern(make_binary(Op::Mod, a, b));
}

Expr Simplifier::modulo_linear(const Expr &a, int64_t k) {
  const Type t = a.type();
  const Expr divisor = constant(t, k);
  // (8*x + y) % 8  ->  y % 8
  const Parts p = split_by(to_linear(a), k);
  if (may_overflow(p.rest)) return intern(make_binary(Op::Mod, a, divisor));
  if (!p.multiple.terms.empty() || p.multiple.constant != 0) {
    return modulo(from_linear(p.rest, a), divisor);
  }
  // (4*x + 3) % 8  ->  (x % 2)*4 + 3
  const int64_t g = common_divisor(p.rest, k);
  if (g > 1) {
    const Expr inside = modulo(from_linear(divided(p.rest, g), a), constant(t, k / g));
    const Expr scaled = multiply(inside, constant(t, g));
    return add(scaled, constant(t, euclidean_mod(p.rest.constant, g)));
  }
  // (x % 16 + c) % 8  ->  (x + c) % 8
  const Expr atom = sole_atom(p.rest);
  int64_t inner;
  if (atom.defined() && atom->op == Op::Mod && is_const_int(atom->args[1], &inner) && inner > 0 &&
      inner % k == 0) {
    return modulo(add(atom->args[0], constant(t, p.rest.constant)), divisor);
  }
  Linear terms = p.rest;
  terms.constant = 0;
  if (divisor_of(terms) % k == 0) return constant(t, euclidean_mod(p.rest.constant, k));
  // c - x and the like: a range that lies within one period shifts into it.
  const ConstantBounds range = bounds_of(a);
  if (range.min && range.max && euclidean_div(*range.min, k) == euclidean_div(*range.max, k)) {
    int64_t shift;
    if (!__builtin_mul_overflow(euclidean_div(*range.min, k), k, &shift) && fits(t, shift)) {
      return subtract(a, constant(t, shift));
    }
  }
  return intern(make_binary(Op::Mod, a, divisor));
}

int64_t Simplifier::divisor_of(const Expr &e) { return divisor_of(to_linear(e)); }

int64_t Simplifier::divisor_of(const Linear &l) {
  if (l.constant == INT64_MIN) return 1;  // its magnitude is no number
  int64_t divisor = l.constant;
  for (const auto &[atom, factor] : l.terms) {
    int64_t own = 1;
    if (atom->op == Op::Min || atom->op == Op::Max) {
      own = std::gcd(divisor_of(atom->args[0]), divisor_of(atom->args[1]));
    } else if (const VariableNode *v = as_variable(atom)) {
      const auto known = bounds_.find(v->name);
      if (known != bounds_.end()) own = known->second.divisor;
    }
    if (factor == INT64_MIN) return 1;
    // What does not fit is a multiple of the factor.
    if (__builtin_mul_overflow(own, factor, &own)) own = factor;
    divisor = std::gcd(divisor, own);
  }
  return divisor;
}

// Does adding up to `reach` to base stay in one period of k?
bool Simplifier::stays_within(const Expr &base, int64_t reach, int64_t k) {
  if (!base.type().is_affine() || !base.type().is_scalar()) return false;
  const int64_t down = std::min<int64_t>(reach, 0), up = std::max<int64_t>(reach, 0);
  Linear terms = to_linear(base);
  const int64_t constant = std::exchange(terms.constant, 0);
  // A multiple of some divisor of k, and what is beyond it.
  const int64_t step = std::gcd(divisor_of(terms), k), beyond = euclidean_mod(constant, step);
  if (beyond + down >= 0 && beyond + up < step) return true;
  terms.constant = constant;
  const ConstantBounds rest = bounds_of(from_linear(split_by(terms, k).rest, base));
  return rest.min && rest.max &&
         euclidean_div(*rest.min + down, k) == euclidean_div(*rest.max + up, k);
}

// ramp(8*x, 8, n)/8  ->  ramp(x, 1, n)          ramp(8*x, 1, 8)/8  ->  broadcast(x, 8)
// ramp(8*x, 1, 8)/32  ->  broadcast(x/4, 8)
// ramp(8*x, 1, 16)/8  ->  ramp(broadcast(x, 8), broadcast(1, 8), 2)
std::optional<Expr> Simplifier::divide_ramp(const Expr &a, int64_t k) {
  int64_t stride;
  if (a->op != Op::Ramp || !a.type().is_affine() || !is_const_int(a->args[1], &stride)) return {};
  const Expr base = a->args[0];
  const int lanes = a.type().lanes() / base.type().lanes();
  const Expr divisor = constant(base.type(), k);
  if (stride % k == 0) {
    return ramp(divide(base, divisor), constant(base.type(), stride / k), lanes);
  }
  if (stays_within(base, stride * (lanes - 1), k)) return broadcast(divide(base, divisor), lanes);
  const int64_t group = stride > 0 && k % stride == 0 ? k / stride : 0;
  if (group > 1 && lanes % group == 0 && stays_within(base, stride * (group - 1), k)) {
    const int each = static_cast<int>(group);
    return ramp(broadcast(divide(base, divisor), each), broadcast(constant(base.type(), 1), each),
                static_cast<int>(lanes / group));
  }
  return {};
}

// ramp(y, 8, n) % 8  ->  broadcast(y % 8, n)    ramp(8*x, 1, 8) % 8  ->  ramp(0, 1, 8)
// ramp(8*x, 1, 8) % 32  ->  ramp((x % 4)*8, 1, 8)
std::optional<Expr> Simplifier::modulo_ramp(const Expr &a, int64_t k) {
  int64_t stride;
  if (a->op != Op::Ramp || !a.type().is_affine() || !is_const_int(a->args[1], &stride)) return {};
  const Expr base = a->args[0];
  const int lanes = a.type().lanes() / base.type().lanes();
  const Expr divisor = constant(base.type(), k);
  if (stride % k == 0) return broadcast(modulo(base, divisor), lanes);
  if (stays_within(base, stride * (lanes - 1), k)) {
    return ramp(modulo(base, divisor), a->args[1], lanes);
  }
  return {};
}

}  // namespace polyhalite
