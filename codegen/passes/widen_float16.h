// widen_float16: arithmetic on 16-bit floats takes place in float32.
//
//   f[i] = a[i] + b[i]   ->   f[i] = float16(float32(a[i]) + float32(b[i]))
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Sums, differences and products of float16 stay where the target has instructions for them.
Function widen_float16(const Function &f, const Target &target);

}  // namespace polyhalite
