// Functions for which machines have instructions that LLVM does not find by itself.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/dot_products.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/matrix_products.h"
#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

using llvm::Value;

namespace {

struct ProductForm {
  int lanes;
  llvm::Intrinsic::ID id;
};

// pmulhrsw: (a*b + 2^14) >> 15 of 16-bit integers.
const ProductForm *rounded_product(const Target &target, int lanes) {
  static constexpr ProductForm kForms[] = {{32, llvm::Intrinsic::x86_avx512_pmul_hr_sw_512},
                                           {16, llvm::Intrinsic::x86_avx2_pmul_hr_sw},
                                           {8, llvm::Intrinsic::x86_ssse3_pmul_hr_sw_128}};
  const bool has[] = {target.has_feature(Target::AVX512_Skylake), target.has_feature(Target::AVX2),
                      target.has_feature(Target::SSE41)};
  if (target.arch != Target::X86) return nullptr;
  for (size_t i = 0; i < 3; i++) {
    if (has[i] && lanes % kForms[i].lanes == 0) return &kForms[i];
  }
  return nullptr;
}

}  // namespace

Value *FunctionEmitter::emit_sum_products(const CallNode &call) {
  const int lanes = call.type.lanes(), terms = call.args[1].type().lanes() / lanes;
  const int bits = call.args[1].type().bits();
  // Two bytes are widened to a pair of signed numbers of 16 bits.
  const bool widens = bits == 8 && terms == 2;
  if (kernel_ || lanes < 4 || terms * bits != (widens ? 16 : 32) ||
      call.args[2].type().bits() != bits) {
    return nullptr;
  }
  llvm::Type *word = builder_.getInt32Ty();
  auto elements = [&](const Expr &e) {
    Value *v = emit(e);
    if (!widens) return v;
    llvm::Type *wide =
        llvm::FixedVectorType::get(builder_.getInt16Ty(), static_cast<unsigned>(e.type().lanes()));
    return e.type().is_int() ? builder_.CreateSExt(v, wide) : builder_.CreateZExt(v, wide);
  };
  auto words = [&](const Expr &e) -> Value * {
    // What all sums share is one word, which processors spread as they load it.
    if (e->op == Op::Broadcast && e->args[0].type().lanes() == terms) {
      return builder_.CreateVectorSplat(static_cast<unsigned>(lanes),
                                        builder_.CreateBitCast(elements(e->args[0]), word));
    }
    return builder_.CreateBitCast(elements(e),
                                  llvm::FixedVectorType::get(word, static_cast<unsigned>(lanes)));
  };
  auto type = [&](const Expr &e) { return widens ? Int(16) : e.type().element_of(); };
  return emit_dot_products(builder_, module_.target, call.type, emit(call.args[0]),
                           {words(call.args[1]), type(call.args[1])},
                           {words(call.args[2]), type(call.args[2])});
}

Value *FunctionEmitter::emit_sum_matrix_products(const CallNode &call) {
  if (kernel_) return nullptr;
  const MatrixLanes lanes = matrix_lanes(call);
  const Type a = call.args[1].type(), b = call.args[2].type();
  const bool in_vectors = lanes.m == 2 && lanes.n == 2 && lanes.group == lanes.k &&
                          lanes.k * a.bits() == 64 && a.bits() == b.bits();
  if (!in_vectors || !has_matrix_products(module_.target)) return nullptr;
  return emit_matrix_products(builder_, emit(call.args[0]), {emit(call.args[1]), a.element_of()},
                              {emit(call.args[2]), b.element_of()});
}

// The call by an instruction of the target; null where there is none.
Value *FunctionEmitter::emit_machine_instruction(const CallNode &call) {
  if (call.name == intrinsic::kSumProducts) return emit_sum_products(call);
  if (call.name == intrinsic::kSumMatrixProducts) return emit_sum_matrix_products(call);
  if (call.name != intrinsic::kRoundingMulShiftRight) return nullptr;
  int64_t shift = 0;
  const int lanes = call.type.lanes();
  if (call.type.element_of() != Int(16) || !is_const_int(call.args[2], &shift) || shift != 15 ||
      call.args[0].type() != call.type || call.args[1].type() != call.type) {
    return nullptr;
  }
  const ProductForm *form = rounded_product(module_.target, lanes);
  if (!form) return nullptr;
  Value *a = emit(call.args[0]), *b = emit(call.args[1]);
  std::vector<Value *> parts;
  for (int first = 0; first < lanes; first += form->lanes) {
    std::vector<int> part;
    for (int i = 0; i < form->lanes; i++) part.push_back(first + i);
    parts.push_back(builder_.CreateIntrinsic(
        form->id, {},
        {builder_.CreateShuffleVector(a, part), builder_.CreateShuffleVector(b, part)}));
  }
  Value *product = concatenate(parts);
  // Of -1 and -1, in Q15, the instruction makes -1, the only product that does not fit.
  Value *least = llvm::ConstantInt::getSigned(product->getType(), INT16_MIN);
  Value *overflow = builder_.CreateSExt(builder_.CreateICmpEQ(product, least), product->getType());
  return builder_.CreateXor(product, overflow);
}

}  // namespace polyhalite
