// simplify: algebra on expressions that keeps every value, on every input.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "lang/ir/node.h"
#include "lang/simplify/linear.h"

namespace polyhalite {

/// Constant bounds of variables that hold wherever the expression is evaluated.
struct ConstantBounds {
  std::optional<int64_t> min, max;
};
/// What is known of a variable: it is a multiple of `divisor`, too.
struct VariableBound : ConstantBounds {
  int64_t divisor = 1;
  VariableBound() = default;
  VariableBound(std::optional<int64_t> least, std::optional<int64_t> most)
      : ConstantBounds{least, most} {}
  VariableBound(const ConstantBounds &b, int64_t d = 1) : ConstantBounds(b), divisor(d) {}
};
using VariableBounds = std::map<std::string, VariableBound>;

/// Constant folding, linear normal forms of affine types, min/max/select/comparison/boolean rules,
/// div and mod by constants using alignment and bounds ((8*x + y)/8 = x where 0 <= y < 8), ramps
/// and broadcasts. Never changes floats beyond exact identities; wraps narrow integers exactly.
Expr simplify(const Expr &e, const VariableBounds &bounds = {});
/// True or false where `condition` is decided under the bounds.
std::optional<bool> decide(const Expr &condition, const VariableBounds &bounds = {});
/// Constant interval of an affine-typed expression, as far as known.
ConstantBounds constant_bounds(const Expr &e, const VariableBounds &bounds = {});
/// The same of a linear form whose atoms are simple already.
ConstantBounds constant_bounds(const Linear &l, const VariableBounds &bounds);

/// A number that divides every value of an affine scalar: 1 where no other is known; 0 of 0.
int64_t constant_divisor(const Expr &e, const VariableBounds &bounds = {});

}  // namespace polyhalite
