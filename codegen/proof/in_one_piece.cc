#include "codegen/proof/in_one_piece.h"

#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

Expr untraced(const Expr &e) {
  const CallNode *c = as_intrinsic(e, intrinsic::kTraceAccess);
  return c ? untraced(c->args[0]) : e;
}

}  // namespace

std::vector<Expr> InOnePiece::indices(const std::string &func, const std::vector<Expr> &access) {
  const auto found = blocked_.find(func);
  if (found == blocked_.end()) return access;
  const std::vector<BlockedDimension> &dims = found->second;
  if (dims.size() > access.size()) return access;
  const size_t own = access.size() - dims.size();
  std::vector<Expr> indices(access.begin(), access.begin() + static_cast<std::ptrdiff_t>(own));
  for (size_t i = 0; i < dims.size(); i++) {
    const Expr place = untraced(access[own + i]);
    const ConstantBounds at = constant_bounds(place, counters_);
    if (!at.min || !at.max || *at.min < 0 || *at.max >= dims[i].size) unseen_.insert(func);
    Expr &index = indices[static_cast<size_t>(dims[i].dimension)];
    const Expr size = make_int(index.type(), dims[i].size);
    const Expr first = make_binary(Op::Mul, untraced(index), size);
    index = simplify(make_binary(Op::Add, make_binary(Op::Add, first, place), dims[i].min));
  }
  return indices;
}

Expr InOnePiece::rewrite(const Expr &e) {
  const Expr r = rewrite_children(e);
  const CallNode *c = as_call(r);
  if (!c || c->kind != CallKind::Func || !blocked_.count(c->name)) return r;
  return with_args(r, indices(c->name, c->args));
}

}  // namespace polyhalite
