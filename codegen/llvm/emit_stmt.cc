// Statements: loops, conditions, checks, storage.
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_profiler.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

constexpr uint32_t kLikelyWeight = 1 << 20;

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
  if (straight_line_ && !fields_loaded_ && uses_fields(*s)) load_fields();
  switch (s->kind) {
    case StmtKind::Block:
      for (const Stmt &child : s->body) emit_stmt(child);
      return;
    case StmtKind::For:
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
      return emit_store(*s);
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
    case StmtKind::Profile:
      return emit_profile(*s);
    case StmtKind::Atomic:
      return emit_atomic(*s);
    case StmtKind::Provide:
    case StmtKind::Place:
      break;
  }
  internal_check(false, "flat loop IR has no boxes");
}

void FunctionEmitter::emit_serial_for(const StmtNode &loop) {
  Value *first = emit_wide(loop.args[0]);
  Value *end = builder_.CreateNSWAdd(first, emit_wide(loop.args[1]));
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *body = block(loop.name.c_str()), *after = block("after");
  builder_.CreateCondBr(builder_.CreateICmpSLT(first, end), body, after);

  builder_.SetInsertPoint(body);
  llvm::PHINode *counter = builder_.CreatePHI(builder_.getInt64Ty(), 2, loop.name);
  counter->addIncoming(first, before);
  const bool outside = straight_line_;
  straight_line_ = false;
  depth_++;
  scopes_.memory_changed();
  scopes_.push();
  scopes_.bind(loop.name,
               {builder_.CreateTrunc(counter, builder_.getInt32Ty()), counter, depth_, Expr()});
  emit_stmt(loop.body[0]);
  scopes_.pop();
  scopes_.memory_changed();
  depth_--;
  straight_line_ = outside;

  Value *next = builder_.CreateNSWAdd(counter, builder_.getInt64(1));
  counter->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst *back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, after);
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
  Value *condition = emit(s.args[0]);
  llvm::BasicBlock *fail = block("failed"), *holds = block("holds");
  builder_.CreateCondBr(condition, holds, fail,
                        llvm::MDBuilder(context_).createBranchWeights(kLikelyWeight, 1));
  builder_.SetInsertPoint(fail);
  scopes_.push();
  return_code(emit(s.args[1]));
  scopes_.pop();
  builder_.SetInsertPoint(holds);
}

void FunctionEmitter::return_code(Value *code) {
  llvm::FunctionCallee release = module_.declare("polyhalite_free", builder_.getVoidTy(),
                                                 {builder_.getPtrTy(), builder_.getPtrTy()});
  for (auto heap = live_heap_.rbegin(); heap != live_heap_.rend(); ++heap) {
    builder_.CreateCall(release, {user_context_, heap->pointer});
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

llvm::Instruction *FunctionEmitter::entry_position() {
  return &*function_->getEntryBlock().getFirstInsertionPt();
}

void FunctionEmitter::emit_allocate(const StmtNode &s) {
  internal_check(s.args.size() == 1, "flat allocations have one size");
  const auto element = static_cast<uint64_t>(s.type.bytes());
  int64_t constant = 0;
  const bool on_stack = s.on_stack && is_const_int(s.args[0], &constant);
  own_storage_.insert(s.name);
  if (on_stack) {
    llvm::IRBuilder<> entry(entry_position());
    auto *type = llvm::ArrayType::get(memory_type(context_, s.type.element_of()),
                                      static_cast<uint64_t>(std::max<int64_t>(constant, 1)));
    llvm::AllocaInst *array = entry.CreateAlloca(type, nullptr, s.name);
    array->setAlignment(llvm::Align(64));
    auto *bytes = builder_.getInt64(type->getNumElements() * element);
    builder_.CreateLifetimeStart(array, bytes);
    pointers_[s.name] = array;
    scopes_.push();
    emit_stmt(s.body[0]);
    scopes_.pop();
    builder_.CreateLifetimeEnd(array, bytes);
    pointers_.erase(s.name);
    return;
  }
  // An empty region may have a negative extent.
  Value *elements = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, emit_wide(s.args[0]),
                                                   builder_.getInt64(0));
  Value *product = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, elements,
                                                  builder_.getInt64(element));
  Value *bytes = builder_.CreateSelect(builder_.CreateExtractValue(product, 1),
                                       builder_.getInt64(INT64_MAX),
                                       builder_.CreateExtractValue(product, 0));
  llvm::Type *pointer = builder_.getPtrTy();
  bill(POLYHALITE_PROFILE_MALLOC);
  Value *memory = builder_.CreateCall(
      module_.declare("polyhalite_malloc", pointer, {pointer, builder_.getInt64Ty()}),
      {user_context_, bytes});
  llvm::BasicBlock *fail = block("no_memory"), *fine = block("allocated");
  builder_.CreateCondBr(builder_.CreateIsNotNull(memory), fine, fail,
                        llvm::MDBuilder(context_).createBranchWeights(kLikelyWeight, 1));
  builder_.SetInsertPoint(fail);
  llvm::FunctionCallee report =
      module_.declare("polyhalite_error_out_of_memory", builder_.getInt32Ty(),
                      {pointer, pointer, pointer, builder_.getInt64Ty()});
  return_code(builder_.CreateCall(report, {user_context_, module_.string(module_.function.name),
                                           module_.string(s.name), bytes}));
  builder_.SetInsertPoint(fine);
  bill(billed_);
  bill_memory("memory_allocate", s.name, bytes);
  pointers_[s.name] = memory;
  live_heap_.push_back({s.name, memory});
  scopes_.push();
  emit_stmt(s.body[0]);
  scopes_.pop();
  live_heap_.pop_back();
  pointers_.erase(s.name);
  bill_memory("memory_free", s.name, bytes);
  bill(POLYHALITE_PROFILE_FREE);
  builder_.CreateCall(module_.declare("polyhalite_free", builder_.getVoidTy(), {pointer, pointer}),
                      {user_context_, memory});
  bill(billed_);
}

}  // namespace polyhalite
