// associative: is an update f(cell) = F(f(cell), ...) the combination of the cell with something
// that an associative operator makes, so that partial results can be combined?
//
//   f(x) = f(x) - g(r)                          op a + b, operand 0 - g(r), identity 0
//   f(x) = select(c, max(g(r), f(x)), f(x))     op max(a, b), operand select(c, g(r), lowest)
//   {max(f[0], v), select(f[0] < v, r, f[1])}   op {max, select(a0 < b0, b1, a1)}
//   {f[0]*u - f[1]*v, f[0]*v + f[1]*u}          the product of complex numbers, by algebra
//   select(g(r) == f, !f, ...)                  by trying all orders of its operands,
//   finite_operator.h f(x) = a(r)*f(x) + b(r)                     as functions that compose,
//   step_functions.h
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct AssociativeUpdate {
  /// Per value of a partial result, in terms of the stage's variables. A partial result has the
  /// values of the Func, or where `applied` is not empty those that describe a function of them.
  std::vector<Expr> operands;
  std::vector<Expr> identity;
  /// op(b, a) = op(a, b) for all operands. Floats count as real numbers, as in Halide.
  bool commutative = true;
  /// Does the identity only stay out of results that at least one operand takes part in?
  bool needs_operand = false;
  /// Values that come from where one of them, the key, is least or greatest: of equal keys the one
  /// met first decides, or the one met last.
  struct Choice {
    std::vector<size_t> values;  // the key is one of them
    size_t key;
    bool least, last;
  };
  std::vector<Choice> choices;
  bool choices_alone = true;  // stand against op(b, a) = op(a, b)

  /// op(a, b).
  std::vector<Expr> combine(const std::vector<Expr> &a, const std::vector<Expr> &b) const;

  /// The Func's values where they were `cell` and a partial result has been taken in: combine(), or
  /// the function's.
  std::vector<Expr> apply(const std::vector<Expr> &cell, const std::vector<Expr> &partial) const;
  /// Of a partial result.
  std::vector<Type> types() const;

  std::vector<Expr> op;       // over left_symbol() and right_symbol()
  std::vector<Expr> applied;  // per value of the Func, over its left_symbol() and the partial
                              // result's right_symbol(); empty: it is `op`
};

/// nullopt where associativity is not proven; `why` then says what stands against it, with values
/// for which the operator is not associative where there are any. Partial results have the values
/// of the Func.
std::optional<AssociativeUpdate> prove_associative(const FuncDef &f, int stage,
                                                   std::string *why = nullptr);

/// The same, and updates that are functions of the cell that compose.
std::optional<AssociativeUpdate> prove_composable(const FuncDef &f, int stage,
                                                  std::string *why = nullptr);

/// The same of `values` over left_symbol()s, the cell's, which may be another one than the update
/// writes.
std::optional<AssociativeUpdate> prove_composable(const std::vector<Expr> &values,
                                                  std::string *why = nullptr);

}  // namespace polyhalite
