// The simplifier's inside: one function per operator that makes a simplified node out of simplified
// operands. simplify.cc walks; the other files hold the rules.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

/// Rewrites expressions under fixed bounds of variables. Equal results are one node, so that
/// comparing them is cheap on graphs with much sharing.
class Simplifier {
 public:
  explicit Simplifier(const VariableBounds &bounds) : bounds_(bounds) {}

  /// Each distinct node is simplified once.
  Expr operator()(const Expr &e);
  /// Bounds of every lane of a simplified integer expression.
  ConstantBounds bounds_of(const Expr &e);
  /// Bounds of a form of simplified atoms.
  ConstantBounds bounds_of(const Linear &l);
  /// A number that divides every value of a simplified affine scalar; 0 of 0.
  int64_t divisor_of(const Expr &e);

 private:
  int64_t divisor_of(const Linear &l);

  // simplify.cc
  Expr rewrite(const Expr &e);
  Expr rewrite_let(const LetNode &let);
  Expr rewrite_load(const Expr &e, std::vector<Expr> args);
  Expr call(const CallNode &c, std::vector<Expr> args);
  Expr cast(Type t, const Expr &a);
  Expr binary(Op op, const Expr &a, const Expr &b);
  Expr constant(Type t, int64_t value);
  Expr intern(const Expr &e);

  // arithmetic.cc
  Expr add(const Expr &a, const Expr &b);
  Expr subtract(const Expr &a, const Expr &b);
  Expr multiply(const Expr &a, const Expr &b);
  Expr from_linear(const Linear &l, const Expr &otherwise);
  /// May the sum, which no program has written, leave its type? Coordinates are taken to be far
  /// from their type's ends; what is loaded or passed may be any number.
  bool may_overflow(const Linear &l);
  bool is_any_number(const Expr &e);
  bool join_remainders(Linear &l);
  void join_quotients(Linear &l);

  // divide.cc
  Expr divide(const Expr &a, const Expr &b);
  Expr divide_linear(const Expr &a, int64_t k);
  Expr modulo(const Expr &a, const Expr &b);
  Expr modulo_linear(const Expr &a, int64_t k);
  std::optional<Expr> divide_ramp(const Expr &a, int64_t k);
  std::optional<Expr> modulo_ramp(const Expr &a, int64_t k);
  bool stays_within(const Expr &base, int64_t reach, int64_t k);

  // min_max.cc
  Expr min_max(Op op, const Expr &a, const Expr &b);
  Expr factor_min_max(Op op, const Expr &a, const Expr &b);

  // logic.cc
  Expr compare(Op op, const Expr &a, const Expr &b);
  Expr compare_linear(Op op, const Expr &a, const Expr &b);
  Expr and_or(Op op, const Expr &a, const Expr &b);
  Expr negate(const Expr &a);
  Expr select(const Expr &c, const Expr &a, const Expr &b);
  bool implies(const Expr &a, const Expr &b);

  // vector.cc
  Expr ramp(const Expr &base, const Expr &stride, int lanes);
  Expr broadcast(const Expr &value, int lanes);
  Expr shuffle(const Expr &e, std::vector<Expr> args);
  /// a op b where both are ramps or broadcasts and so is the result; else undefined.
  Expr binary_of_vectors(Op op, const Expr &a, const Expr &b);
  Expr binary_of_rows(Op op, const Expr &a, const Expr &b);

  // bounds.cc
  ConstantBounds compute_bounds(const Expr &e);
  ConstantBounds bounds_of_call(const CallNode &c);
  ConstantBounds bounds_of_linear(const Linear &l, int &budget);
  ConstantBounds bounds_of_difference(const Expr &a, const Expr &b);

  struct ShallowHash {
    size_t operator()(const Expr &e) const;
  };
  struct ShallowEqual {
    bool operator()(const Expr &a, const Expr &b) const;
  };

  const VariableBounds &bounds_;
  std::unordered_map<const ExprNode *, Expr> memo_;
  std::unordered_map<const ExprNode *, ConstantBounds> bounds_memo_;
  std::unordered_map<const ExprNode *, bool> any_number_memo_;
  std::unordered_set<Expr, ShallowHash, ShallowEqual> interned_;
  std::vector<Expr> keep_;  // keys of the maps stay alive
};

/// The one value of all lanes of a Broadcast; e itself if scalar; else undefined.
Expr uniform_value(const Expr &e);

}  // namespace polyhalite
