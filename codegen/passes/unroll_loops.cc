#include "codegen/passes/unroll_loops.h"

#include "codegen/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

class Unroll : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    const Stmt r = rewrite_children(s);
    if (r->kind != StmtKind::For || r->loop_kind != LoopKind::Unrolled) return r;
    int64_t n;
    internal_check(is_const_int(r->args[1], &n), "unroll_loops: the extent is no constant");
    std::vector<Stmt> copies;
    for (int64_t i = 0; i < n; i++) {
      const Expr at = simplify(make_binary(Op::Add, r->args[0], make_int(Int(32), i)));
      copies.push_back(substitute(r->name, at, r->body[0]));
    }
    return make_block(std::move(copies));
  }
};

}  // namespace

Function unroll_loops(const Function &f) {
  Function out = f;
  out.body = Unroll()(f.body);
  return out;
}

}  // namespace polyhalite
