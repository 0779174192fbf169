// prove_barriers: the second proof of claim (g), on loop IR as it is: between two accesses of
// different threads of which one needs the other, every path has a barrier; what an asynchronous
// copy brings is accessed only where the copy's group was waited for, and a barrier has told so.
#pragma once

#include <optional>
#include <string>

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// "threads (0, 0, 0) and (1, 0, 0) both access t(1), and no barrier is between"; nothing where all
/// is proven. At the multi-dimensional level.
std::optional<std::string> missing_barrier(const Function &f);

/// f as it is; InternalError where a barrier is missing, CompileError where nobody can say whether
/// a copy was waited for.
Function prove_barriers(const Function &f);

}  // namespace polyhalite
