#include "codegen/passes/ring_accesses.h"

namespace polyhalite {

void RingAccesses::fold(int func, std::vector<Expr> &indices) const {
  const std::vector<int64_t> &rings = survey_.funcs[func].fold;
  for (size_t d = 0; d < rings.size(); d++) {
    if (rings[d] == 0) continue;
    indices[d] = make_binary(Op::Mod, indices[d], make_int(indices[d].type(), rings[d]));
  }
}

Expr RingAccesses::rewrite(const Expr &e) {
  const CallNode *c = as_call(e);
  if (!c || c->kind != CallKind::Func) return rewrite_children(e);
  std::vector<Expr> args;
  for (const Expr &a : c->args) args.push_back((*this)(a));
  fold(tree_.algorithm.index_of(c->name), args);
  return with_args(e, std::move(args));
}

}  // namespace polyhalite
