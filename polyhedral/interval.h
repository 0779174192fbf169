// Symbolic interval arithmetic: bounds an expression over what a scope sees, by replacing the
// variables that it does not see by their own bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/simplify/linear.h"
#include "polyhedral/constant_bounds.h"
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

/// A sum of variables, without constant, of which a condition says where it lies.
struct LimitedSum {
  Linear sum;
  Interval within;  // over what every scope sees; an end that nothing is said of is null
  Expr others;      // what the condition says besides; null: nothing
};

class Bounder {
 public:
  /// What a variable is to the scope: nullopt if the scope sees it, else its interval, over
  /// variables that are bounded in turn.
  using Resolve = std::function<std::optional<Interval>(const VariableNode &)>;

  /// What is known of a Func's value, in its type.
  using ValueOf = std::function<Interval(const CallNode &)>;

  /// A number that an expression over what the scope sees never exceeds, where one is known.
  using UpperLimit = std::function<std::optional<int64_t>(const Expr &)>;

  explicit Bounder(Resolve resolve) : resolve_(std::move(resolve)) {}
  /// Bounds floats and values of Funcs too, as if no value were a NaN or read from memory that
  /// nobody wrote: whoever uses the result keeps accesses inside by other means.
  Bounder(Resolve resolve, ValueOf value_of)
      : resolve_(std::move(resolve)), value_of_(std::move(value_of)) {}

  /// Lets quotients and remainders be exact for what lies between two multiples of the divisor.
  void set_upper_limit(UpperLimit limit) { upper_limit_ = std::move(limit); }

  /// What variables are where this condition holds, and perhaps no other.
  using ResolveWhere = std::function<Resolve(const Expr &)>;
  /// Bounds hold where these sums, the longest ones first, are within their limits. What is a point
  /// stays one, clamped to them.
  void set_limited_sums(std::vector<LimitedSum> sums, ResolveWhere resolve_where) {
    limited_ = std::move(sums);
    resolve_where_ = std::move(resolve_where);
  }

  /// Bounds of an Int(32) expression; with values, of one of any scalar type, where they are known.
  /// Loads and calls are opaque: bounded by their type alone.
  Interval operator()(const Expr &e);

 private:
  Interval bound(const Expr &e);
  Interval bound_float(const Expr &e);
  Interval bound_float_call(const CallNode &call);
  Interval bound_float_product(const Expr &a, const Expr &b, Op op);
  /// Of an integer expression by constants, those of Funcs' values among them.
  ConstantInterval constants_of(const Expr &e);
  Interval bound_linear(const Expr &e);
  Interval bound_sum(const Linear &l);
  /// Each term on its own, whatever limits sums of them.
  Interval bound_terms(const Linear &l);
  Interval bound_limited(const LimitedSum &s);
  /// Does a variable have a say in terms of both?
  bool depend_on_another(const Linear &a, const Linear &b);
  /// The variables that the scope does not see on which e's value depends, their ends' included.
  const std::vector<int> &unseen_in(const Expr &e);
  /// The upper or lower end of a sum of terms that may depend on one another. `tries` limits how
  /// often it is split.
  Expr end_of_sum(Linear l, bool upper, int &tries);
  Interval bound_atom(const Expr &e);
  Interval bound_product(const Expr &a, const Expr &b);
  /// The multiple of k, as an expression, between which and the next one `a` lies; null where none
  /// is known.
  Expr multiple_below(const Interval &a, int64_t k) const;
  bool sees_all(const Expr &e);

  Resolve resolve_;
  ValueOf value_of_;
  UpperLimit upper_limit_;
  std::vector<LimitedSum> limited_;
  ResolveWhere resolve_where_;
  std::unordered_map<const ExprNode *, Interval> memo_;
  std::unordered_map<const ExprNode *, bool> seen_;
  std::unordered_map<const ExprNode *, std::vector<int>> unseen_;  // sorted numbers of variables
  std::map<std::string, int> number_;
  std::vector<Expr> keep_;  // keys of the maps stay alive
};

/// e without likely() and lets; shifts by constants are quotients and products.
Expr strip_hints(const Expr &e);
/// Floats that become integers inside e are computed as they are written, wherever that is: ends of
/// regions and of regions inside of these come out of the same arithmetic.
Expr with_strict_floats(const Expr &e);

}  // namespace polyhalite
