// matrix_products: products of small matrices in vectors by the processor's own instructions.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "polyhalite/target.h"
#include "polyhalite/type.h"

namespace polyhalite {

/// A factor of sum_matrix_products: two rows of 64 bits, the terms of a row side by side.
struct MatrixFactor {
  llvm::Value *rows;  // of 128 bits
  Type type;          // of one term
};

/// Does the processor multiply matrices of 2 x 64 bits?
bool has_matrix_products(const Target &target);

/// c + a * b, 2 x 2 sums, row after row; b by columns. Null where the processor has nothing for
/// such factors.
llvm::Value *emit_matrix_products(llvm::IRBuilderBase &b, llvm::Value *c, const MatrixFactor &x,
                                  const MatrixFactor &y);

}  // namespace polyhalite
