// Accesses of folded Funcs go to their rings: f(x, y) -> f(x, y % 4).
#pragma once

#include <vector>

#include "lang/ir/visit.h"
#include "polyhedral/survey.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

class RingAccesses : public ExprRewriter {
 public:
  RingAccesses(const LoopTree &tree, const Survey &survey) : tree_(tree), survey_(survey) {}

  /// The same for the indices of one access of Func number `func`.
  void fold(int func, std::vector<Expr> &indices) const;

 protected:
  Expr rewrite(const Expr &e) override;

 private:
  const LoopTree &tree_;
  const Survey &survey_;
};

}  // namespace polyhalite
