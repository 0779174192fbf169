#include "codegen/proof/in_one_piece.h"

#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

Expr untraced(const Expr &e) {
  const CallNode *c = as_intrinsic(e, intrinsic::kTraceAccess);
  return c ? untraced(c->args[0]) : e;
}

bool is_mod(const Expr &e, int64_t *n) { return e->op == Op::Mod && is_const_int(e->args[1], n); }

// Of a ring of whole blocks, whose two numbers were simplified each for itself:
//   (i % 4)/2 and j % 2, j = i + 2*k   ->   i % 4
// Null where they are of another form.
Expr place_in_ring(const Expr &block, const Expr &place, int64_t size) {
  int64_t k = 0, n = 0, m = 0;
  if (block->op != Op::Div || !is_const_int(block->args[1], &k) || k != size) return Expr();
  const Expr &ring = block->args[0];
  if (!is_mod(ring, &n) || n % size != 0 || !is_mod(place, &m) || m != size) return Expr();
  const Expr apart = make_binary(Op::Sub, ring->args[0], place->args[0]);
  return is_zero(simplify(make_binary(Op::Mod, apart, place->args[1]))) ? ring : Expr();
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
    const Expr block = untraced(index);
    if (const Expr ring = place_in_ring(block, simplify(place), dims[i].size); ring.defined()) {
      // As it is written: (y - 1) % 4 tells of y - 1, and (y + 3) % 4 does not.
      index = is_zero(dims[i].min) ? ring : simplify(make_binary(Op::Add, ring, dims[i].min));
      continue;
    }
    const Expr size = make_int(index.type(), dims[i].size);
    const Expr first = make_binary(Op::Mul, block, size);
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
