// Conversions of 16-bit floats, which registers hold as bits.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

llvm::Type *same_lanes(llvm::Type *scalar, Value *like) {
  auto *v = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return v ? llvm::FixedVectorType::get(scalar, v->getNumElements()) : scalar;
}

bool converts_halves(const Target &t, bool in_kernel) {
  if (in_kernel) return true;
  if (t.arch == Target::ARM) return t.bits == 64;
  return t.has_feature(Target::F16C) || t.has_feature(Target::AVX512_SapphireRapids);
}

}  // namespace

Value *FunctionEmitter::as_half(Value *bits) {
  return builder_.CreateBitCast(bits, same_lanes(builder_.getHalfTy(), bits));
}

Value *FunctionEmitter::float32_of(Value *bits, Type from) {
  llvm::Type *real = same_lanes(builder_.getFloatTy(), bits);
  llvm::Type *whole = same_lanes(builder_.getInt32Ty(), bits);
  Value *wide = builder_.CreateZExt(bits, whole);
  auto constant = [&](uint32_t c) { return llvm::ConstantInt::get(whole, c); };
  if (from.is_bfloat()) {
    return builder_.CreateBitCast(builder_.CreateShl(wide, constant(16)), real);
  }
  if (converts_halves(module_.target, kernel_ != nullptr))
    return builder_.CreateFPExt(as_half(bits), real);
  // The exponent's offset is mended by a multiplication, which makes denormals normal.
  Value *magnitude = builder_.CreateShl(builder_.CreateAnd(wide, constant(0x7fff)), constant(13));
  Value *value = builder_.CreateFMul(builder_.CreateBitCast(magnitude, real),
                                     llvm::ConstantFP::get(real, 0x1p112));
  Value *special = builder_.CreateICmpUGE(magnitude, constant(0x0f800000));
  Value *result = builder_.CreateBitCast(value, whole);
  result =
      builder_.CreateSelect(special, builder_.CreateOr(magnitude, constant(0x7f800000)), result);
  Value *sign = builder_.CreateShl(builder_.CreateAnd(wide, constant(0x8000)), constant(16));
  return builder_.CreateBitCast(builder_.CreateOr(result, sign), real);
}

// To nearest, halves to the even one.
Value *FunctionEmitter::float16_of(Value *value, Type to) {
  llvm::Type *narrow = same_lanes(builder_.getInt16Ty(), value);
  llvm::Type *whole = same_lanes(builder_.getInt32Ty(), value);
  auto constant = [&](uint32_t c) { return llvm::ConstantInt::get(whole, c); };
  if (!to.is_bfloat() && converts_halves(module_.target, kernel_ != nullptr)) {
    Value *half = builder_.CreateFPTrunc(value, same_lanes(builder_.getHalfTy(), value));
    return builder_.CreateBitCast(half, narrow);
  }
  Value *bits = builder_.CreateBitCast(value, whole);
  Value *magnitude = builder_.CreateAnd(bits, constant(0x7fffffff));
  Value *is_nan = builder_.CreateICmpUGT(magnitude, constant(0x7f800000));
  Value *high = builder_.CreateLShr(bits, constant(16));
  if (to.is_bfloat()) {
    Value *odd = builder_.CreateAnd(high, constant(1));
    Value *rounded = builder_.CreateLShr(
        builder_.CreateAdd(bits, builder_.CreateAdd(odd, constant(0x7fff))), constant(16));
    Value *quiet = builder_.CreateOr(high, constant(0x40));
    return builder_.CreateTrunc(builder_.CreateSelect(is_nan, quiet, rounded), narrow);
  }
  llvm::Type *real = value->getType();
  // Normal numbers round in their bits; denormals by adding what moves their last bit to the end.
  Value *odd = builder_.CreateAnd(builder_.CreateLShr(magnitude, constant(13)), constant(1));
  Value *normal = builder_.CreateLShr(
      builder_.CreateAdd(magnitude, builder_.CreateAdd(odd, constant(0xc8000fff))), constant(13));
  Value *moved = builder_.CreateFAdd(builder_.CreateBitCast(magnitude, real),
                                     llvm::ConstantFP::get(real, 0.5));
  Value *denormal = builder_.CreateSub(builder_.CreateBitCast(moved, whole), constant(0x3f000000));
  Value *small = builder_.CreateICmpULT(magnitude, constant(0x38800000));
  Value *result = builder_.CreateSelect(small, denormal, normal);
  Value *large = builder_.CreateICmpUGE(magnitude, constant(0x477ff000));
  result = builder_.CreateSelect(large, constant(0x7c00), result);
  result = builder_.CreateSelect(is_nan, constant(0x7e00), result);
  Value *sign = builder_.CreateAnd(high, constant(0x8000));
  return builder_.CreateTrunc(builder_.CreateOr(result, sign), narrow);
}

// The same bits; pointers are numbers of 64 bits.
Value *FunctionEmitter::emit_reinterpret(const Expr &e) {
  Value *value = emit(e->args[0]);
  llvm::Type *to = register_type(context_, e.type());
  if (e.type().is_handle() != e->args[0].type().is_handle()) {
    return builder_.CreateBitOrPointerCast(value, to);
  }
  return builder_.CreateBitCast(value, to);
}

}  // namespace polyhalite
