#include "codegen/passes/widen_float16.h"

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "lang/ir/widen_float16.h"

namespace polyhalite {

namespace {

class WidenFloat16 : public ExprRewriter {
 public:
  explicit WidenFloat16(bool has_halves) : has_halves_(has_halves) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const bool simple = r->op == Op::Add || r->op == Op::Sub || r->op == Op::Mul;
    if (has_halves_ && simple && r.type().code() == Type::Float) return r;
    const Expr wide = widen_float16(r);
    return wide.defined() ? wide : r;
  }

 private:
  bool has_halves_;
};

class WidenStmt : public StmtRewriter {
 public:
  explicit WidenStmt(bool has_halves) : widen_(has_halves) {}

 protected:
  Expr rewrite_expr(const Expr &e) override { return widen_(e); }

 private:
  WidenFloat16 widen_;
};

}  // namespace

Function widen_float16(const Function &f, const Target &target) {
  const bool has_halves =
      target.has_feature(Target::ARMFp16) || target.has_feature(Target::AVX512_SapphireRapids);
  Function out = f;
  out.body = WidenStmt(has_halves)(f.body);
  return out;
}

}  // namespace polyhalite
