// Polyhalite types and constants as LLVM's.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/LLVMContext.h>

#include "lang/ir/node.h"

namespace polyhalite {

/// In registers: a boolean is i1.
llvm::Type *register_type(llvm::LLVMContext &context, Type t);
/// In memory: a boolean takes a byte, a handle 64 bits, whatever pointers of the machine take.
llvm::Type *memory_type(llvm::LLVMContext &context, Type t);
/// A scalar constant of a numeric type.
llvm::Constant *scalar_constant(llvm::LLVMContext &context, const ImmNode &imm);

}  // namespace polyhalite
