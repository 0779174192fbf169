// Streamed loads and stores: past the caches, where the target has instructions for that.
//
// x86 has them for aligned vectors only, so that an address whose alignment is not known is asked:
//
//   stream f[ramp(x, 1, 8)] = v   ->   if f + x is a multiple of 32 { movntps } else { movups }
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "codegen/llvm/function_emitter.h"

namespace polyhalite {

using llvm::Value;

namespace {

void mark_streamed(llvm::Instruction *access) {
  llvm::LLVMContext &context = access->getContext();
  llvm::Metadata *one = llvm::ConstantAsMetadata::get(
      llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1));
  access->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context, {one}));
}

uint64_t register_bytes(const Target &t) {
  if (t.has_feature(Target::AVX512) || t.has_feature(Target::AVX512_Skylake)) return 64;
  return t.has_feature(Target::AVX) || t.has_feature(Target::AVX2) ? 32 : 16;
}

}  // namespace

void FunctionEmitter::mark_stream_load(llvm::Instruction *access) { mark_streamed(access); }

void FunctionEmitter::store_streamed(Value *value, Value *pointer, llvm::Align align,
                                     const std::string &buffer) {
  const uint64_t bytes = module_.module.getDataLayout().getTypeStoreSize(value->getType());
  auto store = [&](llvm::Align known, bool streamed) {
    llvm::StoreInst *access = builder_.CreateAlignedStore(value, pointer, known);
    if (streamed) mark_streamed(access);
    module_.mark_access(access, buffer);
  };
  // Other targets take any address; x86 has 4 and 8 bytes of general registers, and vectors.
  const uint64_t needed = std::min(bytes, register_bytes(module_.target));
  if (module_.target.arch != Target::X86 || align.value() >= needed) return store(align, true);
  if (bytes < 16 || bytes % needed != 0) return store(align, false);
  llvm::BasicBlock *past = block("stream"), *through = block("unaligned"), *after = block("stored");
  Value *low = builder_.CreateAnd(builder_.CreatePtrToInt(pointer, builder_.getInt64Ty()),
                                  builder_.getInt64(needed - 1));
  builder_.CreateCondBr(builder_.CreateICmpEQ(low, builder_.getInt64(0)), past, through);
  builder_.SetInsertPoint(past);
  store(llvm::Align(needed), true);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(through);
  store(align, false);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

Value *FunctionEmitter::emit_stream_fence() {
  if (module_.target.arch == Target::X86) {
    builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
  }
  return builder_.getFalse();
}

}  // namespace polyhalite
