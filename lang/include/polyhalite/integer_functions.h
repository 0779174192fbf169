// Functions on integers beyond the operators: with twice the width, with half of it, with
// saturation; bits; interpolation.
//
// Unless said otherwise two operands are matched as those of operators are. What needs a type of
// twice the width is a CompileError for 64 bits.
#pragma once

#include <utility>
#include <vector>

#include "polyhalite/expr.h"
#include "polyhalite/operators.h"

namespace polyhalite {

/// a op b in a type of twice a's and b's width, which loses nothing. Operands of mixed signs have a
/// signed result, and so have differences. Float16 becomes float32, float32 float64.
Expr widening_add(Expr a, Expr b);
Expr widening_sub(Expr a, Expr b);
Expr widening_mul(Expr a, Expr b);
/// a of twice the width, shifted by b.
Expr widening_shift_left(Expr a, Expr b);
Expr widening_shift_left(Expr a, int b);
Expr widening_shift_right(Expr a, Expr b);
Expr widening_shift_right(Expr a, int b);
/// a op b where b has half of a's width; the result has a's type.
Expr widen_right_add(Expr a, Expr b);
Expr widen_right_sub(Expr a, Expr b);
Expr widen_right_mul(Expr a, Expr b);

/// The value of t that is nearest to e. NaN becomes 0.
Expr saturating_cast(Type t, Expr e);
template <typename T>
Expr saturating_cast(Expr e) {
  return saturating_cast(type_of<T>(), std::move(e));
}
/// The sum or difference, or what of a's type is nearest to it.
Expr saturating_add(Expr a, Expr b);
Expr saturating_sub(Expr a, Expr b);

/// (a + b)/2 without overflow, rounded down or halves up; (a - b)/2, rounded down, which wraps.
Expr halving_add(Expr a, Expr b);
Expr rounding_halving_add(Expr a, Expr b);
Expr halving_sub(Expr a, Expr b);

/// Shifts right with halves rounded up. Shifting by -b is shifting the other way; a left shift
/// wraps.
Expr rounding_shift_right(Expr a, Expr b);
Expr rounding_shift_right(Expr a, int b);
Expr rounding_shift_left(Expr a, Expr b);
Expr rounding_shift_left(Expr a, int b);
/// a*b in twice the width, shifted right by q, as the nearest value of a's type. q is unsigned.
Expr mul_shift_right(Expr a, Expr b, Expr q);
Expr mul_shift_right(Expr a, Expr b, int q);
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q);
Expr rounding_mul_shift_right(Expr a, Expr b, int q);

/// Division as in C. 0 where y is 0.
Expr div_round_to_zero(Expr x, Expr y);
Expr mod_round_to_zero(Expr x, Expr y);

/// Division of x by an unsigned y of up to 32 bits that varies: of x's type the values of x / y,
/// div_round_to_zero(x, y) and x % y in a type that holds both.
Expr fast_integer_divide(Expr x, Expr y);
Expr fast_integer_divide_round_to_zero(Expr x, Expr y);
Expr fast_integer_modulo(Expr x, Expr y);

/// Counts of bits, of x's type. Of 0 the counts of zeros are the width.
Expr popcount(Expr x);
Expr count_leading_zeros(Expr x);
Expr count_trailing_zeros(Expr x);
/// The bits of e from bit `lsb` on, as t; bits beyond e's are 0.
Expr extract_bits(Type t, const Expr &e, const Expr &lsb);
template <typename T>
Expr extract_bits(const Expr &e, const Expr &lsb) {
  return extract_bits(type_of<T>(), e, lsb);
}
/// Unsigned integers side by side in a wider one, the first one lowest. As many as a power of two.
Expr concat_bits(const std::vector<Expr> &parts);

/// Linear interpolation: zero where weight is 0, one where it is 1 or the largest value of its
/// unsigned type. Between integers a weight is first brought to their width: an unsigned one to the
/// parts of their largest value, rounded down; a float too. With that weight, values are rounded to
/// nearest, exactly. Up to 32 bits, and float64.
Expr lerp(Expr zero, Expr one, Expr weight);

}  // namespace polyhalite
