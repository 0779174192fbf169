#include "lang/ir/widen_float16.h"

#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

Expr to_float32(const Expr &e) {
  return is_float16(e.type()) ? make_cast(Float(32, e.type().lanes()), e) : e;
}

bool computes(const Expr &e) {
  if (is_comparison(e->op)) return true;
  if (is_binary(e->op)) return e->op != Op::And && e->op != Op::Or;
  const CallNode *c = as_call(e);
  if (!c) return false;
  if (c->kind == CallKind::Math) return true;
  return c->kind == CallKind::Intrinsic &&
         (c->name == intrinsic::kAbs || c->name == intrinsic::kAbsd || c->name == intrinsic::kFma);
}

}  // namespace

Expr widen_float16(const Expr &e) {
  if (e->args.empty()) return Expr();
  const Type from = e->args[0].type(), t = e.type();
  if (e->op == Op::Cast) {
    const Type wide = Float(32, t.lanes());
    if ((!is_float16(from) && !is_float16(t)) || from == wide || t == wide) return Expr();
    return make_cast(t, make_cast(wide, e->args[0]));
  }
  if (!is_float16(from) || !computes(e)) return Expr();
  if (is_binary(e->op)) {
    return make_cast(t, make_binary(e->op, to_float32(e->args[0]), to_float32(e->args[1])));
  }
  auto call = std::make_shared<CallNode>(*as_call(e));
  call->type = Float(32, t.lanes());
  for (Expr &a : call->args) a = to_float32(a);
  return make_cast(t, Expr(std::shared_ptr<const ExprNode>(std::move(call))));
}

}  // namespace polyhalite
