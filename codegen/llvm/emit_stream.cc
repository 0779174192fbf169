// Streamed loads and stores: past the caches, where the target has instructions for that.
//
// x86 has them for aligned vectors only, so that an address whose alignment is not known is asked:
//
//   stream f[ramp(x, 1, 8)] = v   ->   if f + x is a multiple of 32 { movntps of 32 bytes }
//                                      else of 16 { two of 16 bytes } else { movups }
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <numeric>
#include <vector>

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
                                     const std::string &buffer, Streams how) {
  const auto bytes = static_cast<uint64_t>(t.bytes()) * static_cast<uint64_t>(t.lanes());
  auto store = [&](Value *part, Value *to, llvm::Align known, bool streamed) {
    llvm::StoreInst *access = builder_.CreateAlignedStore(part, to, known);
    if (streamed) mark_streamed(access);
    module_.mark_access(access, buffer);
  };
  if (!fills_registers(t, false)) return store(value, pointer, align, false);
  // Other targets take any address, as general registers of x86 do.
  // Alignments are powers of two: 12 floats are three times 16 bytes, however wide registers are.
  uint64_t needed = register_bytes(module_.target);
  while (bytes % needed != 0) needed /= 2;
  const bool anywhere = module_.target.arch != Target::X86 || t.is_scalar();
  if (anywhere || align.value() >= needed) return store(value, pointer, align, true);
  llvm::BasicBlock *after = block("stored");
  Value *place = builder_.CreatePtrToInt(pointer, builder_.getInt64Ty());
  const auto if_aligned = [&](uint64_t to) {
    llvm::BasicBlock *yes = block("stream"), *no = block("unaligned");
    Value *low = builder_.CreateAnd(place, builder_.getInt64(to - 1));
    builder_.CreateCondBr(builder_.CreateICmpEQ(low, builder_.getInt64(0)), yes, no);
    builder_.SetInsertPoint(yes);
    return no;
  };
  const auto done = [&](llvm::BasicBlock *next) {
    builder_.CreateBr(after);
    builder_.SetInsertPoint(next);
  };
  llvm::BasicBlock *otherwise = if_aligned(needed);
  store(value, pointer, llvm::Align(needed), true);
  done(otherwise);
  // In pieces, whose lines the next stores fill.
  constexpr uint64_t kPiece = 16;
  if (how == Streams::Pieces && needed > kPiece) {
    otherwise = if_aligned(kPiece);
    const int lanes = static_cast<int>(kPiece) / t.bytes();
    for (int lane = 0; lane < t.lanes(); lane += lanes) {
      std::vector<int> picks(static_cast<size_t>(lanes));
      std::iota(picks.begin(), picks.end(), lane);
      store(builder_.CreateShuffleVector(value, picks),
            builder_.CreateConstGEP1_64(value->getType()->getScalarType(), pointer,
                                        static_cast<uint64_t>(lane)),
            llvm::Align(kPiece), true);
    }
    done(otherwise);
  }
  store(value, pointer, align, false);
  done(after);
}

Value *FunctionEmitter::emit_stream_fence() {
  if (module_.target.arch == Target::X86) {
    builder_.CreateIntrinsic(builder_.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
  }
  return builder_.getFalse();
}

}  // namespace polyhalite
