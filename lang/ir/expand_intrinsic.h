// expand_intrinsic: integer functions and sums of products as expressions of basic operators.
//   saturating_sub(a, b)  ->  select(a < b, 0, a - b)          unsigned
// One definition of their meaning: interpreters evaluate it, the simplifier folds by it, and code
// is made from it where the machine has no instruction of its own.
#pragma once

#include "lang/ir/node.h"

namespace polyhalite {

/// Undefined where `call` is no such function.
Expr expand_intrinsic(const CallNode &call);

}  // namespace polyhalite
