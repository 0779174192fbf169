// translate: expressions and conditions -> affine rows of a Problem.
//
//   x + 2*y                row
//   min(a, b)              m with m <= a, m <= b, and m = a or m = b
//   e / 4, e % 4           q with 4q <= e <= 4q + 3;  e - 4q
//   select(c, a, b)        v with c and v = a, or not c and v = b
//   in(x), cast<int>(u8)   a free variable in the type's or the clamp's interval: a may-access
//   x * y                  a free variable; the answer is then no proof (see inexact())
//
// Each instance of a pair has a Translator of its own; what both instances see with the same value
// (parameters, outer loops, and opaque terms over these) is one variable of the Problem, kept in
// SharedAtoms.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "lang/ir/node.h"
#include "lang/simplify/linear.h"
#include "polyhedral/model/constraints.h"

namespace polyhalite {

/// Terms with the same value in every instance of a problem.
struct SharedAtoms {
  std::map<Expr, AffineRow, ExprLess> rows;
  std::set<std::string> changing;  // Funcs whose values differ between instances
};

class Translator {
 public:
  Translator(Problem &problem, SharedAtoms &shared) : problem_(problem), shared_(shared) {}

  /// A variable of this instance, by name, with its row.
  void bind(const std::string &name, AffineRow row) { bound_[name] = std::move(row); }
  /// A symbol of this instance; translated where it is first used.
  void define(const std::string &name, Expr value) { defined_[name] = std::move(value); }

  AffineRow row(const Expr &e);
  /// Adds what `condition` says to the problem. What cannot be said is left out.
  void assume(const Expr &condition);

  /// A term depends on data (a load, a Func's value): relations are may-relations.
  bool data_dependent() const { return data_dependent_; }
  /// The first term that the model could not express, so that a solution proves nothing.
  const std::optional<std::string> &inexact() const { return inexact_; }
  void mark_inexact(const std::string &what);

 private:
  AffineRow atom(const Expr &e);
  AffineRow translate_atom(const Expr &e, ModelVariable::Role role);
  AffineRow divide(const Expr &e, int64_t divisor);
  AffineRow smaller_or_larger(const Expr &e);
  AffineRow select(const Expr &e);
  AffineRow free_variable(const Expr &e, ModelVariable::Role role);
  bool is_shared(const Expr &e) const;
  std::optional<Choice> cases(const Expr &condition, bool holds);
  std::optional<Choice> compare(const Expr &condition, bool holds);

  Problem &problem_;
  SharedAtoms &shared_;
  std::map<std::string, AffineRow> bound_;
  std::map<std::string, Expr> defined_;
  std::map<Expr, AffineRow, ExprLess> own_;
  bool data_dependent_ = false;
  std::optional<std::string> inexact_;
};

}  // namespace polyhalite
