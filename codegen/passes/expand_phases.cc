#include "codegen/passes/expand_phases.h"

#include "codegen/ir/visit.h"
#include "codegen/passes/copy_body.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

// Does the counter stand in the condition of an If or a select, with loops around it inside of
// `body`? Statements of which there may be one only are left alone.
bool chooses(const std::string &counter, const Stmt &body) {
  bool loops = false, conditions = false, may = true;
  for_each_stmt(body, [&](const Stmt &s) {
    switch (s->kind) {
      case StmtKind::For:
        loops |= s->loop_kind == LoopKind::Serial || s->loop_kind == LoopKind::Parallel;
        may &= !is_gpu_loop(s->loop_kind);
        break;
      case StmtKind::If:
        conditions |= uses_variable(s->args[0], counter);
        break;
      case StmtKind::Block:
      case StmtKind::Let:
      case StmtKind::Provide:
      case StmtKind::Produce:
      case StmtKind::Allocate:
      case StmtKind::Atomic:
        break;
      default:
        may = false;
    }
    for (const Expr &e : s->args) {
      for_each_node(e, [&](const Expr &n) {
        conditions |= n->op == Op::Select && uses_variable(n->args[0], counter);
      });
    }
  });
  return loops && conditions && may;
}

class Expand : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return s;
    const Stmt r = rewrite_children(s);
    int64_t n;
    if (r->kind != StmtKind::For || r->loop_kind != LoopKind::Unrolled ||
        !is_const_int(r->args[1], &n) || !chooses(r->name, r->body[0])) {
      return r;
    }
    return copy_body_of_each(r, n);
  }
};

}  // namespace

Function expand_phases(const Function &f) {
  Function out = f;
  out.body = Expand()(f.body);
  return out;
}

}  // namespace polyhalite
