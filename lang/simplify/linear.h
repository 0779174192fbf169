// Linear forms: sum of coefficient * atom + constant, over Int(32)/Int(64) expressions. Atoms are
// whatever is not a sum or a product with a constant: variables, min, max, divisions, loads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "lang/ir/node.h"

namespace polyhalite {

struct ExprLess {
  bool operator()(const Expr &a, const Expr &b) const { return compare(a, b) < 0; }
};

struct Linear {
  std::map<Expr, int64_t, ExprLess> terms;  // no zero coefficients
  int64_t constant = 0;
  Type type = Int(32);

  bool is_constant() const { return terms.empty(); }
  Linear &add(const Linear &o, int64_t factor = 1);
  Linear &scale(int64_t factor);
};

/// Of an affine-typed scalar (Type::is_affine).
Linear to_linear(const Expr &e);
/// Canonical: terms in compare() order, positive first; one constant at the end.
Expr to_expr(const Linear &l);
/// a - b where it is a constant.
std::optional<int64_t> constant_difference(const Expr &a, const Expr &b);

}  // namespace polyhalite
