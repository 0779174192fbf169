// Storage: arrays on the stack, blocks from malloc, slots that keep their blocks.
//
// A task of a parallel loop asks malloc anew for each iteration, which takes as long as a short
// row. What it wants of a size known at run time only lies in its frame while it is small:
//
//   allocate t: float32[n]   ->   t = 4*n <= 4096 ? frame : malloc(4*n);  ...;  t == frame ||
//   free(t)
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_profiler.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

constexpr uint64_t kStackAlignment = 64;
// What programs' own allocators give at least.
constexpr uint64_t kHeapAlignment = 32;
// Of a task's frame: what an allocation may have, and how many may.
constexpr uint64_t kFrameBytes = 4096;
constexpr int kMostFrames = 16;

}  // namespace

llvm::IRBuilder<> FunctionEmitter::entry_builder() {
  llvm::BasicBlock &entry = function_->getEntryBlock();
  return {&entry, entry.getFirstInsertionPt()};
}

void FunctionEmitter::emit_allocate(const StmtNode &s) {
  internal_check(s.args.size() == 1, "flat allocations have one size");
  if (s.home == Home::Block) return emit_in_block_memory(s);
  if (s.home == Home::Mirrored || s.home == Home::Device) return emit_on_device(s);
  int64_t elements = 0;
  const bool on_stack =
      (s.home == Home::Stack || s.home == Home::Thread) && is_const_int(s.args[0], &elements);
  own_storage_[s.name] = on_stack ? kStackAlignment : kHeapAlignment;
  if (on_stack) return emit_on_stack(s, elements);
  const bool shared = s.home == Home::Shared;
  Value *bytes = size_in_bytes(s);
  llvm::AllocaInst *frame = frame_for(s);
  Value *memory = frame    ? emit_framed(s, bytes, frame)
                  : shared ? emit_shared(s, bytes)
                           : emit_malloc(s, bytes);
  pointers_[s.name] = memory;
  if (!shared) live_heap_.push_back({s.name, memory, false, frame});
  scopes_.push();
  emit_stmt(s.body[0]);
  scopes_.pop();
  pointers_.erase(s.name);
  if (shared) return;
  live_heap_.pop_back();
  if (!frame) bill_memory("memory_free", s.name, bytes);
  emit_free_unless_framed(memory, frame);
}

// The profiler is told of all that Funcs have.
llvm::AllocaInst *FunctionEmitter::frame_for(const StmtNode &s) {
  int64_t elements = 0;
  const bool may = s.home == Home::Auto || s.home == Home::Shared;
  if (!is_task_ || profile_ || !may || is_const_int(s.args[0], &elements)) return nullptr;
  if (frames_ == kMostFrames) return nullptr;
  frames_++;
  llvm::IRBuilder<> entry = entry_builder();
  llvm::AllocaInst *frame = entry.CreateAlloca(
      llvm::ArrayType::get(builder_.getInt8Ty(), kFrameBytes), nullptr, s.name + ".frame");
  frame->setAlignment(llvm::Align(kStackAlignment));
  return frame;
}

Value *FunctionEmitter::emit_framed(const StmtNode &s, Value *bytes, llvm::AllocaInst *frame) {
  llvm::BasicBlock *before = builder_.GetInsertBlock();
  llvm::BasicBlock *large = block("large"), *ready = block("ready");
  builder_.CreateCondBr(builder_.CreateICmpULE(bytes, builder_.getInt64(kFrameBytes)), ready,
                        large);
  builder_.SetInsertPoint(large);
  Value *asked = s.home == Home::Shared ? emit_shared(s, bytes) : emit_malloc(s, bytes);
  llvm::BasicBlock *after = builder_.GetInsertBlock();
  builder_.CreateBr(ready);
  builder_.SetInsertPoint(ready);
  llvm::PHINode *memory = builder_.CreatePHI(builder_.getPtrTy(), 2, s.name);
  memory->addIncoming(frame, before);
  memory->addIncoming(asked, after);
  return memory;
}

void FunctionEmitter::emit_free_unless_framed(Value *memory, llvm::AllocaInst *frame) {
  if (!frame) return emit_free(memory);
  llvm::BasicBlock *asked = block("asked"), *done = block("given_back");
  builder_.CreateCondBr(builder_.CreateICmpEQ(memory, frame), done, asked);
  builder_.SetInsertPoint(asked);
  emit_free(memory);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

void FunctionEmitter::emit_on_stack(const StmtNode &s, int64_t elements) {
  llvm::IRBuilder<> entry = entry_builder();
  auto *type = llvm::ArrayType::get(memory_type(context_, s.type.element_of()),
                                    static_cast<uint64_t>(std::max<int64_t>(elements, 1)));
  llvm::AllocaInst *array = entry.CreateAlloca(type, nullptr, s.name);
  array->setAlignment(llvm::Align(kStackAlignment));
  auto *bytes = builder_.getInt64(type->getNumElements() * static_cast<uint64_t>(s.type.bytes()));
  builder_.CreateLifetimeStart(array, bytes);
  pointers_[s.name] = array;
  scopes_.push();
  emit_stmt(s.body[0]);
  scopes_.pop();
  builder_.CreateLifetimeEnd(array, bytes);
  pointers_.erase(s.name);
}

Value *FunctionEmitter::size_in_bytes(const StmtNode &s) {
  // An empty region may have a negative extent.
  Value *elements = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, emit_wide(s.args[0]),
                                                   builder_.getInt64(0));
  Value *product =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, elements,
                                     builder_.getInt64(static_cast<uint64_t>(s.type.bytes())));
  return builder_.CreateSelect(builder_.CreateExtractValue(product, 1),
                               builder_.getInt64(INT64_MAX),
                               builder_.CreateExtractValue(product, 0));
}

// As size_t of the machine; what that cannot be is its largest, of which no memory is.
Value *FunctionEmitter::size_argument(Value *bytes) {
  llvm::IntegerType *type = module_.abi.size_type;
  if (type == bytes->getType()) return bytes;
  Value *most = builder_.getInt64(type->getBitMask());
  return builder_.CreateTrunc(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, bytes, most),
                              type);
}

Value *FunctionEmitter::emit_malloc(const StmtNode &s, Value *bytes) {
  llvm::Type *pointer = builder_.getPtrTy();
  bill(POLYHALITE_PROFILE_MALLOC);
  Value *memory = builder_.CreateCall(
      module_.declare("polyhalite_malloc", pointer, {pointer, module_.abi.size_type}),
      {user_context_, size_argument(bytes)});
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
  return memory;
}

// The memory that the slot had before, where that is large enough.
Value *FunctionEmitter::emit_shared(const StmtNode &s, Value *wanted) {
  llvm::Type *pointer = builder_.getPtrTy(), *i64 = builder_.getInt64Ty();
  if (!slots_.count(s.name)) {
    llvm::IRBuilder<> entry = entry_builder();
    const Slot slot = {entry.CreateAlloca(pointer, nullptr, s.name + ".slot"),
                       entry.CreateAlloca(i64, nullptr, s.name + ".bytes")};
    entry.CreateStore(llvm::ConstantPointerNull::get(builder_.getPtrTy()), slot.pointer);
    entry.CreateStore(builder_.getInt64(0), slot.bytes);
    slots_[s.name] = slot;
  }
  const Slot slot = slots_.at(s.name);
  llvm::BasicBlock *grow = block("grow"), *replace = block("replace"), *take = block("take"),
                   *ready = block("ready");
  Value *held = builder_.CreateLoad(i64, slot.bytes);
  builder_.CreateCondBr(builder_.CreateICmpULT(held, wanted), grow, ready);
  builder_.SetInsertPoint(grow);
  Value *old = builder_.CreateLoad(pointer, slot.pointer);
  builder_.CreateCondBr(builder_.CreateIsNull(old), take, replace);
  builder_.SetInsertPoint(replace);
  bill_memory("memory_free", s.name, held);
  emit_free(old);
  builder_.CreateStore(llvm::ConstantPointerNull::get(builder_.getPtrTy()), slot.pointer);
  builder_.CreateBr(take);
  builder_.SetInsertPoint(take);
  builder_.CreateStore(emit_malloc(s, wanted), slot.pointer);
  builder_.CreateStore(wanted, slot.bytes);
  builder_.CreateBr(ready);
  builder_.SetInsertPoint(ready);
  return builder_.CreateLoad(pointer, slot.pointer);
}

void FunctionEmitter::emit_free(Value *memory) {
  llvm::Type *pointer = builder_.getPtrTy();
  bill(POLYHALITE_PROFILE_FREE);
  builder_.CreateCall(module_.declare("polyhalite_free", builder_.getVoidTy(), {pointer, pointer}),
                      {user_context_, memory});
  bill(billed_);
}

void FunctionEmitter::release_slots() {
  if (slots_.empty()) return;
  profile_ = nullptr;  // what is measured has ended at each return
  llvm::Type *code_type = builder_.getInt32Ty();
  llvm::IRBuilder<> entry = entry_builder();
  llvm::AllocaInst *code = entry.CreateAlloca(code_type, nullptr, "code");
  llvm::BasicBlock *leave = llvm::BasicBlock::Create(context_, "leave");
  for (llvm::BasicBlock &b : *function_) {
    auto *ret = llvm::dyn_cast<llvm::ReturnInst>(b.getTerminator());
    if (!ret) continue;
    builder_.SetInsertPoint(ret);
    builder_.CreateStore(ret->getReturnValue(), code);
    builder_.CreateBr(leave);
    ret->eraseFromParent();
  }
  leave->insertInto(function_);
  builder_.SetInsertPoint(leave);
  for (const auto &[name, slot] : slots_) {
    llvm::BasicBlock *held = block("held"), *next = block("next");
    Value *memory = builder_.CreateLoad(builder_.getPtrTy(), slot.pointer);
    builder_.CreateCondBr(builder_.CreateIsNull(memory), next, held);
    builder_.SetInsertPoint(held);
    emit_free(memory);
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
  }
  builder_.CreateRet(builder_.CreateLoad(code_type, code));
}

}  // namespace polyhalite
