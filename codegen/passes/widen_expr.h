// Expressions of a vector loop's body, for all of its iterations at once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lang/ir/visit.h"

namespace polyhalite {

/// One vector loop of n iterations. An expression of L lanes either stays as it is, being the same
/// in every iteration, or becomes one of n*L lanes, iteration after iteration.
struct VectorLoop {
  int n;
  std::map<std::string, Expr> varying;    // counter and symbols that differ by iteration
  std::set<std::string> private_buffers;  // allocated inside: element i of iteration y is i*n + y
  Expr mask;                              // n lanes: the iterations that take part, or undefined
  int least_masked_bits = 32;             // of elements that are loaded under masks
  std::set<std::string> counters;         // variables that are not negative
};

/// Puts the vector loop's values for its counter and what depends on it.
class WidenExpr : public ExprRewriter {
 public:
  explicit WidenExpr(const VectorLoop &loop) : loop_(loop) {}
  /// The n iterations' values, whether they differ or not.
  Expr widened(const Expr &e) { return widen(e, (*this)(e)); }
  /// False once something without a vector form was met.
  bool possible() const { return possible_; }
  /// Did a load stay scalar that only masked iterations need?
  bool has_uniform_load() const { return has_uniform_load_; }
  /// Where an access of `before` lies in a buffer with a copy per iteration.
  Expr private_index(const Expr &before, const Expr &after) const;
  /// `mask` of an access of `lanes` lanes per iteration, and the loop's own.
  Expr with_loop_mask(const Expr &mask, int lanes) const;

 protected:
  Expr rewrite(const Expr &e) override;

 private:
  Expr widen(const Expr &before, const Expr &after) const;
  bool rewrite_operands(const Expr &e, std::vector<Expr> *args);
  Expr rewrite_lanewise(const Expr &e);
  Expr rewrite_padded(const Expr &e);
  Expr loaded_under(const Expr &condition, const Expr &e, bool *found);
  Expr rewrite_acting(const Expr &e);
  Expr rewrite_trace_access(const Expr &e);
  Expr rewrite_trace(const Expr &e);
  Expr rewrite_ramp(const Expr &e);
  Expr rewrite_shuffle(const Expr &e);
  Expr rewrite_let(const Expr &e);
  Expr rewrite_load(const Expr &e);
  static Expr load_once(const LoadNode &load, const Expr &index);

  const VectorLoop &loop_;
  bool possible_ = true;
  bool has_uniform_load_ = false;
};

}  // namespace polyhalite
