#include "polyhedral/interval.h"

#include <algorithm>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/fold.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

constexpr int kMaxSplitSums = 8;  // min and max that a sum is split at

Expr canonical(const Expr &e) { return to_expr(to_linear(e)); }

bool has_memory(const Expr &e) {
  const CallNode *c = as_call(e);
  return e->op == Op::Load ||
         (c && (c->kind == CallKind::Func || c->kind == CallKind::Image || is_extern(*c)));
}

Expr constant32(int64_t v) { return make_int(Int(32), v); }

Interval from_constants(const ConstantInterval &c, Type t = Int(32)) {
  Interval r;
  if (c.min && fits(t, *c.min)) r.min = make_int(t, *c.min);
  if (c.max && fits(t, *c.max)) r.max = make_int(t, *c.max);
  return r;
}

Expr either(const Expr &a, const Expr &b, Expr (*pick)(const Expr &, const Expr &)) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  return pick(a, b);
}

Expr both(const Expr &a, const Expr &b, Expr (*pick)(const Expr &, const Expr &)) {
  return a.defined() && b.defined() ? pick(a, b) : Expr();
}

Expr divide(const Expr &a, int64_t k) {
  int64_t v;
  if (k == 1) return a;
  if (is_const_int(a, &v)) {
    const int64_t q = v >= 0 ? v / k : -((-v + k - 1) / k);
    return constant32(q);
  }
  return make_binary(Op::Div, a, constant32(k));
}

// How often all of `part` is in the sum: 3 times a + 2*b in 3*a + 6*b + c. 0: it is not.
int64_t times_in(const Linear &part, const Linear &l) {
  int64_t times = 0;
  for (const auto &[atom, c] : part.terms) {
    const auto own = l.terms.find(atom);
    if (own == l.terms.end() || own->second % c != 0) return 0;
    const int64_t here = own->second / c;
    if (times != 0 && here != times) return 0;
    times = here;
  }
  return times;
}

Expr as_int32(const Expr &e) {
  return e.defined() ? simplify(with_strict_floats(make_cast(Int(32), e))) : e;
}

class StrictFloats : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    if (r->op != Op::Cast || r.type().is_float() || !r->args[0].type().is_float()) return r;
    const Expr &x = r->args[0];
    if (is_const(x) || as_intrinsic(x, intrinsic::kStrictFloat)) return r;
    return make_cast(r.type(), make_intrinsic(x.type(), intrinsic::kStrictFloat, {x}));
  }
};

class StripHints : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const Expr value = wrapped_value(e);
    if (value.defined() && !as_intrinsic(e, intrinsic::kStrictFloat)) return (*this)(value);
    if (value.defined() && !e.type().is_float()) return (*this)(value);
    if (const LetNode *let = as_let(e)) {
      return (*this)(substitute(let->name, let->args[0], let->args[1]));
    }
    return by_division(rewrite_children(e));
  }

 private:
  // x >> 2  ->  x/4; x << 2  ->  x*4, which coordinates do not overflow
  static Expr by_division(const Expr &e) {
    constexpr int64_t kMostRight = 30, kMostLeft = 16;
    const bool right = as_intrinsic(e, intrinsic::kShiftRight);
    if (e.type() != Int(32) || (!right && !as_intrinsic(e, intrinsic::kShiftLeft))) return e;
    int64_t by;
    if (!is_const_int(e->args[1], &by) || by < 0 || by > (right ? kMostRight : kMostLeft)) return e;
    return make_binary(right ? Op::Div : Op::Mul, e->args[0], make_int(Int(32), int64_t{1} << by));
  }
};

}  // namespace

Expr strip_hints(const Expr &e) { return StripHints()(e); }

Expr with_strict_floats(const Expr &e) { return StrictFloats()(e); }

Expr sum(const Expr &a, const Expr &b) {
  Linear l = to_linear(a);
  return to_expr(l.add(to_linear(b)));
}

Expr difference(const Expr &a, const Expr &b) {
  Linear l = to_linear(a);
  return to_expr(l.add(to_linear(b), -1));
}

Expr product(const Expr &a, int64_t k) {
  Linear l = to_linear(a);
  return to_expr(l.scale(k));
}

// Operands that a nested min or max already has are not repeated, constants are kept last.
static Expr extreme(Op op, const Expr &a, const Expr &b) {
  if (auto d = constant_difference(a, b)) return (*d <= 0) == (op == Op::Min) ? a : b;
  auto absorbs = [&](const Expr &nest, const Expr &x) {
    if (nest->op != op) return false;
    for (const Expr &arg : nest->args) {
      if (auto d = constant_difference(arg, x)) {
        if ((*d <= 0) == (op == Op::Min)) return true;
      }
      if (arg->op == op) {
        for (const Expr &deeper : arg->args) {
          auto d = constant_difference(deeper, x);
          if (d && (*d <= 0) == (op == Op::Min)) return true;
        }
      }
    }
    return false;
  };
  if (absorbs(a, b)) return a;
  if (absorbs(b, a)) return b;
  return compare(a, b) <= 0 ? make_binary(op, a, b) : make_binary(op, b, a);
}

Expr smaller(const Expr &a, const Expr &b) { return extreme(Op::Min, a, b); }
Expr larger(const Expr &a, const Expr &b) { return extreme(Op::Max, a, b); }

Interval hull(const Interval &a, const Interval &b) {
  return {both(a.min, b.min, smaller), both(a.max, b.max, larger)};
}

Interval Bounder::operator()(const Expr &e) { return bound(strip_hints(e)); }

bool Bounder::sees_all(const Expr &e) {
  auto it = seen_.find(e.get());
  if (it != seen_.end()) return it->second;
  bool all = !has_memory(e);
  if (const VariableNode *v = as_variable(e)) all = !resolve_(*v).has_value();
  for (const Expr &a : e->args) all = all && sees_all(a);
  keep_.push_back(e);
  return seen_[e.get()] = all;
}

Interval Bounder::bound(const Expr &e) {
  auto it = memo_.find(e.get());
  if (it != memo_.end()) return it->second;
  Interval r;
  if (sees_all(e)) {
    const Expr c = e.type().is_affine() ? canonical(e) : e;
    r = {c, c};
  } else if (e.type().is_float()) {
    if (value_of_) r = bound_float(e);
  } else {
    r = bound_linear(e);
  }
  keep_.push_back(e);
  return memo_[e.get()] = r;
}

ConstantInterval Bounder::constants_of(const Expr &e) {
  if (!value_of_) return constant_interval(e);
  return constant_interval(e, [&](const CallNode &call) -> ConstantInterval {
    if (call.kind != CallKind::Func) return {};
    const Interval i = value_of_(call);
    ConstantInterval r;
    int64_t k;
    if (i.min.defined() && is_const_int(i.min, &k)) r.min = k;
    if (i.max.defined() && is_const_int(i.max, &k)) r.max = k;
    return r;
  });
}

Interval Bounder::bound_linear(const Expr &e) {
  if (e.type() != Int(32)) return from_constants(constants_of(e), e.type());
  return bound_sum(to_linear(e));
}

Interval Bounder::bound_terms(const Linear &l) {
  if (l.terms.size() == 1 && l.constant == 0 && l.terms.begin()->second == 1) {
    return bound_atom(l.terms.begin()->first);
  }
  int low_tries = kMaxSplitSums, high_tries = kMaxSplitSums;
  return {end_of_sum(l, false, low_tries), end_of_sum(l, true, high_tries)};
}

bool Bounder::depend_on_another(const Linear &a, const Linear &b) {
  for (const auto &[one, c] : a.terms) {
    for (const auto &[other, k] : b.terms) {
      const std::vector<int> first = unseen_in(one), second = unseen_in(other);
      if (std::find_first_of(first.begin(), first.end(), second.begin(), second.end()) !=
          first.end()) {
        return true;
      }
    }
  }
  return false;
}

// A variable that ends where the sum's limit and the ends of the others put it, would not make the
// sum end before its limit: that one is said once.
Interval Bounder::bound_limited(const LimitedSum &s) {
  Bounder without(resolve_where_(s.others));
  without.value_of_ = value_of_;
  without.upper_limit_ = upper_limit_;
  Interval i = without.bound_terms(s.sum);
  const Expr &low = s.within.min, &high = s.within.max;
  if (!i.min.defined() || !i.max.defined() || !equal(i.min, i.max)) {
    return {either(i.min, low, larger), either(i.max, high, smaller)};
  }
  // Where nothing is within the limits, the upper one is nearer to what memory there is.
  Expr point = i.max;
  if (low.defined()) point = larger(point, low);
  if (high.defined()) point = smaller(point, high);
  return {point, point};
}

//   2*x + 2*r + y + 1, x + r <= n - 1   ->   2*min(end of x + r, n - 1) + end of y + 1
Interval Bounder::bound_sum(const Linear &l) {
  for (const LimitedSum &s : limited_) {
    const int64_t times = times_in(s.sum, l);
    if (times == 0) continue;
    Linear rest = l;
    rest.add(s.sum, -times);
    const Interval part = bound_limited(s), others = bound_sum(rest);
    auto end = [&](const Expr &of_part, const Expr &of_rest) {
      return of_part.defined() && of_rest.defined() ? sum(product(of_part, times), of_rest)
                                                    : Expr();
    };
    Interval i = {end(times > 0 ? part.min : part.max, others.min),
                  end(times > 0 ? part.max : part.min, others.max)};
    if (depend_on_another(s.sum, rest)) {
      const Interval together = bound_terms(l);
      i = {either(i.min, together.min, larger), either(i.max, together.max, smaller)};
    }
    return i;
  }
  return bound_terms(l);
}

//   [34*g + b, 34*g + b + 31], 34, b in [0, 2]  ->  34*g
Expr Bounder::multiple_below(const Interval &a, int64_t k) const {
  if (!upper_limit_ || !a.min.defined() || !a.max.defined()) return Expr();
  const Linear low = to_linear(a.min);
  Linear whole;
  for (const auto &[term, factor] : low.terms) {
    if (factor % k == 0) whole.terms.emplace(term, factor);
  }
  const int64_t rest = low.constant % k;
  whole.constant = low.constant - (rest < 0 ? rest + k : rest);
  const Expr m = to_expr(whole);
  const auto below = upper_limit_(difference(m, a.min)), above = upper_limit_(difference(a.max, m));
  return below && *below <= 0 && above && *above < k ? m : Expr();
}

const std::vector<int> &Bounder::unseen_in(const Expr &e) {
  const auto known = unseen_.find(e.get());
  if (known != unseen_.end()) return known->second;
  std::vector<int> found;
  auto add = [&](const std::vector<int> &more) {
    found.insert(found.end(), more.begin(), more.end());
  };
  if (!sees_all(e)) {
    if (const VariableNode *v = as_variable(e)) {
      const auto i = resolve_(*v);
      found.push_back(number_.emplace(v->name, static_cast<int>(number_.size())).first->second);
      for (const Expr &end : {i->min, i->max}) {
        if (end.defined()) add(unseen_in(strip_hints(end)));
      }
    }
    for (const Expr &a : e->args) add(unseen_in(a));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  keep_.push_back(e);
  return unseen_[e.get()] = std::move(found);
}

Expr Bounder::end_of_sum(Linear l, bool upper, int &tries) {
  auto has = [](const std::vector<int> &numbers, int n) {
    return std::binary_search(numbers.begin(), numbers.end(), n);
  };
  // One term depends on no other.
  for (auto term = l.terms.begin(); l.terms.size() > 1 && term != l.terms.end();) {
    const auto [atom, c] = *term;
    const std::vector<int> &own = unseen_in(atom);
    bool meets = false, is_end = false;  // of another term, on which this one's variable has a say
    const VariableNode *v = as_variable(atom);
    for (auto other = l.terms.begin(); !own.empty() && other != l.terms.end(); ++other) {
      if (other == term) continue;
      const std::vector<int> &theirs = unseen_in(other->first);
      for (int n : theirs) meets = meets || has(own, n);
      is_end = is_end || (v && has(theirs, number_.at(v->name)));
    }
    if (!meets) {
      ++term;
      continue;
    }
    // An inner variable's end, in terms of outer ones, before these: 8*xo + xi, xi <= 7 - 8*xo.
    if (v && !is_end) {
      const auto i = resolve_(*v);
      const Expr end = (c > 0) == upper ? i->max : i->min;
      if (!end.defined()) return Expr();
      l.terms.erase(term);
      l.add(to_linear(strip_hints(end)), c);
      term = l.terms.begin();
      continue;
    }
    // x + min(a, b)  ->  min(x + a, x + b)
    if ((atom->op == Op::Min || atom->op == Op::Max) && tries > 0) {
      tries--;
      l.terms.erase(term);
      Linear first = l, second = l;
      first.add(to_linear(atom->args[0]), c);
      second.add(to_linear(atom->args[1]), c);
      const bool smallest = (atom->op == Op::Min) == (c > 0);
      const Expr a = end_of_sum(std::move(first), upper, tries),
                 b = end_of_sum(std::move(second), upper, tries);
      // One end of the smaller one is enough for its upper end.
      if (smallest == upper) return either(a, b, smallest ? smaller : larger);
      return both(a, b, smallest ? smaller : larger);
    }
    ++term;
  }
  Linear end;
  end.constant = l.constant;
  for (const auto &[atom, c] : l.terms) {
    const Interval i = bound(atom);
    const Expr &of_atom = (c > 0) == upper ? i.max : i.min;
    if (!of_atom.defined()) return Expr();
    end.add(to_linear(of_atom), c);
  }
  return to_expr(end);
}

Interval Bounder::bound_product(const Expr &a, const Expr &b) {
  const Interval x = bound(a), y = bound(b);
  if (!x.min.defined() || !x.max.defined() || !y.min.defined() || !y.max.defined()) return {};
  Interval r;
  for (const Expr &p : {x.min, x.max}) {
    for (const Expr &q : {y.min, y.max}) {
      int64_t k;
      Expr t = is_const_int(q, &k)   ? product(p, k)
               : is_const_int(p, &k) ? product(q, k)
                                     : make_binary(Op::Mul, p, q);
      r.min = either(r.min, t, smaller);
      r.max = either(r.max, t, larger);
    }
  }
  return r;
}

Interval Bounder::bound_atom(const Expr &e) {
  switch (e->op) {
    case Op::Variable: {
      const auto i = resolve_(*as_variable(e));
      if (!i) return {e, e};
      // A point is exact; ends are bounded on their own.
      Interval r;
      if (i->min.defined()) r.min = bound(strip_hints(i->min)).min;
      if (i->max.defined()) r.max = bound(strip_hints(i->max)).max;
      return r;
    }
    case Op::Mul:
      return bound_product(e->args[0], e->args[1]);
    case Op::Min:
    case Op::Max: {
      const Interval a = bound(e->args[0]), b = bound(e->args[1]);
      if (e->op == Op::Min) return {both(a.min, b.min, smaller), either(a.max, b.max, smaller)};
      return {either(a.min, b.min, larger), both(a.max, b.max, larger)};
    }
    case Op::Div: {
      const Interval a = bound(e->args[0]);
      int64_t k;
      if (is_const_int(e->args[1], &k)) {
        if (k == 0) return {constant32(0), constant32(0)};
        if (k > 0) {
          if (const Expr m = multiple_below(a, k); m.defined()) {
            const Expr quotient = divide(m, k);
            return {quotient, quotient};
          }
          return {a.min.defined() ? divide(a.min, k) : Expr(),
                  a.max.defined() ? divide(a.max, k) : Expr()};
        }
      }
      if (!a.min.defined() || !a.max.defined()) return {};
      // By one divisor, whatever its sign, quotients rise or fall with a.
      const Interval b = bound(e->args[1]);
      if (b.is_point()) {
        const Expr low = make_binary(Op::Div, a.min, b.min);
        const Expr high = make_binary(Op::Div, a.max, b.min);
        return {smaller(low, high), larger(low, high)};
      }
      // |a / b| <= |a| for every integer b
      const Expr m = larger(a.max, product(a.min, -1));
      return {smaller(product(m, -1), constant32(0)), larger(m, constant32(0))};
    }
    case Op::Mod: {
      const Interval b = bound(e->args[1]);
      if (!b.min.defined() || !b.max.defined()) return {constant32(0), Expr()};
      const Expr m = larger(b.max, product(b.min, -1));
      const Interval a = bound(e->args[0]);
      if (int64_t k; is_const_int(e->args[1], &k) && k > 0) {
        const Expr m = multiple_below(a, k);
        if (m.defined()) return {difference(a.min, m), difference(a.max, m)};
      }
      Expr high = larger(sum(m, -1), constant32(0));
      int64_t low;
      if (a.min.defined() && a.max.defined() && is_const_int(a.min, &low) && low >= 0) {
        // Of whole multiples of k all remainders are there, unless there is nothing at all.
        int64_t k;
        const bool whole = is_const_int(e->args[1], &k) && k > 0 && low == 0 &&
                           constant_divisor(sum(a.max, constant32(1))) % k == 0;
        if (!whole) high = smaller(high, a.max);
      }
      return {constant32(0), high};
    }
    case Op::Select:
      return hull(bound(e->args[1]), bound(e->args[2]));
    case Op::Cast: {
      const Type from = e->args[0].type();
      if (from == Int(32)) return bound(e->args[0]);
      if (from.is_float() && value_of_) {
        // Rounding to zero keeps the order.
        const Interval i = bound(e->args[0]);
        return {as_int32(i.min), as_int32(i.max)};
      }
      if (const CallNode *c = as_intrinsic(e->args[0], intrinsic::kAbs);
          c && c->args[0].type() == Int(32)) {
        // max(-x, x, 0) at the ends of x.
        const Interval i = bound(c->args[0]);
        if (!i.min.defined() || !i.max.defined()) return {constant32(0), Expr()};
        const Expr negated = product(i.min, -1);
        return {larger(larger(i.min, product(i.max, -1)), constant32(0)), larger(i.max, negated)};
      }
      return from_constants(constants_of(e));
    }
    case Op::Call:
      if (const CallNode *c = as_intrinsic(e, intrinsic::kPromiseClamped)) {
        return bound(
            make_binary(Op::Max, make_binary(Op::Min, c->args[0], c->args[2]), c->args[1]));
      }
      if (const CallNode *c = as_call(e); value_of_ && c->kind == CallKind::Func) {
        const Interval i = value_of_(*c);
        Interval r;
        if (i.min.defined()) r.min = bound(i.min).min;
        if (i.max.defined()) r.max = bound(i.max).max;
        return r;
      }
      return from_constants(constants_of(e));
    default:
      return from_constants(constants_of(e));
  }
}

}  // namespace polyhalite
