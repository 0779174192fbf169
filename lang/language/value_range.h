// value_range: symbolic bounds of integer expressions over variables with symbolic bounds.
#pragma once

#include <map>
#include <string>

#include "polyhalite/expr.h"

namespace polyhalite {

/// Both ends belong to it. Undefined where an expression has no bounds that its form tells.
struct ValueRange {
  Expr min, max;
  bool defined() const { return min.defined() && max.defined(); }
};

ValueRange hull(const ValueRange &a, const ValueRange &b);

/// Of an int32 expression. Params and shapes stand for themselves; variables that `variables` lacks
/// have no bounds.
ValueRange range_of(const Expr &e, const std::map<std::string, ValueRange> &variables);

}  // namespace polyhalite
