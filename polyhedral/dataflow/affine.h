// Affine: expressions and conditions as isl's piecewise affine functions and sets.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/ir/node.h"
#include "polyhedral/dataflow/isl_values.h"

namespace polyhalite::dataflow {

/// Numbers that are the same wherever they stand: parameters, fields of buffers, and what is made
/// of those in a way that is not affine. The same number has the same name.
class SharedNumbers {
 public:
  std::string name_of(const Expr &e);
  static std::string name_of(const VariableNode &v);
  /// Is there one of which only that is known?
  bool has_unknown() const { return !others_.empty(); }

 private:
  std::vector<Expr> others_;
};

/// Of points with named coordinates. What is not affine in them is undefined.
class Affine {
 public:
  /// Without `all_numbers`, what is made of parameters in ways that are not affine is undefined.
  Affine(isl_ctx *ctx, SharedNumbers &shared, std::string tuple, std::vector<std::string> dims,
         bool all_numbers = true);

  PwAff value(const Expr &e);
  Set holds(const Expr &condition);
  /// The points where all that is affine of `conditions` holds; clears `exact` where some is not.
  Set all_hold(const std::vector<Expr> &conditions, bool &exact);
  /// The points' coordinates to these values; undefined where one is not affine.
  Map values(const std::vector<Expr> &to, const std::string &tuple);
  Set universe() const { return Set(isl_set_universe(space_.copy())); }
  const std::vector<std::string> &dims() const { return dims_; }

 private:
  PwAff make_value(const Expr &e);
  Set compare(Op op, const Expr &a, const Expr &b);
  PwAff constant(int64_t v) const;
  PwAff parameter(const std::string &name) const;
  PwAff quotient(PwAff a, int64_t k) const;
  bool is_shared(const Expr &e) const;

  isl_ctx *ctx_;
  SharedNumbers &shared_;
  const bool all_numbers_;
  std::vector<std::string> dims_;
  std::map<std::string, int> position_;
  Space space_;
  std::unordered_map<const ExprNode *, PwAff> known_;
  std::vector<Expr> keep_;  // keys of known_ stay alive
};

}  // namespace polyhalite::dataflow
