// Emission: flat loop IR becomes an LLVM module with the C functions NAME and NAME_argv.
//
//   int NAME([void *user_context,] scalars by value and polyhalite_buffer_t*, in the frozen order)
//   int NAME_argv(void **args)      the same arguments: buffers themselves, scalars by address
//   const polyhalite_filter_metadata_t *NAME_metadata(void)      in files
//
// Outputs must not overlap inputs or each other; inputs may overlap. Int(32) and Int(64) arithmetic
// does not overflow. Floats may be contracted into fused operations outside strict_float.
#pragma once

#include <llvm/IR/Module.h>

#include <functional>
#include <memory>

#include "codegen/llvm/module_state.h"

namespace llvm {
class TargetMachine;
}

namespace polyhalite {

/// The module is verified. `body` writes the function where it is not the one of `f`.
using BodyWriter = std::function<void(ModuleState &, llvm::Function *)>;
std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext &context, const Function &f,
                                          const Target &target, llvm::TargetMachine &machine,
                                          const EmitOptions &options, const BodyWriter &body = {});

}  // namespace polyhalite
