// associative: is an update f(cell) = F(f(cell), ...) the combination of the cell with something
// that an associative operator makes, so that partial results can be combined?
//
//   f(x) = f(x) - g(r)                          op a + b, operand 0 - g(r), identity 0
//   f(x) = select(c, max(g(r), f(x)), f(x))     op max(a, b), operand select(c, g(r), lowest)
//   {max(f[0], v), select(f[0] < v, r, f[1])}   op {max, select(a0 < b0, b1, a1)}
//   {f[0]*u - f[1]*v, f[0]*v + f[1]*u}          the product of complex numbers, by algebra
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct AssociativeUpdate {
  /// Per value of the Func, in terms of the stage's variables.
  std::vector<Expr> operands;
  std::vector<Expr> identity;
  /// op(b, a) = op(a, b) for all operands. Floats count as real numbers, as in Halide.
  bool commutative = true;
  /// Does the identity only stay out of results that at least one operand takes part in?
  bool needs_operand = false;

  /// op(a, b).
  std::vector<Expr> combine(const std::vector<Expr> &a, const std::vector<Expr> &b) const;

  std::vector<Expr> op;  // over the Symbols of left_symbol() and right_symbol()
};

/// nullopt where associativity is not proven; `why` then says what stands against it.
std::optional<AssociativeUpdate> prove_associative(const FuncDef &f, int stage,
                                                   std::string *why = nullptr);

}  // namespace polyhalite
