#include "codegen/passes/copy_body.h"

#include <utility>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

class CopyExpr : public DecideSelects {
 public:
  CopyExpr(const std::string &counter, Expr at) : counter_(counter), at_(std::move(at)) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (v) return v->name == counter_ ? at_ : e;
    return e->op == Op::Select ? rewrite_select(e) : rewrite_children(e);
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

Expr DecideSelects::rewrite_select(const Expr &e) {
  const Expr condition = (*this)(e->args[0]);
  if (condition.same_as(e->args[0])) return rewrite_children(e);
  const Expr decided = simplify(condition);
  if (is_true(decided)) return (*this)(e->args[1]);
  if (is_false(decided)) return (*this)(e->args[2]);
  return make_select(decided, (*this)(e->args[1]), (*this)(e->args[2]));
}

Stmt copy_body(const std::string &counter, const Expr &at, const Stmt &body) {
  return CopyBody(counter, at)(body);
}

Stmt copy_body_of_each(const Stmt &loop, int64_t iterations) {
  std::vector<Stmt> copies;
  for (int64_t i = 0; i < iterations; i++) {
    const Expr at = simplify(make_binary(Op::Add, loop->args[0], make_int(Int(32), i)));
    copies.push_back(copy_body(loop->name, at, loop->body[0]));
  }
  return make_block(std::move(copies));
}

}  // namespace polyhalite
