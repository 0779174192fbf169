// A module of LLVM IR becomes bytes: optimised, then written in one of its forms.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "codegen/llvm/object.h"

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
}  // namespace llvm

namespace polyhalite {

using ModuleMaker =
    std::function<std::unique_ptr<llvm::Module>(llvm::LLVMContext &, llvm::TargetMachine &)>;

std::string compile_module(const Target &target, CodeForm form, const ModuleMaker &make);

}  // namespace polyhalite
