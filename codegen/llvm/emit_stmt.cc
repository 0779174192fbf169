// Statements: loops, conditions, checks.
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_profiler.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

// Unrolling and vectorizing are the schedule's to say.
llvm::MDNode *loop_properties(llvm::LLVMContext &context) {
  auto property = [&](const char *name) {
    return llvm::MDNode::get(context, llvm::MDString::get(context, name));
  };
  auto *no_vectors = llvm::MDNode::get(
      context, {llvm::MDString::get(context, "llvm.loop.vectorize.enable"),
                llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context))});
  llvm::MDNode *loop = llvm::MDNode::getDistinct(
      context, {nullptr, property("llvm.loop.unroll.disable"), no_vectors});
  loop->replaceOperandWith(0, loop);
  return loop;
}

}  // namespace

llvm::BasicBlock *FunctionEmitter::block(const char *name) {
  return llvm::BasicBlock::Create(context_, name, function_);
}

void FunctionEmitter::emit_stmt(const Stmt &s) {
  if (straight_line_ && !fields_loaded_) load_fields_for(s);
  switch (s->kind) {
    case StmtKind::Block:
      strided_.push_back(strided_loads_of(s->body));
      for (const Stmt &child : s->body) emit_stmt(child);
      strided_.pop_back();
      return;
    case StmtKind::For:
      if (is_thread_loop(s)) return emit_phase(thread_nest(s));
      internal_check(s->loop_kind == LoopKind::Serial || s->loop_kind == LoopKind::Parallel,
                     "vector and unrolled loops are lowered before emission");
      return s->loop_kind == LoopKind::Parallel ? emit_parallel_for(*s) : emit_serial_for(*s);
    case StmtKind::Let:
      bind_symbol(s->name, s->args[0]);
      // A copy of the event is another event.
      if (as_intrinsic(s->args[0], intrinsic::kTrace)) scopes_.memory_changed();
      emit_stmt(s->body[0]);
      scopes_.pop();
      return;
    case StmtKind::Allocate:
      return emit_allocate(*s);
    case StmtKind::Store:
      strided_.push_back(strided_loads_of({s}));
      if (s->is_async) {
        emit_async_store(*s);
      } else {
        emit_store(*s);
      }
      strided_.pop_back();
      return;
    case StmtKind::If:
      return emit_if(*s);
    case StmtKind::Assert:
      return emit_assert(*s);
    case StmtKind::Fork:
      return emit_fork(*s);
    case StmtKind::Acquire:
      return emit_acquire(*s);
    case StmtKind::Release:
      return emit_release(*s);
    case StmtKind::Evaluate:
      emit(s->args[0]);
      if (as_intrinsic(s->args[0], intrinsic::kTrace)) scopes_.memory_changed();
      return;
    case StmtKind::Produce:
      return emit_produce(*s);
    case StmtKind::Memoize:
      return emit_memoize(*s);
    case StmtKind::Profile:
      return emit_profile(*s);
    case StmtKind::Atomic:
      return emit_atomic(*s);
    case StmtKind::Kernel:
      return emit_launch(s);
    case StmtKind::Barrier:
      return emit_barrier();
    case StmtKind::CommitCopies:
      return emit_commit_copies();
    case StmtKind::WaitCopies:
      return emit_wait_copies(*s);
    case StmtKind::Collective:
      return emit_collective(*s);
    case StmtKind::Transfer:
      return emit_transfer(*s);
    case StmtKind::Provide:
    case StmtKind::Place:
      break;
  }
  internal_check(false, "flat loop IR has no boxes");
}

// Counters have 64 bits, those of kernels 32.
void FunctionEmitter::emit_serial_for(const StmtNode &loop) {
  auto bound = [&](const Expr &e) { return kernel_ ? emit(e) : emit_wide(e); };
  Value *first = bound(loop.args[0]);
  emit_turns(loop, first, builder_.CreateNSWAdd(first, bound(loop.args[1])));
}

void FunctionEmitter::emit_turns(const StmtNode &loop, Value *first, Value *end) {
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *body = block(loop.name.c_str()), *after = block("after");
  builder_.CreateCondBr(builder_.CreateICmpSLT(first, end), body, after);

  builder_.SetInsertPoint(body);
  llvm::PHINode *counter = builder_.CreatePHI(first->getType(), 2, loop.name);
  counter->addIncoming(first, before);
  const bool outside = straight_line_;
  straight_line_ = false;
  depth_++;
  scopes_.memory_changed();
  scopes_.push();
  scopes_.bind(loop.name, {builder_.CreateTrunc(counter, builder_.getInt32Ty()),
                           builder_.CreateSExt(counter, builder_.getInt64Ty()), depth_, Expr()});
  emit_stmt(loop.body[0]);
  scopes_.pop();
  scopes_.memory_changed();
  depth_--;
  straight_line_ = outside;

  Value *next = builder_.CreateNSWAdd(counter, llvm::ConstantInt::get(counter->getType(), 1));
  counter->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst *back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, after);
  // A value of a long loop keeps its register before one of a short nest beside it.
  int64_t turns = 0;
  if (is_const_int(loop.args[1], &turns) && turns > 1 && turns <= INT32_MAX) {
    const auto again = static_cast<uint32_t>(turns - 1);
    back->setMetadata(llvm::LLVMContext::MD_prof,
                      llvm::MDBuilder(context_).createBranchWeights(again, 1));
  }
  back->setMetadata(llvm::LLVMContext::MD_loop, loop_properties(context_));
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::emit_if(const StmtNode &s) {
  Value *condition = emit(s.args[0]);
  llvm::BasicBlock *yes = block("then"), *after = block("end_if");
  const bool has_else = s.body.size() > 1;
  llvm::BasicBlock *no = has_else ? block("else") : after;
  builder_.CreateCondBr(condition, yes, no);
  const bool outside = straight_line_;
  straight_line_ = false;
  for (size_t i = 0; i < s.body.size(); i++) {
    builder_.SetInsertPoint(i == 0 ? yes : no);
    scopes_.push();
    emit_stmt(s.body[i]);
    scopes_.pop();
    builder_.CreateBr(after);
  }
  straight_line_ = outside;
  builder_.SetInsertPoint(after);
}

void FunctionEmitter::emit_assert(const StmtNode &s) {
  llvm::BasicBlock *fail = block("failed"), *holds = block("holds");
  llvm::MDNode *likely = llvm::MDBuilder(context_).createBranchWeights(kLikelyWeight, 1);
  Expr condition = s.args[0];
  // The exception to a check is seldom: asked for where the check fails alone.
  if (condition->op == Op::Or) {
    llvm::BasicBlock *exception = block("exception");
    builder_.CreateCondBr(emit(condition->args[1]), holds, exception, likely);
    builder_.SetInsertPoint(exception);
    condition = condition->args[0];
    const bool outside = straight_line_;
    straight_line_ = false;
    scopes_.push();
    builder_.CreateCondBr(emit(condition), holds, fail, likely);
    scopes_.pop();
    straight_line_ = outside;
  } else {
    builder_.CreateCondBr(emit(condition), holds, fail, likely);
  }
  builder_.SetInsertPoint(fail);
  scopes_.push();
  // Loaded again, so that the check alone needs no register for them.
  if (straight_line_ && !fields_loaded_) {
    for_each_node(s.args[1], [&](const Expr &e) {
      const VariableNode *v = as_variable(e);
      if (!v || v->kind != VariableKind::BufferField || v->image) return;
      Value *value = field_value(v->name);
      scopes_.bind(v->name, {value, builder_.CreateSExt(value, builder_.getInt64Ty()), 0, Expr()});
    });
  }
  return_code(emit(s.args[1]));
  scopes_.pop();
  builder_.SetInsertPoint(holds);
}

void FunctionEmitter::return_code(Value *code) {
  for (auto heap = live_heap_.rbegin(); heap != live_heap_.rend(); ++heap) {
    heap->is_on_device ? free_on_device(heap->pointer)
                       : emit_free_unless_framed(heap->pointer, heap->frame);
  }
  end_profile();
  builder_.CreateRet(code);
}

void FunctionEmitter::return_if_nonzero(Value *code) {
  llvm::BasicBlock *fail = block("failed"), *fine = block("fine");
  builder_.CreateCondBr(builder_.CreateICmpEQ(code, builder_.getInt32(0)), fine, fail,
                        llvm::MDBuilder(context_).createBranchWeights(kLikelyWeight, 1));
  builder_.SetInsertPoint(fail);
  return_code(code);
  builder_.SetInsertPoint(fine);
}

}  // namespace polyhalite
