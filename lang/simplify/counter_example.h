// counter_example: values for which an operator is not associative.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite {

/// "a op b = b - a is not associative: (1 op 0) op 0 is 1, 1 op (0 op 0) is -1", of the operator
/// with op[k] for value slots[k] over the left_symbol()s and right_symbol()s of `slots`; empty
/// where none of a few small values shows it.
std::string counter_example(const std::vector<size_t> &slots, const std::vector<Expr> &op);

}  // namespace polyhalite
