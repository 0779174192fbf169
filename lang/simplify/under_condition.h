// An expression where a condition is known.
#pragma once

#include "lang/ir/node.h"

namespace polyhalite {

/// e with the branch of every select on `condition` that `holds` says.
///
///     select(yi <= 0, a, b) + c  ->  a + c, or b + c
Expr under_condition(const Expr &e, const Expr &condition, bool holds);

}  // namespace polyhalite
