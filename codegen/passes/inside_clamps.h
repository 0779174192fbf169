// inside_clamps: indices where a condition keeps them inside of what they are clamped to.
#pragma once

#include <functional>
#include <vector>

#include "lang/ir/visit.h"

namespace polyhalite {

/// Drops the clamps that a condition makes idle.
///
///     x >= 0 && x < n:   max(min(x, n - 1), 0)   ->   x
class InsideClamps : public ExprRewriter {
 public:
  explicit InsideClamps(const Expr &condition);

 protected:
  Expr rewrite(const Expr &e) override;

 private:
  void learn(const Expr &condition);
  bool is_least(const Expr &a, const Expr &b) const;  // a <= b

  std::vector<Expr> not_negative_;
};

/// e with `rewrite(load)` for every load.
Expr rewrite_loads(const Expr &e, const std::function<Expr(const Expr &)> &rewrite);

}  // namespace polyhalite
