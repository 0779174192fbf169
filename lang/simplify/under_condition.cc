#include "lang/simplify/under_condition.h"

#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

class UnderCondition : public ExprRewriter {
 public:
  UnderCondition(const Expr &condition, bool holds) : condition_(condition), holds_(holds) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (e->op == Op::Select && equal(e->args[0], condition_)) {
      return (*this)(e->args[holds_ ? 1 : 2]);
    }
    return rewrite_children(e);
  }

 private:
  const Expr &condition_;
  const bool holds_;
};

}  // namespace

Expr under_condition(const Expr &e, const Expr &condition, bool holds) {
  return UnderCondition(condition, holds)(e);
}

}  // namespace polyhalite
