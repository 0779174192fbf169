// A function of loop IR as C++ source: for compilers of machines that LLVM has no code for, and to
// be read. Vectors and copies of loops are left to who compiles it.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"
#include "codegen/llvm/filter.h"

namespace polyhalite {

/// `f` is flat, its vector and unrolled loops as they are (PassOptions::scalar). The text needs
/// C++17, polyhalite_runtime.h and its kin, and is linked with the runtime. No profile is taken.
std::string c_source(const Function &f, const Filter &filter);

}  // namespace polyhalite
