// inside_clamps: indices where a condition keeps them inside of what they are clamped to.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lang/ir/visit.h"

namespace polyhalite {

/// Drops the clamps that a condition makes idle.
///
///     x >= 0 && x < n:   max(min(x, n - 1), 0)   ->   x
///
/// `counters`: variables that are known not to be negative.
class InsideClamps : public ExprRewriter {
 public:
  InsideClamps(const Expr &condition, const std::set<std::string> &counters);

 protected:
  Expr rewrite(const Expr &e) override;

 private:
  void learn(const Expr &condition);
  bool is_least(const Expr &a, const Expr &b) const;  // a <= b

  std::vector<Expr> not_negative_;
  const std::set<std::string> &counters_;
};

/// Is e at least 0, as its form alone and these variables, which are, tell?
bool is_not_negative(const Expr &e, const std::set<std::string> &variables);

/// e with `rewrite(load)` for every load.
Expr rewrite_loads(const Expr &e, const std::function<Expr(const Expr &)> &rewrite);

}  // namespace polyhalite
