// expand_intrinsic: integer functions and sums of products as expressions of basic operators.
//   saturating_sub(a, b)  ->  select(a < b, 0, a - b)          unsigned
// One definition of their meaning: interpreters evaluate it, the simplifier folds by it, and code
// is made from it where the machine has no instruction of its own.
#pragma once

#include "lang/ir/node.h"

namespace polyhalite {

/// Undefined where `call` is no such function.
Expr expand_intrinsic(const CallNode &call);

/// Where the operands of a sum_matrix_products have their elements: c is m x n, a is m x k.
struct MatrixLanes {
  int m, n, k, group;
  int of_a(int row, int term) const { return row * k + term; }
  int of_b(int term, int column) const {
    return (term / group * n + column) * group + term % group;
  }
};
MatrixLanes matrix_lanes(const CallNode &sum_matrix_products);

}  // namespace polyhalite
