// Division and remainder: a = q*b + r with r in [0, |b|), and both 0 where b is 0. Nothing traps.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"

namespace polyhalite {

using llvm::Value;

Value *FunctionEmitter::emit_division(const Expr &e) {
  const bool modulo = e->op == Op::Mod;
  const Type t = e.type();
  Value *a = emit(e->args[0]);
  if (t.is_float()) {
    Value *b = emit(e->args[1]);
    if (!modulo) return builder_.CreateFDiv(a, b);
    Value *quotient =
        builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, builder_.CreateFDiv(a, b));
    return builder_.CreateFSub(a, builder_.CreateFMul(b, quotient));
  }
  int64_t constant = 0;
  if (t.is_int() && is_const_int(e->args[1], &constant)) {
    return divide_by_constant(a, constant, modulo);
  }
  Value *b = emit(e->args[1]);
  if (t.is_bool())
    return modulo ? llvm::Constant::getNullValue(a->getType()) : builder_.CreateAnd(a, b);
  return t.is_int() ? divide_signed(a, b, modulo) : divide_unsigned(a, b, modulo);
}

// floor(a / b) for b > 0 = s ^ ((a ^ s) / b) with s = a < 0 ? -1 : 0, where (a ^ s) is not
// negative.
Value *FunctionEmitter::divide_by_constant(Value *a, int64_t b, bool modulo) {
  llvm::Type *type = a->getType();
  auto constant = [&](int64_t c) { return llvm::ConstantInt::get(type, static_cast<uint64_t>(c)); };
  if (b == 0) return constant(0);
  const int bits = static_cast<int>(type->getScalarSizeInBits());
  // |b| as an unsigned number of the operand's width.
  const uint64_t magnitude = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  const bool power_of_two = (magnitude & (magnitude - 1)) == 0;
  if (modulo && power_of_two) {
    return builder_.CreateAnd(a, llvm::ConstantInt::get(type, magnitude - 1));
  }
  Value *quotient = nullptr;
  if (power_of_two && b > 0) {
    int shift = 0;
    while ((magnitude >> shift) > 1) shift++;
    quotient = builder_.CreateAShr(a, constant(shift));
  } else {
    Value *sign = builder_.CreateAShr(a, constant(bits - 1));
    quotient = builder_.CreateXor(
        sign,
        builder_.CreateUDiv(builder_.CreateXor(a, sign), llvm::ConstantInt::get(type, magnitude)));
  }
  if (modulo) {
    return builder_.CreateSub(
        a, builder_.CreateMul(quotient, llvm::ConstantInt::get(type, magnitude)));
  }
  return b < 0 ? builder_.CreateNeg(quotient) : quotient;
}

// a / b of unsigned numbers, b > 0. Vectors have no such instruction, and lanes one after the other
// take ten times as long as floats with twice the digits: their quotient, rounded, is off by less
// than the 1/b that it lies below the next whole number. Where a is below 2^31 (`is_half`), both
// are converted as signed numbers, which every machine can: b = 2^31 becomes negative, and the
// quotient still 0.
Value *FunctionEmitter::whole_quotient(Value *a, Value *b, bool is_half) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  const unsigned bits = a->getType()->getScalarSizeInBits();
  const Target &target = module_.target;
  const bool converts =
      bits <= 16 || (bits == 32 && (target.has_feature(Target::AVX512_Skylake) ||
                                    (is_half && target.has_feature(Target::AVX2))));
  if (!vector || kernel_ || target.arch != Target::X86 || !converts || llvm::isa<llvm::Constant>(b))
    return builder_.CreateUDiv(a, b);
  const auto lanes = static_cast<unsigned>(vector->getNumElements());
  llvm::Type *floats = llvm::FixedVectorType::get(
      bits <= 16 ? builder_.getFloatTy() : builder_.getDoubleTy(), lanes);
  auto converted = [&](Value *v) {
    return is_half ? builder_.CreateSIToFP(v, floats) : builder_.CreateUIToFP(v, floats);
  };
  Value *quotient = builder_.CreateFDiv(converted(a), converted(b));
  if (bits == 32) {
    return is_half ? builder_.CreateFPToSI(quotient, vector)
                   : builder_.CreateFPToUI(quotient, vector);
  }
  llvm::Type *whole = llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes);
  return builder_.CreateTrunc(builder_.CreateFPToSI(quotient, whole), vector);
}

Value *FunctionEmitter::divide_signed(Value *a, Value *b, bool modulo) {
  llvm::Type *type = a->getType();
  Value *zero = llvm::Constant::getNullValue(type), *one = llvm::ConstantInt::get(type, 1);
  const uint64_t bits = type->getScalarSizeInBits();
  Value *is_zero = builder_.CreateICmpEQ(b, zero);
  Value *negative = builder_.CreateICmpSLT(b, zero);
  Value *magnitude = builder_.CreateSelect(
      is_zero, one, builder_.CreateSelect(negative, builder_.CreateNeg(b), b));
  Value *sign = builder_.CreateAShr(a, llvm::ConstantInt::get(type, bits - 1));
  Value *quotient =
      builder_.CreateXor(sign, whole_quotient(builder_.CreateXor(a, sign), magnitude, true));
  if (modulo) {
    Value *rest = builder_.CreateSub(a, builder_.CreateMul(quotient, magnitude));
    return builder_.CreateSelect(is_zero, zero, rest);
  }
  quotient = builder_.CreateSelect(negative, builder_.CreateNeg(quotient), quotient);
  return builder_.CreateSelect(is_zero, zero, quotient);
}

Value *FunctionEmitter::divide_unsigned(Value *a, Value *b, bool modulo) {
  llvm::Type *type = a->getType();
  Value *zero = llvm::Constant::getNullValue(type);
  Value *is_zero = builder_.CreateICmpEQ(b, zero);
  Value *divisor = builder_.CreateSelect(is_zero, llvm::ConstantInt::get(type, 1), b);
  Value *result = whole_quotient(a, divisor, false);
  if (modulo) {
    result = llvm::isa<llvm::Constant>(divisor)
                 ? builder_.CreateURem(a, divisor)
                 : builder_.CreateSub(a, builder_.CreateMul(result, divisor));
  }
  return builder_.CreateSelect(is_zero, zero, result);
}

}  // namespace polyhalite
