// Comparisons, && || !, and select.
#include <numeric>
#include <vector>

#include "lang/simplify/comparison.h"
#include "lang/simplify/fold.h"
#include "lang/simplify/operators.h"
#include "lang/simplify/simplifier.h"

namespace polyhalite {

namespace {

// Longer conjunctions keep what is beyond as one operand.

// Whether `a op b` holds for every difference a - b in `d`, or for none.
std::optional<bool> decided_by(Op op, const ConstantBounds &d) {
  const bool positive = d.min && *d.min > 0, negative = d.max && *d.max < 0;
  const bool natural = d.min && *d.min >= 0, non_positive = d.max && *d.max <= 0;
  switch (op) {
    case Op::Eq:
    case Op::Ne:
      if (positive || negative) return op == Op::Ne;
      if (natural && non_positive) return op == Op::Eq;
      return {};
    case Op::Lt:
      return negative ? std::optional(true) : natural ? std::optional(false) : std::nullopt;
    case Op::Le:
      return non_positive ? std::optional(true) : positive ? std::optional(false) : std::nullopt;
    case Op::Gt:
      return positive ? std::optional(true) : non_positive ? std::optional(false) : std::nullopt;
    default:
      return natural ? std::optional(true) : negative ? std::optional(false) : std::nullopt;
  }
}

// Linear forms that are all <= 0 exactly where the comparison holds; none where it has no such
// form.
std::vector<Linear> as_inequalities(const Expr &e) {
  if (!is_comparison(e->op) || e->op == Op::Ne) return {};
  const Expr &a = e->args[0], &b = e->args[1];
  if (!a.type().is_affine() || !a.type().is_scalar()) return {};
  Linear forward = to_linear(a);
  forward.add(to_linear(b), -1);
  Linear backward = forward;
  backward.scale(-1);
  switch (e->op) {
    case Op::Lt:
      forward.constant++;
      return {forward};
    case Op::Le:
      return {forward};
    case Op::Gt:
      backward.constant++;
      return {backward};
    case Op::Ge:
      return {backward};
    default:
      return {forward, backward};
  }
}

}  // namespace

Expr Simplifier::compare(Op op, const Expr &a, const Expr &b) {
  const Type t = a.type();
  const int lanes = t.lanes();
  if (!t.is_int_or_uint()) return intern(make_binary(op, a, b));
  if (auto r = decided_by(op, equal(a, b) ? ConstantBounds{0, 0} : bounds_of_difference(a, b))) {
    return *r ? constant(Bool(lanes), 1) : constant(Bool(lanes), 0);
  }
  if (t.is_bool() && (is_const(a) || is_const(b)) && (op == Op::Eq || op == Op::Ne)) {
    const Expr &other = is_const(a) ? b : a;
    return is_true(is_const(a) ? a : b) == (op == Op::Eq) ? other : negate(other);
  }
  if (t.is_affine() && t.is_scalar()) return compare_linear(op, a, b);
  if (is_const(a) && !is_const(b)) return intern(make_binary(mirrored(op), b, a));
  return intern(make_binary(op, a, b));
}

// Positive terms to the left, negative ones and the constant to the right, without common factors.
Expr Simplifier::compare_linear(Op op, const Expr &a, const Expr &b) {
  const Expr plain = intern(make_binary(op, a, b));
  const Type t = a.type();
  Linear l = to_linear(a);
  l.add(to_linear(b), -1);
  join_quotients(l);
  int64_t g = 0;
  for (const auto &[atom, c] : l.terms) g = std::gcd(g, c);
  if (l.is_constant() || g <= 0) return plain;
  if ((op == Op::Eq || op == Op::Ne) && l.constant % g != 0) {
    return constant(Bool(), op == Op::Ne);
  }
  // g*x + k < 0 is x + floor(k/g) < 0, and g*x + k <= 0 is x + ceil(k/g) <= 0.
  const bool rounds_up = op == Op::Le || op == Op::Gt;
  const int64_t down = euclidean_div(l.constant, g);
  l.constant = rounds_up && l.constant % g != 0 ? down + 1 : down;
  for (auto &[atom, c] : l.terms) c /= g;

  bool any_positive = false;
  for (const auto &[atom, c] : l.terms) any_positive |= c > 0;
  const bool is_equation = op == Op::Eq || op == Op::Ne;
  if (!any_positive || (is_equation && l.terms.begin()->second < 0)) {
    l.scale(-1);
    op = mirrored(op);
  }
  Linear left, right;
  left.type = right.type = t;
  for (const auto &[atom, c] : l.terms) {
    if (!fits(t, c) || !fits(t, -c)) return plain;
    if (c > 0) {
      left.terms[atom] = c;
    } else {
      right.terms[atom] = -c;
    }
  }
  if (!fits(t, l.constant) || !fits(t, -(l.constant + 1)) || !fits(t, l.constant + 1)) return plain;
  right.constant = -l.constant;

  // x/8 < 3  ->  x < 24
  int64_t k;
  if (right.is_constant() && left.terms.size() == 1 && left.terms.begin()->second == 1 &&
      !is_equation) {
    const Expr atom = left.terms.begin()->first;
    if (atom->op == Op::Div && is_const_int(atom->args[1], &k) && k > 0) {
      const bool next = op == Op::Le || op == Op::Gt;
      int64_t limit;
      if (!__builtin_mul_overflow(right.constant + next, k, &limit) && fits(t, limit)) {
        const Op against = op == Op::Lt || op == Op::Le ? Op::Lt : Op::Ge;
        return compare(against, atom->args[0], constant(t, limit));
      }
    }
  }
  // What moves over an equation may wrap: both sides do.
  if (!is_equation && (may_overflow(left) || may_overflow(right))) return plain;
  return intern(make_binary(op, from_linear(left, a), from_linear(right, b)));
}

bool Simplifier::implies(const Expr &a, const Expr &b) {
  if (equal(a, b)) return true;
  const std::vector<Linear> given = as_inequalities(a), wanted = as_inequalities(b);
  if (given.empty() || wanted.empty()) return false;
  for (const Linear &w : wanted) {
    bool found = false;
    for (const Linear &g : given) {
      if (g.type != w.type) return false;
      Linear difference = w;
      difference.add(g, -1);
      found |= difference.is_constant() && difference.constant <= 0;
    }
    if (!found) return false;
  }
  return true;
}

Expr Simplifier::and_or(Op op, const Expr &a, const Expr &b) {
  const int lanes = a.type().lanes();
  const bool is_and = op == Op::And;
  // The constant that decides: false of &&, true of ||.
  auto decides = [&](const Expr &e) { return is_and ? is_false(e) : is_true(e); };
  if (decides(a) || decides(b)) return constant(Bool(lanes), !is_and);
  if (is_const(a)) return b;
  if (is_const(b)) return a;
  std::vector<Expr> operands, more;
  list_operands(op, a, operands);
  list_operands(op, b, more);
  // Operands of one side have met each other.
  for (const Expr &y : more) {
    const Expr not_y = negate(y);
    bool is_known = false;
    std::vector<Expr> kept;
    for (const Expr &x : operands) {
      const Expr not_x = negate(x);
      // x && !x is false; more so where x implies !y.
      const bool decided =
          is_and ? implies(x, not_y) || implies(y, not_x) : implies(not_x, y) || implies(not_y, x);
      if (decided) return constant(Bool(lanes), !is_and);
      is_known = is_known || (is_and ? implies(x, y) : implies(y, x));
      if (is_known || !(is_and ? implies(y, x) : implies(x, y))) kept.push_back(x);
    }
    operands = std::move(kept);
    if (!is_known) operands.push_back(y);
  }
  Expr r = operands[0];
  for (size_t i = 1; i < operands.size(); i++) r = intern(make_binary(op, r, operands[i]));
  return r;
}

Expr Simplifier::negate(const Expr &a) {
  const int lanes = a.type().lanes();
  if (is_const(a)) return constant(Bool(lanes), is_false(a));
  if (a->op == Op::Not) return a->args[0];
  if (a->op == Op::Broadcast)
    return broadcast(negate(a->args[0]), lanes / a->args[0].type().lanes());
  // A NaN makes both a < b and a >= b false.
  const bool exact =
      is_comparison(a->op) && (!a->args[0].type().is_float() || a->op == Op::Eq || a->op == Op::Ne);
  if (exact) return intern(make_binary(*negated(a->op), a->args[0], a->args[1]));
  return intern(make_not(a));
}

Expr Simplifier::select(const Expr &c, const Expr &a, const Expr &b) {
  if (is_true(c)) return a;
  if (is_false(c) || equal(a, b)) return b;
  if (c->op == Op::Not) return select(c->args[0], b, a);
  const Type t = a.type();
  if (t.element_of().is_bool()) {
    // One condition may choose between whole vectors.
    const Expr each = c.type().is_scalar() && t.is_vector() ? broadcast(c, t.lanes()) : c;
    if (is_true(a)) return and_or(Op::Or, each, b);
    if (is_false(b)) return and_or(Op::And, each, a);
    if (is_false(a)) return and_or(Op::And, negate(each), b);
    if (is_true(b)) return and_or(Op::Or, negate(each), a);
  }
  // select(c, select(c, x, y), z)  ->  select(c, x, z)
  if (a->op == Op::Select && equal(a->args[0], c)) return select(c, a->args[1], b);
  if (b->op == Op::Select && equal(b->args[0], c)) return select(c, a, b->args[2]);
  if (t.is_int_or_uint() && is_comparison(c->op) && c->op != Op::Eq && c->op != Op::Ne) {
    // select(a < b, a, b)  ->  min(a, b)
    const bool less = c->op == Op::Lt || c->op == Op::Le;
    if (equal(c->args[0], a) && equal(c->args[1], b))
      return min_max(less ? Op::Min : Op::Max, a, b);
    if (equal(c->args[0], b) && equal(c->args[1], a))
      return min_max(less ? Op::Max : Op::Min, a, b);
  }
  const Expr uc = uniform_value(c), ua = uniform_value(a), ub = uniform_value(b);
  if (t.is_vector() && uc.defined() && ua.defined() && ub.defined()) {
    return broadcast(select(uc, ua, ub), t.lanes());
  }
  return intern(make_select(c, a, b));
}

}  // namespace polyhalite
