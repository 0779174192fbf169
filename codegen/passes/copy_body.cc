#include "codegen/passes/copy_body.h"

#include <utility>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

class CopyExpr : public ExprRewriter {
 public:
  CopyExpr(const std::string &counter, Expr at) : counter_(counter), at_(std::move(at)) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (v) return v->name == counter_ ? at_ : e;
    if (e->op != Op::Select) return rewrite_children(e);
    const Expr condition = (*this)(e->args[0]);
    if (condition.same_as(e->args[0])) return rewrite_children(e);
    const Expr decided = simplify(condition);
    if (is_true(decided)) return (*this)(e->args[1]);
    if (is_false(decided)) return (*this)(e->args[2]);
    return make_select(decided, (*this)(e->args[1]), (*this)(e->args[2]));
  }

 private:
  const std::string &counter_;
  const Expr at_;
};

class CopyBody : public StmtRewriter {
 public:
  CopyBody(const std::string &counter, Expr at) : copy_(counter, std::move(at)) {}

 protected:
  Expr rewrite_expr(const Expr &e) override { return copy_(e); }

 private:
  CopyExpr copy_;
};

}  // namespace

Stmt copy_body(const std::string &counter, const Expr &at, const Stmt &body) {
  return CopyBody(counter, at)(body);
}

}  // namespace polyhalite
