// Constant intervals of integer expressions.
#include <algorithm>
#include <limits>

#include "lang/ir/intrinsics.h"
#include "lang/simplify/fold.h"
#include "lang/simplify/simplifier.h"

namespace polyhalite {

namespace {

using Bounds = ConstantBounds;
using End = std::optional<int64_t>;

// Replacements of a min, max or quotient that one difference may cost.
constexpr int kBudget = 64;

End plus(End a, End b) {
  int64_t r;
  if (!a || !b || __builtin_add_overflow(*a, *b, &r)) return {};
  return r;
}

End scale(End a, int64_t k) {
  int64_t r;
  if (!a || __builtin_mul_overflow(*a, k, &r)) return {};
  return r;
}

Bounds plus(const Bounds &a, const Bounds &b) { return {plus(a.min, b.min), plus(a.max, b.max)}; }

Bounds scale(const Bounds &a, int64_t k) {
  if (k == 0) return {0, 0};
  return k > 0 ? Bounds{scale(a.min, k), scale(a.max, k)}
               : Bounds{scale(a.max, k), scale(a.min, k)};
}

Bounds times(const Bounds &a, const Bounds &b) {
  if (a.min && a.min == a.max) return scale(b, *a.min);
  if (b.min && b.min == b.max) return scale(a, *b.min);
  const bool positive = a.min && b.min && *a.min >= 0 && *b.min >= 0;
  if (!a.min || !a.max || !b.min || !b.max) {
    if (positive) return {scale(a.min, *b.min), {}};
    return {};
  }
  Bounds r{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const End x : {a.min, a.max}) {
    for (const End y : {b.min, b.max}) {
      const End p = scale(x, *y);
      if (!p) return {};
      r.min = std::min(*r.min, *p);
      r.max = std::max(*r.max, *p);
    }
  }
  return r;
}

// Either holds.
Bounds hull(const Bounds &a, const Bounds &b) {
  Bounds r;
  if (a.min && b.min) r.min = std::min(*a.min, *b.min);
  if (a.max && b.max) r.max = std::max(*a.max, *b.max);
  return r;
}

// Both hold.
Bounds meet(const Bounds &a, const Bounds &b) {
  Bounds r = a;
  if (b.min) r.min = r.min ? std::max(*r.min, *b.min) : *b.min;
  if (b.max) r.max = r.max ? std::min(*r.max, *b.max) : *b.max;
  return r;
}

// What min (or max) of two values obeys.
Bounds extreme(Op op, const Bounds &a, const Bounds &b) {
  Bounds r = hull(a, b);
  if (op == Op::Min) {
    r.max = meet(a, b).max;
  } else {
    r.min = meet(a, b).min;
  }
  return r;
}

Bounds range_of(Type t) {
  if (t.is_uint()) {
    if (t.bits() >= 64) return {0, {}};
    return {0, static_cast<int64_t>((uint64_t{1} << t.bits()) - 1)};
  }
  if (!t.is_int() || t.bits() >= 64) return {};
  return {-(int64_t{1} << (t.bits() - 1)), (int64_t{1} << (t.bits() - 1)) - 1};
}

// What a type says of a value that nothing else is known of. Int(32) says nothing: a bound of 2^31
// decides no comparison that is worth deciding.
Bounds bounds_of_type(Type t) { return t.is_affine() ? Bounds{} : range_of(t); }

// The bounds of an exact result, where the type wraps what does not fit.
Bounds wrapped(Type t, const Bounds &exact) {
  if (t.is_affine()) return exact;
  const bool inside = exact.min && exact.max && fits(t.element_of(), *exact.min) &&
                      fits(t.element_of(), *exact.max);
  return inside ? exact : range_of(t);
}

Bounds quotient(const Bounds &a, const Bounds &b) {
  if (b.min && b.min == b.max && *b.min != 0) {
    const int64_t k = *b.min;
    if (k == -1) return scale(a, -1);
    const End low = k > 0 ? a.min : a.max, high = k > 0 ? a.max : a.min;
    return {low ? End(euclidean_div(*low, k)) : End(), high ? End(euclidean_div(*high, k)) : End()};
  }
  // |a/b| <= |a| and the sign is that of a where b >= 0.
  const bool b_natural = b.min && *b.min >= 0;
  Bounds r;
  if (b_natural) {
    if (a.min) r.min = std::min<int64_t>(*a.min, 0);
    if (a.max) r.max = std::max<int64_t>(*a.max, 0);
  } else if (a.min && a.max && *a.min > std::numeric_limits<int64_t>::min() / 2 &&
             *a.max < std::numeric_limits<int64_t>::max() / 2) {
    const int64_t m = std::max(*a.min < 0 ? -*a.min : *a.min, *a.max < 0 ? -*a.max : *a.max);
    r = {-m, m};
  }
  return r;
}

Bounds remainder(const Bounds &a, const Bounds &b) {
  Bounds r{0, {}};
  if (b.min && b.max && *b.min > std::numeric_limits<int64_t>::min()) {
    const int64_t m = std::max(*b.min < 0 ? -*b.min : *b.min, *b.max < 0 ? -*b.max : *b.max);
    r.max = std::max<int64_t>(m - 1, 0);
  }
  // Of a natural number the remainder is no larger than itself.
  if (a.min && *a.min >= 0 && a.max) r.max = r.max ? std::min(*r.max, *a.max) : *a.max;
  return r;
}

}  // namespace

ConstantBounds Simplifier::bounds_of(const Expr &e) {
  auto it = bounds_memo_.find(e.get());
  if (it != bounds_memo_.end()) return it->second;
  const Bounds b = compute_bounds(e);
  keep_.push_back(e);
  bounds_memo_.emplace(e.get(), b);
  return b;
}

ConstantBounds Simplifier::compute_bounds(const Expr &e) {
  int64_t k;
  const Type t = e.type();
  if (!t.is_int_or_uint()) return {};
  if (is_const_int(e, &k)) {
    if (t.is_uint() && k < 0) return {std::numeric_limits<int64_t>::max(), {}};
    return {k, k};
  }
  switch (e->op) {
    case Op::Variable: {
      auto it = bounds_.find(as_variable(e)->name);
      return it == bounds_.end() ? bounds_of_type(t) : meet(bounds_of_type(t), it->second);
    }
    case Op::Broadcast:
      return bounds_of(e->args[0]);
    case Op::Ramp: {
      const int64_t last = t.lanes() / e->args[0].type().lanes() - 1;
      const Bounds reach = hull({0, 0}, scale(bounds_of(e->args[1]), last));
      return wrapped(t, plus(bounds_of(e->args[0]), reach));
    }
    case Op::Add:
    case Op::Sub: {
      if (t.is_affine() && t.is_scalar()) {
        return bounds_of(to_linear(e));
      }
      const Bounds b = bounds_of(e->args[1]);
      return wrapped(t, plus(bounds_of(e->args[0]), e->op == Op::Add ? b : scale(b, -1)));
    }
    case Op::Mul:
      return wrapped(t, times(bounds_of(e->args[0]), bounds_of(e->args[1])));
    case Op::Div:
      return wrapped(t, quotient(bounds_of(e->args[0]), bounds_of(e->args[1])));
    case Op::Mod:
      return remainder(bounds_of(e->args[0]), bounds_of(e->args[1]));
    case Op::Min:
    case Op::Max:
      return extreme(e->op, bounds_of(e->args[0]), bounds_of(e->args[1]));
    case Op::Select:
      return hull(bounds_of(e->args[1]), bounds_of(e->args[2]));
    case Op::Let:
      return bounds_of_type(t);
    case Op::Cast: {
      const Type from = e->args[0].type();
      if (!from.is_int_or_uint() || t.is_bool()) return bounds_of_type(t);
      const Bounds inner = meet(bounds_of(e->args[0]), range_of(from.element_of()));
      const bool inside = inner.min && inner.max && fits(t.element_of(), *inner.min) &&
                          fits(t.element_of(), *inner.max);
      return inside ? inner : bounds_of_type(t);
    }
    case Op::Shuffle: {
      Bounds r = bounds_of(e->args[0]);
      for (const Expr &a : e->args) r = hull(r, bounds_of(a));
      return r;
    }
    case Op::Call:
      return bounds_of_call(*as_call(e));
    default:
      return bounds_of_type(t);
  }
}

ConstantBounds Simplifier::bounds_of_call(const CallNode &c) {
  const Type t = c.type;
  int64_t k;
  if (c.kind != CallKind::Intrinsic || c.args.empty()) return bounds_of_type(t);
  if (c.name == intrinsic::kLikely || c.name == intrinsic::kLikelyIfInnermost) {
    return bounds_of(c.args[0]);
  }
  if (c.name == intrinsic::kPromiseClamped) {
    const Bounds b =
        meet(bounds_of(c.args[0]), {bounds_of(c.args[1]).min, bounds_of(c.args[2]).max});
    return meet(bounds_of_type(t), b);
  }
  if (c.name == intrinsic::kPopcount || c.name == intrinsic::kCountLeadingZeros ||
      c.name == intrinsic::kCountTrailingZeros) {
    return {0, t.bits()};
  }
  if (c.name == intrinsic::kAbs && c.args[0].type().is_int()) {
    const Bounds a = bounds_of(c.args[0]);
    if (a.min && a.max && *a.min > std::numeric_limits<int64_t>::min()) {
      const int64_t low = *a.min >= 0 ? *a.min : *a.max <= 0 ? -*a.max : 0;
      return meet(range_of(t), {low, std::max(-*a.min, *a.max)});
    }
    return range_of(t);
  }
  if (c.name == intrinsic::kBitwiseAnd && c.args.size() == 2 && is_const_int(c.args[1], &k) &&
      k >= 0) {
    return {0, k};
  }
  return bounds_of_type(t);
}

// Sums of intervals lose what terms share, so a min, max or quotient is also tried as each of its
// operands, which may cancel against other terms:  min(x, y) - x <= 0,  x - x/8*8 in [0, 7].
ConstantBounds Simplifier::bounds_of_linear(const Linear &l, int &budget) {
  Bounds r{l.constant, l.constant};
  for (const auto &[atom, c] : l.terms) r = plus(r, scale(bounds_of(atom), c));
  if (l.terms.size() < 2 || budget <= 0) return r;
  for (const auto &[atom, c] : l.terms) {
    auto replaced = [&](const Expr &by, int64_t factor) {
      budget--;
      Linear other = l;
      other.terms.erase(atom);
      return bounds_of_linear(other.add(to_linear(by), factor), budget);
    };
    int64_t k;
    if (atom->op == Op::Min || atom->op == Op::Max) {
      const Bounds a = replaced(atom->args[0], c), b = replaced(atom->args[1], c);
      r = meet(r, extreme((atom->op == Op::Min) == (c > 0) ? Op::Min : Op::Max, a, b));
    } else if (atom->op == Op::Select) {
      r = meet(r, hull(replaced(atom->args[1], c), replaced(atom->args[2], c)));
    } else if (atom->op == Op::Div && is_const_int(atom->args[1], &k) && k > 0 && c % k == 0) {
      // a - (k - 1) <= k*(a/k) <= a
      r = meet(r, plus(replaced(atom->args[0], c / k), scale(Bounds{-(k - 1), 0}, c / k)));
    } else {
      continue;
    }
    if (budget <= 0) break;
  }
  return r;
}

ConstantBounds Simplifier::bounds_of(const Linear &l) {
  int budget = 4;  // small: every node of a sum asks
  return bounds_of_linear(l, budget);
}

ConstantBounds Simplifier::bounds_of_difference(const Expr &a, const Expr &b) {
  if (a.type().is_affine() && a.type().is_scalar()) {
    Linear l = to_linear(a);
    l.add(to_linear(b), -1);
    int budget = kBudget;
    return bounds_of_linear(l, budget);
  }
  if (!a.type().is_int_or_uint()) return {};
  // Ramps and broadcasts of scalars: the difference of their first lanes, and how far it moves.
  auto is_regular = [](const Expr &e) {
    return (e->op == Op::Ramp || e->op == Op::Broadcast) && e->args[0].type().is_scalar();
  };
  if (a.type().is_affine() && is_regular(a) && is_regular(b)) {
    const Bounds first = bounds_of_difference(a->args[0], b->args[0]);
    Bounds step{0, 0};
    if (a->op == Op::Ramp) step = plus(step, bounds_of(a->args[1]));
    if (b->op == Op::Ramp) step = plus(step, scale(bounds_of(b->args[1]), -1));
    return plus(first, hull({0, 0}, scale(step, a.type().lanes() - 1)));
  }
  return plus(bounds_of(a), scale(bounds_of(b), -1));
}

}  // namespace polyhalite
