#include "polyhedral/constant_bounds.h"

#include <algorithm>

#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/interval.h"

namespace polyhalite {

namespace {

constexpr int kMaxDepth = 24;
constexpr int64_t kMost = int64_t{1} << 40;

ConstantInterval of_type(Type t) {
  if (t.is_bool()) return {0, 1};
  if (t.is_uint() && t.bits() < 64) return {0, (int64_t{1} << t.bits()) - 1};
  if (t.is_int() && t.bits() < 32) {
    return {-(int64_t{1} << (t.bits() - 1)), (int64_t{1} << (t.bits() - 1)) - 1};
  }
  return {};
}

ConstantInterval within(const ConstantInterval &a, const ConstantInterval &b) {
  ConstantInterval r = a;
  if (b.min) r.min = std::max(r.min.value_or(*b.min), *b.min);
  if (b.max) r.max = std::min(r.max.value_or(*b.max), *b.max);
  return r;
}

ConstantInterval limits_of(const ParameterContents &p) {
  ConstantInterval r;
  int64_t k;
  if (p.min_value.defined() && is_const_int(p.min_value, &k)) r.min = k;
  if (p.max_value.defined() && is_const_int(p.max_value, &k)) r.max = k;
  return r;
}

}  // namespace

ConstantInterval constant_interval(const Expr &e, const KnownCall &known) {
  int64_t k;
  if (is_const_int(e, &k)) return {k, k};
  const ConstantInterval type = of_type(e.type());
  auto of = [&](const Expr &x) { return constant_interval(x, known); };
  auto clip = [&](ConstantInterval i) -> ConstantInterval {
    // Outside the type's range a value would have wrapped: only the type is known then.
    if (type.min && (!i.min || !i.max || *i.min < *type.min || *i.max > *type.max)) return type;
    return i;
  };
  switch (e->op) {
    case Op::Min:
    case Op::Max: {
      const ConstantInterval a = of(e->args[0]), b = of(e->args[1]);
      ConstantInterval r;
      if (e->op == Op::Min) {
        if (a.min && b.min) r.min = std::min(*a.min, *b.min);
        if (a.max || b.max) {
          r.max = std::min(a.max.value_or(INT64_MAX), b.max.value_or(INT64_MAX));
        }
      } else {
        if (a.max && b.max) r.max = std::max(*a.max, *b.max);
        if (a.min || b.min) {
          r.min = std::max(a.min.value_or(INT64_MIN), b.min.value_or(INT64_MIN));
        }
      }
      return r;
    }
    case Op::Select: {
      const ConstantInterval a = of(e->args[1]), b = of(e->args[2]);
      ConstantInterval r;
      if (a.min && b.min) r.min = std::min(*a.min, *b.min);
      if (a.max && b.max) r.max = std::max(*a.max, *b.max);
      return r;
    }
    case Op::Add:
    case Op::Sub: {
      ConstantInterval a = of(e->args[0]), b = of(e->args[1]);
      if (e->op == Op::Sub) {
        b = {b.max ? std::optional(-*b.max) : std::nullopt,
             b.min ? std::optional(-*b.min) : std::nullopt};
      }
      ConstantInterval r;
      if (a.min && b.min) r.min = *a.min + *b.min;
      if (a.max && b.max) r.max = *a.max + *b.max;
      return clip(r);
    }
    case Op::Mul: {
      const ConstantInterval a = of(e->args[0]), b = of(e->args[1]);
      if (!a.min || !a.max || !b.min || !b.max) return type;
      constexpr int64_t kSafe = int64_t{1} << 31;
      for (int64_t v : {*a.min, *a.max, *b.min, *b.max}) {
        if (v > kSafe || v < -kSafe) return type;
      }
      const auto ends =
          std::minmax({*a.min * *b.min, *a.min * *b.max, *a.max * *b.min, *a.max * *b.max});
      return clip({ends.first, ends.second});
    }
    case Op::Div: {
      const ConstantInterval a = of(e->args[0]);
      if (!is_const_int(e->args[1], &k) || k <= 0 || !a.min || !a.max) return type;
      auto floor_div = [&](int64_t v) { return v >= 0 ? v / k : -((-v + k - 1) / k); };
      return {floor_div(*a.min), floor_div(*a.max)};
    }
    case Op::Mod:
      if (is_const_int(e->args[1], &k) && k > 0) return {0, k - 1};
      return type;
    case Op::Cast: {
      const Type from = e->args[0].type();
      if (!from.is_int_or_uint()) return type;
      const ConstantInterval a = of(e->args[0]);
      const Type to = e.type();
      if (to.is_affine() && (!a.min || !a.max || *a.max > INT32_MAX || *a.min < INT32_MIN) &&
          to.bits() == 32) {
        return type;
      }
      return clip(a);
    }
    case Op::Variable: {
      const VariableNode *v = as_variable(e);
      return v->kind == VariableKind::Param && v->param ? within(type, limits_of(*v->param)) : type;
    }
    case Op::Call: {
      const CallNode *c = as_call(e);
      if (c->kind != CallKind::Intrinsic) return known ? within(type, known(*c)) : type;
      if (c->name == intrinsic::kAbs) {
        const ConstantInterval a = of(c->args[0]);
        if (!a.min || !a.max || *a.min < -kMost || *a.max > kMost) return type;
        const bool both_signs = *a.min < 0 && *a.max > 0;
        return {both_signs ? 0 : std::min(std::abs(*a.min), std::abs(*a.max)),
                std::max(std::abs(*a.min), std::abs(*a.max))};
      }
      if (const Expr value = wrapped_value(e); value.defined()) return of(value);
      if (c->name == intrinsic::kPromiseClamped) {
        return of(make_binary(Op::Max, make_binary(Op::Min, c->args[0], c->args[2]), c->args[1]));
      }
      if (c->name == intrinsic::kPopcount || c->name == intrinsic::kCountLeadingZeros ||
          c->name == intrinsic::kCountTrailingZeros) {
        return {0, e.type().bits()};
      }
      if (const Expr meaning = expand_intrinsic(*c); meaning.defined()) {
        return of(meaning);
      }
      if (c->name == intrinsic::kBitwiseAnd && is_const_int(c->args[1], &k) && k >= 0) {
        return {0, k};
      }
      if (c->name == intrinsic::kShiftRight && is_const_int(c->args[1], &k) && k >= 0 && k < 32) {
        const ConstantInterval a = of(c->args[0]);
        if (a.min && a.max) return {*a.min >> k, *a.max >> k};
      }
      return type;
    }
    default:
      return type;
  }
}

std::optional<int64_t> ConstantUpperBound::operator()(const Expr &e) {
  budget_ = tries_;
  return bound(to_linear(strip_hints(e)), 0);
}

namespace {

Linear replace_term(Linear l, const Expr &atom, const Expr &with) {
  const int64_t c = l.terms.at(atom);
  l.terms.erase(atom);
  return l.add(to_linear(with), c);
}

bool has_choice(const Linear &l) {
  return std::any_of(l.terms.begin(), l.terms.end(), [](const auto &term) {
    return term.first->op == Op::Min || term.first->op == Op::Max;
  });
}

std::optional<int64_t> least(std::optional<int64_t> a, std::optional<int64_t> b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

}  // namespace

std::optional<int64_t> ConstantUpperBound::bound(Linear l, int depth) {
  if (l.is_constant()) return l.constant;
  if (depth > kMaxDepth || --budget_ < 0) return std::nullopt;

  // Choices first: each min or max splits into its operands.
  for (const auto &[atom, c] : l.terms) {
    if (atom->op != Op::Min && atom->op != Op::Max) continue;
    const auto a = bound(replace_term(l, atom, atom->args[0]), depth + 1);
    const auto b = bound(replace_term(l, atom, atom->args[1]), depth + 1);
    // sum <= c*min(x,y) + r is bounded by either operand; a max, or a negative min, by the worse.
    if ((atom->op == Op::Min) == (c > 0)) return least(a, b);
    if (!a || !b) return std::nullopt;
    return std::max(*a, *b);
  }
  for (const auto &[atom, c] : l.terms) {
    if (atom->op != Op::Select) continue;
    const auto a = bound(replace_term(l, atom, atom->args[1]), depth + 1);
    const auto b = bound(replace_term(l, atom, atom->args[2]), depth + 1);
    if (!a || !b) return std::nullopt;
    return std::max(*a, *b);
  }
  // So does one below a division, which keeps the order:  max(x, y)/k = max(x/k, y/k)
  for (const auto &[atom, c] : l.terms) {
    int64_t k;
    if (atom->op != Op::Div || !is_const_int(atom->args[1], &k) || k <= 0) continue;
    const Linear numerator = to_linear(atom->args[0]);
    for (const auto &[choice, d] : numerator.terms) {
      if (choice->op != Op::Min && choice->op != Op::Max) continue;
      auto with = [&](const Expr &x) {
        const Linear n = replace_term(numerator, choice, x);
        const Expr quotient = make_binary(Op::Div, to_expr(n), make_int(Int(32), k));
        // Further choices are made first: what is left of them is short.
        return bound(replace_term(l, atom, has_choice(n) ? quotient : simplify(quotient)),
                     depth + 1);
      };
      const auto x = with(choice->args[0]), y = with(choice->args[1]);
      if (((choice->op == Op::Min) == (d > 0)) == (c > 0)) return least(x, y);
      if (!x || !y) return std::nullopt;
      return std::max(*x, *y);
    }
  }
  // x/k - y/k <= (x - y + k - 1)/k
  for (const auto &[p, c] : l.terms) {
    int64_t k, k2;
    if (p->op != Op::Div || c <= 0 || !is_const_int(p->args[1], &k) || k <= 0) continue;
    for (const auto &[q, d] : l.terms) {
      if (q->op != Op::Div || d != -c || !is_const_int(q->args[1], &k2) || k2 != k) continue;
      Linear inner = to_linear(p->args[0]);
      inner.add(to_linear(q->args[0]), -1);
      const auto m = bound(inner, depth + 1);
      if (!m) continue;
      const int64_t n = *m + k - 1;
      const int64_t quotient = n >= 0 ? n / k : -((-n + k - 1) / k);
      Linear rest = l;
      rest.terms.erase(p);
      rest.terms.erase(q);
      rest.constant += c * quotient;
      if (auto r = bound(rest, depth + 1)) return r;
    }
  }
  // (x + k)/y - x/y <= |k|, whatever y is
  for (const auto &[p, c] : l.terms) {
    if (p->op != Op::Div || c <= 0) continue;
    for (const auto &[q, d] : l.terms) {
      if (q->op != Op::Div || d != -c || !equal(p->args[1], q->args[1])) continue;
      const auto apart = constant_difference(p->args[0], q->args[0]);
      if (!apart) continue;
      Linear rest = l;
      rest.terms.erase(p);
      rest.terms.erase(q);
      rest.constant += c * std::abs(*apart);
      if (auto r = bound(rest, depth + 1)) return r;
    }
  }
  for (const auto &[atom, c] : l.terms) {
    int64_t k;
    if (atom->op == Op::Div && is_const_int(atom->args[1], &k) && k > 0 && c % k == 0) {
      // a - k + 1 <= k*(a/k) <= a
      Linear rest = l;
      rest.terms.erase(atom);
      rest.add(to_linear(atom->args[0]), c / k);
      if (c < 0) rest.constant += -(c / k) * (k - 1);
      if (auto r = bound(rest, depth + 1)) return r;
    }
    if (atom->op == Op::Mod && is_const_int(atom->args[1], &k) && k > 0) {
      Linear rest = l;
      rest.terms.erase(atom);
      if (c > 0) rest.constant += c * (k - 1);
      return bound(rest, depth + 1);
    }
  }
  std::optional<int64_t> best;
  for (const auto &[atom, c] : l.terms) {
    const VariableNode *v = as_variable(atom);
    if (!v) continue;
    const ConstantUpperBound::Meaning m = expand_(*v);
    if (m.value.defined()) best = least(best, bound(replace_term(l, atom, m.value), depth + 1));
    const Expr end = c > 0 ? m.upper : m.lower;
    if (!best && end.defined()) best = bound(replace_term(l, atom, end), depth + 1);
    if (best) return best;
  }
  // Whatever is left must be bounded on its own.
  Linear rest;
  rest.constant = l.constant;
  for (const auto &[atom, c] : l.terms) {
    const ConstantInterval i = constant_interval(atom);
    const auto end = c > 0 ? i.max : i.min;
    if (!end) return std::nullopt;
    rest.constant += c * *end;
  }
  return rest.constant;
}

}  // namespace polyhalite
