// Memoized productions: the key is written to the frame, and the runtime's cache is asked.
//
//   memoize "f" of f[n] by (a, b) { A }
//     ->  key = {a, b, "f"};  if (lookup(key, f, n) != 0) { A; store(key, f, n) }
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

// The bits of a scalar as 64, so that equal numbers have equal bits.
Value *FunctionEmitter::emit_key(const Expr &e) {
  Value *v = emit(e);
  llvm::Type *wide = builder_.getInt64Ty();
  const Type t = e.type();
  if (t.is_handle()) return builder_.CreatePtrToInt(v, wide);
  if (v->getType()->isFloatingPointTy()) {
    v = builder_.CreateBitCast(v, builder_.getIntNTy(v->getType()->getPrimitiveSizeInBits()));
  }
  return builder_.CreateIntCast(v, wide, t.is_int());
}

void FunctionEmitter::emit_memoize(const StmtNode &s) {
  const size_t count = s.buffers.size(), first = count + (s.evicts ? 1 : 0);
  const size_t keys = s.args.size() - first;
  const size_t key_bytes = 8 * keys + s.name.size();
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  llvm::Type *i64 = builder_.getInt64Ty();
  auto *key_type = llvm::ArrayType::get(builder_.getInt8Ty(), key_bytes);
  auto *list_type = llvm::ArrayType::get(pointer, count);
  auto *sizes_type = llvm::ArrayType::get(i64, count);
  llvm::IRBuilder<> entry = entry_builder();
  llvm::AllocaInst *key = entry.CreateAlloca(key_type, nullptr, "key");
  key->setAlignment(llvm::Align(8));
  Value *list = entry.CreateAlloca(list_type, nullptr, "kept");
  Value *sizes = entry.CreateAlloca(sizes_type, nullptr, "sizes");
  for (size_t i = 0; i < keys; i++) {
    builder_.CreateStore(emit_key(s.args[first + i]),
                         builder_.CreateConstInBoundsGEP2_64(key_type, key, 0, 8 * i));
  }
  builder_.CreateMemCpy(builder_.CreateConstInBoundsGEP2_64(key_type, key, 0, 8 * keys),
                        llvm::MaybeAlign(1), module_.string(s.name), llvm::MaybeAlign(1),
                        s.name.size());
  for (size_t i = 0; i < count; i++) {
    builder_.CreateStore(pointers_.at(s.buffers[i]),
                         builder_.CreateConstInBoundsGEP2_64(list_type, list, 0, i));
    builder_.CreateStore(emit_wide(s.args[i]),
                         builder_.CreateConstInBoundsGEP2_64(sizes_type, sizes, 0, i));
  }
  std::vector<Value *> args = {user_context_,
                               key,
                               builder_.getInt32(static_cast<uint32_t>(key_bytes)),
                               builder_.getInt32(static_cast<uint32_t>(count)),
                               list,
                               sizes};
  llvm::FunctionCallee lookup = module_.declare("polyhalite_memoization_cache_lookup", i32,
                                                {pointer, pointer, i32, i32, pointer, pointer});
  llvm::BasicBlock *compute = block("compute"), *known = block("known");
  Value *missing = builder_.CreateCall(lookup, args);
  builder_.CreateCondBr(builder_.CreateIsNotNull(missing), compute, known);
  builder_.SetInsertPoint(compute);
  const bool outside = straight_line_;
  straight_line_ = false;
  scopes_.memory_changed();
  scopes_.push();
  emit_stmt(s.body[0]);
  llvm::FunctionCallee store =
      module_.declare("polyhalite_memoization_cache_store", builder_.getVoidTy(),
                      {pointer, pointer, i32, i32, pointer, pointer, i32, i64});
  args.push_back(builder_.getInt32(s.evicts ? 1 : 0));
  args.push_back(s.evicts ? emit_key(s.args[count]) : builder_.getInt64(0));
  builder_.CreateCall(store, args);
  scopes_.pop();
  scopes_.memory_changed();
  straight_line_ = outside;
  builder_.CreateBr(known);
  builder_.SetInsertPoint(known);
}

}  // namespace polyhalite
