// Atomic updates: one instruction where there is one for the operator, else under a lock.
#include "codegen/ir/visit.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::AtomicRMWInst;
using llvm::Value;

namespace {

std::optional<AtomicRMWInst::BinOp> instruction_for(Op op, Type t) {
  const bool f = t.is_float();
  switch (op) {
    case Op::Add:
      return f ? AtomicRMWInst::FAdd : AtomicRMWInst::Add;
    case Op::Sub:
      return f ? AtomicRMWInst::FSub : AtomicRMWInst::Sub;
    case Op::Min:
      return f ? AtomicRMWInst::FMin : t.is_uint() ? AtomicRMWInst::UMin : AtomicRMWInst::Min;
    case Op::Max:
      return f ? AtomicRMWInst::FMax : t.is_uint() ? AtomicRMWInst::UMax : AtomicRMWInst::Max;
    default:
      return std::nullopt;
  }
}

bool loads_from(const Expr &e, const std::string &buffer) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) { found |= as_load(n) && as_load(n)->buffer == buffer; });
  return found;
}

// buf[i] = op(buf[i], e), e without buf: the operand e.
struct Update {
  AtomicRMWInst::BinOp op;
  Expr operand;
};

std::optional<Update> as_update(const Stmt &s) {
  if (s->kind != StmtKind::Store || s->args.size() > 2) return std::nullopt;
  const Expr &index = s->args[0], &value = s->args[1];
  const Type t = value.type();
  if (t.is_vector() || t.is_bool() || (t.is_float() && t.bits() < 32)) return std::nullopt;
  const auto op = instruction_for(value->op, t);
  if (!op) return std::nullopt;
  for (int own = 0; own < (value->op == Op::Sub ? 1 : 2); own++) {
    const LoadNode *load = as_load(value->args[own]);
    if (!load || load->buffer != s->name || load->args.size() > 1) continue;
    if (!equal(load->args[0], index) || loads_from(value->args[1 - own], s->name)) continue;
    return Update{*op, value->args[1 - own]};
  }
  return std::nullopt;
}

}  // namespace

void FunctionEmitter::emit_atomic(const StmtNode &s) {
  const Stmt &body = s.body[0];
  scopes_.memory_changed();
  if (const auto update = as_update(body)) {
    const Type t = body->args[1].type();
    Value *operand = emit(update->operand);
    Value *cell = scalar_address(body->name, t, body->args[0]);
    builder_.CreateAtomicRMW(update->op, cell, operand,
                             llvm::MaybeAlign(static_cast<uint64_t>(t.bytes())),
                             llvm::AtomicOrdering::Monotonic);
    scopes_.memory_changed();
    return;
  }
  if (kernel_) return emit_kernel_atomic(body);
  // Where each buffer has one cell of the update, any of them will do for the lock: all iterations
  // that meet in one meet in all. A scatter meets others in any of its cells.
  std::vector<const StmtNode *> stores;
  std::set<std::string> inside;
  for_each_stmt(body, [&](const Stmt &b) {
    if (b->kind == StmtKind::Let || b->kind == StmtKind::For) inside.insert(b->name);
    if (b->kind == StmtKind::Store) stores.push_back(b.get());
  });
  if (stores.empty()) return emit_stmt(body);
  const StmtNode &first = *stores[0];
  bool one_cell = first.args[0].type().is_scalar();
  for (const std::string &name : inside) {
    one_cell = one_cell && !uses_variable(first.args[0], name);
  }
  for (const StmtNode *a : stores) {
    for (const StmtNode *b : stores) {
      one_cell = one_cell && (a->name != b->name || equal(a->args[0], b->args[0]));
    }
  }
  Value *cell = one_cell ? scalar_address(first.name, first.args[1].type(), first.args[0])
                         : base_pointer(first.name);
  llvm::Type *pointer = builder_.getPtrTy();
  builder_.CreateCall(module_.declare("polyhalite_atomic_begin", builder_.getVoidTy(), {pointer}),
                      {cell});
  emit_stmt(body);
  builder_.CreateCall(module_.declare("polyhalite_atomic_end", builder_.getVoidTy(), {pointer}),
                      {cell});
  scopes_.memory_changed();
}

Value *FunctionEmitter::scalar_address(const std::string &buffer, Type t, const Expr &index) {
  const auto at =
      to_lane_address(index, [this](const std::string &name) { return definition(name); });
  internal_check(at.has_value(), "an atomic update's index has an address");
  return address(buffer, t, at->base);
}

}  // namespace polyhalite
