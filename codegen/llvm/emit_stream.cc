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
  llvm::Metadata *one =
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1));
  access->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context, {one}));
}

// Only whole registers are marked: LLVM 19 has no code for what is left of others on x86, nor for
// loads of less than four bytes, which the widening of narrower elements makes.
bool fills_registers(const Type &t, bool is_load) {
  const int bytes = t.bytes() * t.lanes();
  return t.is_vector() ? bytes % 16 == 0 && (!is_load || t.bytes() >= 4)
                       : !is_load && t.is_int_or_uint() && bytes >= 4;
}

uint64_t register_bytes(const Target &t) {
  if (t.has_feature(Target::AVX512) || t.has_feature(Target::AVX512_Skylake)) return 64;
  return t.has_feature(Target::AVX) || t.has_feature(Target::AVX2) ? 32 : 16;
}

}  // namespace

void FunctionEmitter::mark_stream_load(llvm::Instruction *access, Type t) {
  if (fills_registers(t, true)) mark_streamed(access);
}

void FunctionEmitter::store_streamed(Value *value, Type t, Value *pointer, llvm::Align align,
                                     const std::string &buffer) {
  const auto bytes = static_cast<uint64_t>(t.bytes()) * static_cast<uint64_t>(t.lanes());
  auto store = [&](llvm::Align known, bool streamed) {
    llvm::StoreInst *access = builder_.CreateAlignedStore(value, pointer, known);
    if (streamed) mark_streamed(access);
    module_.mark_access(access, buffer);
  };
  if (!fills_registers(t, false)) return store(align, false);
  // Other targets take any address, as general registers of x86 do.
  // Alignments are powers of two: 12 floats are three times 16 bytes, however wide registers are.
  uint64_t needed = register_bytes(module_.target);
  while (bytes % needed != 0) needed /= 2;
  const bool anywhere = module_.target.arch != Target::X86 || t.is_scalar();
  if (anywhere || align.value() >= needed) return store(align, true);
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
