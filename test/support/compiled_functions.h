// Functions that an emitter writes into LLVM's IR, compiled for this processor and loaded.
#pragma once

#include <gtest/gtest.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "codegen/llvm/machine.h"

namespace polyhalite {

/// A function T(T, T) for each name, T float or double.
template <typename T>
class CompiledFunctions {
 public:
  using Binary = T (*)(T, T);
  /// Code for NAME of (x, y) where the builder stands; gives the result.
  using Emit = std::function<llvm::Value *(llvm::IRBuilder<> &builder, const std::string &name,
                                           llvm::Value *x, llvm::Value *y)>;

  CompiledFunctions(const std::vector<std::string> &names, const Emit &emit) {
    const llvm::SmallVector<char, 0> bytes = object_of(names, emit);
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    EXPECT_EQ(LLVMOrcCreateLLJIT(&jit_, nullptr), nullptr);
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit_);
    LLVMOrcDefinitionGeneratorRef process = nullptr;
    EXPECT_EQ(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                  &process, LLVMOrcLLJITGetGlobalPrefix(jit_), nullptr, nullptr),
              nullptr);
    LLVMOrcJITDylibAddGenerator(library, process);
    EXPECT_EQ(LLVMOrcLLJITAddObjectFile(jit_, library,
                                        LLVMCreateMemoryBufferWithMemoryRangeCopy(
                                            bytes.data(), bytes.size(), "functions")),
              nullptr);
  }
  ~CompiledFunctions() { LLVMConsumeError(LLVMOrcDisposeLLJIT(jit_)); }
  CompiledFunctions(const CompiledFunctions &) = delete;
  CompiledFunctions &operator=(const CompiledFunctions &) = delete;

  Binary find(const std::string &name) {
    LLVMOrcExecutorAddress address = 0;
    EXPECT_EQ(LLVMOrcLLJITLookup(jit_, &address, symbol(name).c_str()), nullptr);
    return reinterpret_cast<Binary>(address);
  }

 private:
  static std::string symbol(const std::string &name) { return "compiled_" + name; }

  static llvm::SmallVector<char, 0> object_of(const std::vector<std::string> &names,
                                              const Emit &emit) {
    llvm::LLVMContext context;
    auto machine = make_machine(get_host_target());
    llvm::Module module("functions", context);
    module.setTargetTriple(machine->getTargetTriple().str());
    module.setDataLayout(machine->createDataLayout());
    llvm::Type *t = std::is_same_v<T, float> ? llvm::Type::getFloatTy(context)
                                             : llvm::Type::getDoubleTy(context);
    for (const std::string &name : names) {
      auto *function =
          llvm::Function::Create(llvm::FunctionType::get(t, {t, t}, false),
                                 llvm::Function::ExternalLinkage, symbol(name), module);
      llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
      builder.CreateRet(emit(builder, name, function->getArg(0), function->getArg(1)));
    }
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    llvm::legacy::PassManager passes;
    machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile);
    passes.run(module);
    return bytes;
  }

  LLVMOrcLLJITRef jit_ = nullptr;
};

}  // namespace polyhalite
