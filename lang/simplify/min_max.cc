// min and max.
#include <algorithm>
#include <vector>

#include "lang/simplify/operators.h"
#include "lang/simplify/simplifier.h"

namespace polyhalite {

namespace {

bool has_operand(Op op, const Expr &nest, const Expr &x) {
  if (nest->op != op) return false;
  return equal(nest->args[0], x) || equal(nest->args[1], x) || has_operand(op, nest->args[0], x) ||
         has_operand(op, nest->args[1], x);
}

}  // namespace

// min(x + z, y + z)  ->  min(x, y) + z
Expr Simplifier::factor_min_max(Op op, const Expr &a, const Expr &b) {
  Linear x = to_linear(a), y = to_linear(b), common;
  common.type = a.type();
  for (const auto &[atom, c] : x.terms) {
    auto it = y.terms.find(atom);
    if (it != y.terms.end() && it->second == c) common.terms[atom] = c;
  }
  if (x.constant == y.constant && !x.is_constant() && !y.is_constant()) {
    common.constant = x.constant;
  }
  if (common.terms.empty() && common.constant == 0) return Expr();
  x.add(common, -1);
  y.add(common, -1);
  if (may_overflow(x) || may_overflow(y)) return Expr();
  const Expr none = make_binary(op, a, b);
  const Expr rest = min_max(op, from_linear(x, a), from_linear(y, b));
  return add(rest, from_linear(common, none));
}

Expr Simplifier::min_max(Op op, const Expr &a, const Expr &b) {
  if (equal(a, b)) return a;
  const Type t = a.type();
  // A float min is not commutative: which zero, and whether a NaN, comes out depends on the order.
  if (!t.is_int_or_uint()) return intern(make_binary(op, a, b));
  // Does x make y superfluous?
  auto beats = [&](const Expr &x, const Expr &y) {
    const ConstantBounds d = bounds_of_difference(x, y);
    return op == Op::Min ? d.max && *d.max <= 0 : d.min && *d.min >= 0;
  };
  if (beats(a, b)) return a;
  if (beats(b, a)) return b;

  // Operands of one side were held against each other when it was made.
  std::vector<Expr> operands, of_b;
  list_operands(op, a, operands);
  list_operands(op, b, of_b);
  const Op other = op == Op::Min ? Op::Max : Op::Min;
  size_t of_a = operands.size();
  for (const Expr &y : of_b) {
    bool needed = true;
    for (size_t i = 0; i < of_a && needed;) {
      const Expr &x = operands[i];
      // min(x, max(x, y))  ->  x
      needed = !(beats(x, y) || has_operand(other, y, x));
      if (needed && (beats(y, x) || has_operand(other, x, y))) {
        operands.erase(operands.begin() + static_cast<long>(i));
        of_a--;
      } else {
        i++;
      }
    }
    if (needed) operands.push_back(y);
  }
  // max(min(x, y), min(x, z)) stays: both forms cost the same.
  std::sort(operands.begin(), operands.end(), [](const Expr &x, const Expr &y) {
    // Constants come last.
    const bool cx = is_const(x), cy = is_const(y);
    return cx != cy ? cy : polyhalite::compare(x, y) < 0;
  });
  if (operands.size() == 2 && t.is_affine() && t.is_scalar()) {
    const Expr factored = factor_min_max(op, operands[0], operands[1]);
    if (factored.defined()) return factored;
  }
  Expr r = operands[0];
  for (size_t i = 1; i < operands.size(); i++) r = intern(make_binary(op, r, operands[i]));
  return r;
}

}  // namespace polyhalite
