#include "codegen/llvm/types.h"

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

llvm::Type *scalar_type(llvm::LLVMContext &context, Type t) {
  switch (t.code()) {
    case Type::Int:
    case Type::UInt:
      return llvm::Type::getIntNTy(context, t.bits());
    case Type::Float:
      // The bits: arithmetic takes place in float32, or on halves where the machine has them.
      if (t.bits() == 16) return llvm::Type::getInt16Ty(context);
      return t.bits() == 32 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
    case Type::BFloat:
      return llvm::Type::getInt16Ty(context);
    case Type::Handle:
      return llvm::PointerType::get(context, 0);
  }
  internal_check(false, "a type without a code");
  return nullptr;
}

}  // namespace

llvm::Type *register_type(llvm::LLVMContext &context, Type t) {
  llvm::Type *scalar = scalar_type(context, t);
  return t.is_scalar() ? scalar : llvm::FixedVectorType::get(scalar, t.lanes());
}

llvm::Type *memory_type(llvm::LLVMContext &context, Type t) {
  if (t.is_handle()) return register_type(context, UInt(64, t.lanes()));
  return register_type(context, t.is_bool() ? t.with_bits(8) : t);
}

llvm::Constant *scalar_constant(llvm::LLVMContext &context, const ImmNode &imm) {
  llvm::Type *type = scalar_type(context, imm.type);
  switch (imm.op) {
    case Op::IntImm:
      return llvm::ConstantInt::get(type, static_cast<uint64_t>(imm.i), true);
    case Op::UIntImm:
      return llvm::ConstantInt::get(type, imm.u);
    case Op::FloatImm:
      if (imm.type.bits() == 16) {
        const auto value = static_cast<float>(imm.f);
        return llvm::ConstantInt::get(type, imm.type.is_bfloat() ? detail::bfloat16_bits(value)
                                                                 : detail::float16_bits(value));
      }
      return llvm::ConstantFP::get(type, imm.f);
    default:
      internal_check(false, "a constant that is no number");
      return nullptr;
  }
}

}  // namespace polyhalite
