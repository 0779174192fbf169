// trust_callers: with the target feature no_asserts, what entry checks ask for is promised.
//
//   assert (in.extent.0 >= 8), polyhalite_error_access_out_of_bounds(...)
//   for x ... { ... }
// ->
//   for x ... { ... }
//
// The passes before have used what the checks say. Answers to bounds queries stay.
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// The same function on other targets.
Function trust_callers(const Function &f, const Target &target);

}  // namespace polyhalite
