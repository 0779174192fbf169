// finite_operator: is an operator associative that only compares, selects and combines bits? What
// it gives depends on the order of its operands alone, or on one bit of each at a time, so that
// trying all orders, or all bits, is a proof.
//
//   {max(a0, b0), select(a0 > b0 || (a0 == b0 && a1 < b1), a1, b1)}     the first of the largest
//   ~(a ^ b)
#pragma once

#include <optional>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite {

struct FiniteOperator {
  std::vector<Expr> identity;  // per slot
  bool commutative = true;
};

/// `op[k]` gives value slots[k], over the left_symbol()s and right_symbol()s of `slots`. nullopt
/// where it is no such operator, has no identity, is not associative, or has too many operands.
std::optional<FiniteOperator> prove_finite(const std::vector<size_t> &slots,
                                           const std::vector<Expr> &op);

}  // namespace polyhalite
