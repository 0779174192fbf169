// Targets as LLVM's target machines.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "polyhalite/target.h"

namespace polyhalite {

/// The instruction sets are the target's, never more. Throws CompileError where there is no code
/// generator for the target.
std::unique_ptr<llvm::TargetMachine> make_machine(const Target &target);

/// Of an NVIDIA GPU, 80 for compute capability 8.0; with what only this capability has if
/// `is_specific`.
std::unique_ptr<llvm::TargetMachine> make_device_machine(int capability, bool is_specific);

/// The processor whose timing the code is tuned for: this one in process (JIT feature), else the one
/// that the target names (tune_...), else the first with its instructions: files are the same
/// wherever they are made.
std::string tuning_processor(const Target &target);

}  // namespace polyhalite
