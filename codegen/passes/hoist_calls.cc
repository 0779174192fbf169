#include "codegen/passes/hoist_calls.h"

#include <set>
#include <utility>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

// Gives symbols to the calls of one loop that do not change in it.
class TakeCalls : public ExprRewriter {
 public:
  TakeCalls(const std::string &loop, std::set<std::string> &local, Lets &taken)
      : loop_(loop), local_(local), taken_(taken) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (is_fixed_call(e)) return symbol(e);
    // What a let of the expression binds differs by iteration as well.
    const LetNode *let = as_let(e);
    if (!let) return rewrite_children(e);
    const bool fresh = local_.insert(let->name).second;
    const Expr r = rewrite_children(e);
    if (fresh) local_.erase(let->name);
    return r;
  }

 private:
  bool is_fixed_call(const Expr &e) const {
    const CallNode *call = as_call(e);
    if (!call || call->args.empty()) return false;
    if (call->kind != CallKind::PureExtern && call->kind != CallKind::Math) return false;
    for (const std::string &name : free_variables(e)) {
      if (local_.count(name)) return false;
    }
    bool fixed = true;
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      fixed = fixed && n->op != Op::Load &&
              (!c || c->kind == CallKind::PureExtern || c->kind == CallKind::Math ||
               c->kind == CallKind::Intrinsic);
    });
    return fixed;
  }

  Expr symbol(const Expr &e) {
    for (const auto &[name, call] : taken_) {
      if (equal(call, e)) return make_variable(e.type(), VariableKind::Symbol, name);
    }
    taken_.emplace_back(loop_ + ".call." + std::to_string(taken_.size()), e);
    return make_variable(e.type(), VariableKind::Symbol, taken_.back().first);
  }

  const std::string &loop_;
  std::set<std::string> &local_;
  Lets &taken_;
};

// The statements of a loop's body that run in every iteration.
class TakeFromBody : public StmtRewriter {
 public:
  TakeFromBody(const Stmt &loop, Lets &taken) : loop_(loop->name), taken_(taken) {
    for_each_stmt(loop, [&](const Stmt &s) {
      if (s->kind == StmtKind::For || s->kind == StmtKind::Let) local_.insert(s->name);
    });
  }

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind != StmtKind::If) return rewrite_children(s);
    return with_parts(s, {rewrite_expr(s->args[0])}, s->body);
  }

  Expr rewrite_expr(const Expr &e) override { return TakeCalls(loop_, local_, taken_)(e); }

 private:
  const std::string &loop_;
  std::set<std::string> local_;  // counters and symbols of the loop
  Lets &taken_;
};

class HoistCalls : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return s;  // nothing may stand between its loops
    const Stmt r = rewrite_children(s);         // inner loops first: calls climb loop by loop
    if (r->kind != StmtKind::For) return r;
    Lets taken;  // the symbol of each call
    const Stmt out = with_parts(r, r->args, {TakeFromBody(r, taken)(r->body[0])});
    return make_let_stmts(taken, out);
  }
};

}  // namespace

Function hoist_calls(const Function &f) {
  Function out = f;
  out.body = HoistCalls()(f.body);
  return out;
}

}  // namespace polyhalite
