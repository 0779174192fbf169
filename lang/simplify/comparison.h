// What comparisons say about each other.
#pragma once

#include <optional>

#include "lang/ir/node.h"

namespace polyhalite {

/// `b mirrored(op) a` is `a op b`.
Op mirrored(Op op);
/// The comparison that holds where `op` does not (of floats: where neither side is NaN); nullopt
/// for other operators.
std::optional<Op> negated(Op op);

}  // namespace polyhalite
