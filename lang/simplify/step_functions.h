// step_functions: updates that are functions of their cell of a kind that composes. Where f' =
// F(f, e) is no operator of two values of one type, two steps one after the other may still be one
// step of the same kind, which is then what partial results hold.
//
//   f*a + b                  (a, b)        then (c, d):  (a*c, b*c + d)         linear recurrences,
//                                                                               of several values
//                                                                               too
//   (f*a + b) % m            (a, b)        then (c, d):  (a*c % m, (b*c + d) % m)
//   min(max(f, lo), hi)      (lo, hi)      then (l, h):  (min(max(lo, l), h), min(max(hi, l), h))
//   min(max(f + a, lo), hi)  (a, lo, hi)   sums with saturation, in Int(64)
//   saturating_sub(f, a)     (a)           then (b):     (saturating_add(a, b))  unsigned
#pragma once

#include <optional>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite {

struct StepFunction {
  /// Per number that describes the function; 0, 1... are their left_symbol()s and right_symbol()s.
  std::vector<Expr> operands, identity;
  std::vector<Expr> op;  // the left function first, then the right one
  /// Per value of the group: over its left_symbol(), and the function's right_symbol()s.
  std::vector<Expr> applied;
  bool commutative = false;
};

/// `values[k]` is value group[k], over the left_symbol()s of `group` and what they do not change.
std::optional<StepFunction> step_function(const std::vector<Expr> &values,
                                          const std::vector<size_t> &group);

}  // namespace polyhalite
