// elimination: what a condition inside of a loop says of the loop's counter, whatever the counters
// of the loops inside are.
//
//   for xo { for xi in (0, 8) { ... xo*8 + xi < n } }     xo*8 + 7 < n, so that xo < n/8
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "lang/simplify/linear.h"

namespace polyhalite {

/// What is bound between a loop and a place in its body, outermost first.
struct Binder {
  std::string name;
  Expr value;        // of a symbol
  Expr min, extent;  // of a loop
  bool may_be_cut = false;
};

/// e without likely().
Expr strip_likely(const Expr &e);

/// a - b + constant
Linear linear_difference(const Expr &a, const Expr &b, int64_t constant = 0);

/// Adds linear forms that are >= 0, all of them, where the comparison of two Int(32)s is `wanted`,
/// and only there. False where there are no such forms.
bool add_inequalities(const Expr &comparison, bool wanted, std::vector<Linear> *out);

/// The names that the forms depend on, through what is bound as well.
std::set<std::string> dependences(const std::vector<Linear> &forms,
                                  const std::vector<Binder> &binders);

/// Of l >= 0, which has the counter: the least counter where it holds if more of the counter helps,
/// else the first one where it ceases to hold.
Linear bound_of(const Linear &l, const Expr &counter);

/// Brings inequalities at a place into terms of one loop's counter and what is outside of that
/// loop.
class Elimination {
 public:
  Elimination(const std::string &counter, const std::vector<Binder> &binders);

  /// Adds inequalities to `out` that imply l >= 0 for every value of the inner counters. False
  /// where none are found.
  bool reduce(Linear l, std::vector<Linear> *out);

  /// Do the reduced inequalities hold wherever the original ones do?
  bool exact() const { return exact_; }

 private:
  bool is_local(const Expr &e) const;
  bool reduce_compound(const Linear &l, const Expr &atom, int64_t coefficient,
                       std::vector<Linear> *out);

  const std::string &counter_;
  const std::vector<Binder> &binders_;
  std::set<std::string> inner_;
  int steps_ = 0;
  bool exact_ = true;
};

}  // namespace polyhalite
