#include "lang/ir/undef.h"

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

class ZeroForUndef : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    return as_intrinsic(e, intrinsic::kUndef) ? make_zero(e.type()) : rewrite_children(e);
  }
};

Expr both(const Expr &a, const Expr &b) {
  if (!a.defined()) return b;
  return b.defined() ? make_binary(Op::And, a, b) : a;
}

// An undefined result stands for true.
Expr defined_where(const Expr &e) {
  if (as_intrinsic(e, intrinsic::kUndef)) return make_false();
  Expr all;
  if (e->op == Op::Select) {
    const Expr c = e->args[0], a = defined_where(e->args[1]), b = defined_where(e->args[2]);
    if (a.defined() || b.defined()) {
      all = make_select(c, a.defined() ? a : make_true(), b.defined() ? b : make_true());
      if (a.defined() && is_false(a) && !b.defined()) all = make_not(c);
      if (b.defined() && is_false(b) && !a.defined()) all = c;
    }
    return both(all, defined_where(c));
  }
  if (e->op <= Op::StringImm) return all;
  for (const Expr &a : e->args) all = both(all, defined_where(a));
  return all;
}

}  // namespace

PartlyDefined split_undef(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) { found |= as_intrinsic(n, intrinsic::kUndef) != nullptr; });
  if (!found) return {e, Expr()};
  ZeroForUndef zero;
  return {zero(e), zero(defined_where(e))};
}

}  // namespace polyhalite
