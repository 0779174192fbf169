// dot_products: sums of products of narrow numbers by the processor's own instructions.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "polyhalite/target.h"
#include "polyhalite/type.h"

namespace polyhalite {

/// The factors of sum_products: vectors of 32 bits for each sum, which has two factors of 16 bits
/// or four of 8 from each operand.
struct DotFactors {
  llvm::Value *words;  // <sums x i32>
  Type type;           // of one factor
};

/// c + the products of a and b for each sum; null where the processor has nothing for such factors.
/// `sums`: Int(32), UInt(32) or Float(32), as c has them.
llvm::Value *emit_dot_products(llvm::IRBuilderBase &b, const Target &target, const Type &sums,
                               llvm::Value *c, const DotFactors &x, const DotFactors &y);

}  // namespace polyhalite
