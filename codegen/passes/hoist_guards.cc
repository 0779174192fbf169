#include "codegen/passes/hoist_guards.h"

#include <vector>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

void add_parts(const Expr &condition, std::vector<Expr> *parts) {
  if (condition->op == Op::And) {
    for (const Expr &part : condition->args) add_parts(part, parts);
  } else {
    parts->push_back(condition);
  }
}

// What is read for a condition may be there where the others hold only.
Stmt under(const std::vector<Expr> &conditions, Stmt s) {
  Expr plain, reading;
  for (const Expr &c : conditions) {
    Expr &all = reads_memory(c) ? reading : plain;
    all = all.defined() ? make_binary(Op::And, all, c) : c;
  }
  if (reading.defined()) s = make_if(reading, s);
  return plain.defined() ? make_if(plain, s) : s;
}

class HoistGuards : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return s;
    const Stmt out = rewrite_children(s);
    const bool serial = out->kind == StmtKind::For && (out->loop_kind == LoopKind::Serial ||
                                                       out->loop_kind == LoopKind::Unrolled ||
                                                       out->loop_kind == LoopKind::Vector);
    if (!serial && out->kind != StmtKind::Let) return out;
    std::vector<Expr> parts, outside, inside;
    Stmt body = out->body[0];
    for (; body->kind == StmtKind::If && body->body.size() == 1; body = body->body[0])
      add_parts(body->args[0], &parts);
    for (const Expr &part : parts) {
      const bool moves = !uses_variable(part, out->name) && !reads_memory(part);
      (moves ? outside : inside).push_back(part);
    }
    if (outside.empty()) return out;
    return under(outside, with_parts(out, out->args, {under(inside, body)}));
  }
};

}  // namespace

Function hoist_guards(const Function &f) {
  Function out = f;
  out.body = HoistGuards()(f.body);
  return out;
}

}  // namespace polyhalite
