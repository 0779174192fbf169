#include "codegen/passes/unroll_loops.h"

#include "codegen/ir/visit.h"
#include "codegen/passes/copy_body.h"
#include "codegen/passes/interleaved_stores.h"
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
    if (const Stmt all = interleaved_stores(r, n); all.defined()) return all;
    return copy_body_of_each(r, n);
  }
};

}  // namespace

Function unroll_loops(const Function &f) {
  Function out = f;
  out.body = Unroll()(f.body);
  return out;
}

}  // namespace polyhalite
