// What a comparison says of two numbers.
#pragma once

#include "lang/ir/node.h"

namespace polyhalite {

/// a op b, for one of the six comparisons.
template <typename T>
bool compares(Op op, T a, T b) {
  switch (op) {
    case Op::Eq:
      return a == b;
    case Op::Ne:
      return a != b;
    case Op::Lt:
      return a < b;
    case Op::Le:
      return a <= b;
    case Op::Gt:
      return a > b;
    default:
      return a >= b;
  }
}

}  // namespace polyhalite
