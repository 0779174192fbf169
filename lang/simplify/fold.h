// Arithmetic on constants, exactly as compiled code does it. Every function returns an undefined
// Expr where the result is not a constant that is the same on every machine.
#pragma once

#include <cstdint>

#include "lang/ir/node.h"

namespace polyhalite {

/// Quotient that leaves a remainder in [0, |b|); 0 for b = 0. a = INT64_MIN, b = -1 wraps.
int64_t euclidean_div(int64_t a, int64_t b);
/// The remainder in [0, |b|); 0 for b = 0.
int64_t euclidean_mod(int64_t a, int64_t b);
/// Does `value` fit the integer type, of at most 64 bits?
bool fits(Type t, int64_t value);

/// a op b. Operands are scalar constants or broadcasts of such.
Expr fold_binary(Op op, const Expr &a, const Expr &b);
Expr fold_cast(Type t, const Expr &a);
/// Intrinsics, and the math functions that are exact: sqrt, floor, ceil, trunc, round.
Expr fold_call(const CallNode &call);

}  // namespace polyhalite
