// Symbolic interval arithmetic: bounds an expression over what a scope sees, by replacing the
// variables that it does not see by their own bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "lang/simplify/linear.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Null ends are unbounded.
struct Interval {
  Expr min, max;
  bool is_point() const { return min.defined() && min.same_as(max); }
};

/// min and max of Int(32) expressions in canonical form; one of them where the difference is known.
Expr smaller(const Expr &a, const Expr &b);
Expr larger(const Expr &a, const Expr &b);
/// Canonical sum and difference.
Expr sum(const Expr &a, const Expr &b);
Expr difference(const Expr &a, const Expr &b);
Expr product(const Expr &a, int64_t k);
inline Expr sum(const Expr &a, int64_t k) { return sum(a, make_int(a.type(), k)); }
/// The union's box; an unbounded end stays unbounded.
Interval hull(const Interval &a, const Interval &b);

class Bounder {
 public:
  /// What a variable is to the scope: nullopt if the scope sees it, else its interval, over
  /// variables that are bounded in turn.
  using Resolve = std::function<std::optional<Interval>(const VariableNode &)>;

  explicit Bounder(Resolve resolve) : resolve_(std::move(resolve)) {}

  /// Bounds of an Int(32) expression. Loads and calls are opaque: bounded by their type alone.
  Interval operator()(const Expr &e);

 private:
  Interval bound(const Expr &e);
  Interval bound_linear(const Expr &e);
  Interval bound_atom(const Expr &e);
  Interval bound_product(const Expr &a, const Expr &b);
  bool sees_all(const Expr &e);

  Resolve resolve_;
  std::map<const ExprNode *, Interval> memo_;
  std::map<const ExprNode *, bool> seen_;
  std::vector<Expr> keep_;  // keys of the maps stay alive
};

/// Constant bounds of an integer expression by its form and type alone, exact about wrapping.
struct ConstantInterval {
  std::optional<int64_t> min, max;
};
ConstantInterval constant_interval(const Expr &e);

/// A constant that `e` never exceeds, if one is found: symbols and loop counters are replaced by
/// `expand` (value or bounds), min, max and divisions by their properties.
class ConstantUpperBound {
 public:
  struct Meaning {
    Expr value;         // exact, or null
    Expr lower, upper;  // or null
  };
  using Expand = std::function<Meaning(const VariableNode &)>;

  explicit ConstantUpperBound(Expand expand) : expand_(std::move(expand)) {}
  std::optional<int64_t> operator()(const Expr &e);

 private:
  std::optional<int64_t> bound(Linear l, int depth);

  Expand expand_;
  int budget_ = 0;
};

/// e without likely() and lets.
Expr strip_hints(const Expr &e);

}  // namespace polyhalite
