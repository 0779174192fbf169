#include "codegen/llvm/matrix_products.h"

#include <llvm/IR/IntrinsicsAArch64.h>

namespace polyhalite {

using llvm::Value;

bool has_matrix_products(const Target &target) {
  return target.arch == Target::ARM && target.bits == 64 &&
         target.features_any_of(
             {Target::ARMv86a, Target::ARMv87a, Target::ARMv88a, Target::ARMv89a});
}

Value *emit_matrix_products(llvm::IRBuilderBase &b, Value *c, const MatrixFactor &x,
                            const MatrixFactor &y) {
  auto as_lanes = [&](Value *v, llvm::Type *element, unsigned lanes) {
    return b.CreateBitCast(v, llvm::FixedVectorType::get(element, lanes));
  };
  if (x.type == BFloat(16) && y.type == BFloat(16)) {
    auto terms = [&](Value *v) { return as_lanes(v, b.getBFloatTy(), 8); };
    return b.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_bfmmla, {},
                             {c, terms(x.rows), terms(y.rows)});
  }
  auto is_byte = [](Type t) { return t.is_int_or_uint() && t.bits() == 8; };
  if (!is_byte(x.type) || !is_byte(y.type)) return nullptr;
  auto product = [&](llvm::Intrinsic::ID id, Value *sums, Value *left, Value *right) {
    Value *bytes = as_lanes(left, b.getInt8Ty(), 16);
    return b.CreateIntrinsic(id, {sums->getType(), bytes->getType()},
                             {sums, bytes, as_lanes(right, b.getInt8Ty(), 16)});
  };
  if (x.type.is_int() && y.type.is_int()) {
    return product(llvm::Intrinsic::aarch64_neon_smmla, c, x.rows, y.rows);
  }
  if (x.type.is_uint() && y.type.is_uint()) {
    return product(llvm::Intrinsic::aarch64_neon_ummla, c, x.rows, y.rows);
  }
  if (x.type.is_uint()) return product(llvm::Intrinsic::aarch64_neon_usmmla, c, x.rows, y.rows);
  // The unsigned factor is the instruction's first: (c + x*y)' = c' + y'*x'.
  auto turned = [&](Value *v) { return b.CreateShuffleVector(v, {0, 2, 1, 3}); };
  return turned(product(llvm::Intrinsic::aarch64_neon_usmmla, turned(c), y.rows, x.rows));
}

}  // namespace polyhalite
