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
using VariableBounds = std::map<std::string, ConstantBounds>;

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

}  // namespace polyhalite
