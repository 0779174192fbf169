// Coverage for fuzzers: code that tells which edges it takes and what it compares.
#pragma once

namespace llvm {
class Module;
}

namespace polyhalite {

/// Puts the calls and counters into every function of an optimised module that clang's
/// -fsanitize=fuzzer-no-link puts into a program's own: a counter for each edge, a table of places,
/// operands of comparisons and of switches, indirect calls. The symbols __sanitizer_cov_* are the
/// fuzzer's to define, and so is __sancov_lowest_stack on Linux.
void cover(llvm::Module &module);

}  // namespace polyhalite
