// Which constants of a loop stay in registers.
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace polyhalite {

/// In loops of one block that need more than the 16 vector registers of AVX2:
/// constants that instructions can read from memory become such operands, until the others fit.
/// For optimised modules that become machine code next. LLVM takes every constant before the loop,
/// and then moves them from register to register in each step.
void constants_to_memory(llvm::Module &module, const llvm::TargetMachine &machine);

}  // namespace polyhalite
