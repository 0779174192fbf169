#include "codegen/llvm/cover.h"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Instrumentation/SanitizerCoverage.h>

namespace polyhalite {

void cover(llvm::Module &module) {
  llvm::SanitizerCoverageOptions options;
  options.CoverageType = llvm::SanitizerCoverageOptions::SCK_Edge;
  options.IndirectCalls = true;
  options.TraceCmp = true;
  options.Inline8bitCounters = true;
  options.PCTable = true;
  options.StackDepth = llvm::Triple(module.getTargetTriple()).isOSLinux();
  // The analyses that the pass asks for, and no more: all of LLVM's take ten seconds to compile.
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;
  functions.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  functions.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  functions.registerPass([] { return llvm::PostDominatorTreeAnalysis(); });
  functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules); });
  modules.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  modules.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });
  llvm::SanitizerCoveragePass(options).run(module, modules);
}

}  // namespace polyhalite
