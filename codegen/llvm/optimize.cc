#include "codegen/llvm/optimize.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

constexpr const char *kPasses =
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),"
    "gvn,loop-load-elim,dse,instcombine<no-verify-fixpoint>,"
    "simplifycfg)";

}  // namespace

// The C interface: including the C++ one costs ten seconds of compile time.
void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(llvm::wrap(&module), kPasses,
                                     reinterpret_cast<LLVMTargetMachineRef>(&machine), options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return;
  char *text = LLVMGetErrorMessage(error);
  const std::string message = std::string("LLVM refuses the pass list: ") + text;
  LLVMDisposeErrorMessage(text);
  internal_check(false, message.c_str());
}

}  // namespace polyhalite
