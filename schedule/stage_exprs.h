// stage_exprs: walking and rewriting all expressions of a definition.
#pragma once

#include "lang/ir/algorithm.h"
#include "lang/ir/visit.h"

namespace polyhalite {

template <typename Visit>
void for_each_expr(const StageDef &stage, Visit &&visit) {
  for (const Expr &e : stage.args) visit(e);
  for (const Expr &e : stage.values) visit(e);
  for (const ReductionVariable &r : stage.rvars) {
    visit(r.min);
    visit(r.extent);
  }
  if (stage.predicate.defined()) visit(stage.predicate);
}

/// `rewrite` is called with each expression and gives the new one.
template <typename Rewrite>
void rewrite_stage(StageDef &stage, Rewrite &&rewrite) {
  for (Expr &e : stage.args) e = rewrite(e);
  for (Expr &e : stage.values) e = rewrite(e);
  for (ReductionVariable &r : stage.rvars) {
    r.min = rewrite(r.min);
    r.extent = rewrite(r.extent);
  }
  if (stage.predicate.defined()) stage.predicate = rewrite(stage.predicate);
}

/// Calls of Func `from` become calls of Func `to`, with the same arguments.
class RenameCalls : public ExprRewriter {
 public:
  RenameCalls(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr result = rewrite_children(e);
    const CallNode *call = as_call(result);
    if (!call || call->kind != CallKind::Func || call->name != from_) return result;
    return make_func_call(call->type, to_, call->args, call->value_index);
  }

 private:
  const std::string from_, to_;
};

}  // namespace polyhalite
