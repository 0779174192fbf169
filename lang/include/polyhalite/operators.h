// Operators and functions on Expr.
//
// Operands of different types are matched as in C, with two exceptions. A C++ int or float beside
// an Expr takes the Expr's type (an int that the type cannot hold is a CompileError; a float beside
// an integer makes the Expr a float32). Of signed and unsigned, the result is signed with the
// greater width. In order: same types stay; a scalar beside a vector is broadcast; beside a float,
// an integer becomes that float; otherwise the narrower operand is widened.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"

namespace polyhalite {

namespace detail {

enum class Binary { Add, Sub, Mul, Div, Mod, Min, Max, Eq, Ne, Lt, Le, Gt, Ge };
Expr binary(Binary op, Expr a, Expr b);
Expr binary(Binary op, Expr a, int b);
Expr binary(Binary op, int a, Expr b);

enum class Bitwise { And, Or, Xor, ShiftLeft, ShiftRight };
Expr bitwise(Bitwise op, Expr a, Expr b);
Expr bitwise(Bitwise op, Expr a, int b);
Expr bitwise(Bitwise op, int a, Expr b);

template <typename... Args>
inline constexpr bool all_exprs = (std::is_convertible_v<Args, Expr> && ...);

}  // namespace detail

// One family of overloads: both operands expressions, or one a C++ int.
#define POLYHALITE_OPERATOR(name, make, op)       \
  inline Expr name(Expr a, Expr b) {              \
    const ErrorPlace place(detail::noted_site()); \
    return make(op, std::move(a), std::move(b));  \
  }                                               \
  inline Expr name(Expr a, int b) {               \
    const ErrorPlace place(detail::noted_site()); \
    return make(op, std::move(a), b);             \
  }                                               \
  inline Expr name(int a, Expr b) {               \
    const ErrorPlace place(detail::noted_site()); \
    return make(op, a, std::move(b));             \
  }
// Or a float.
#define POLYHALITE_BINARY(name, op)                   \
  POLYHALITE_OPERATOR(name, detail::binary, op)       \
  inline Expr name(Expr a, float b) {                 \
    const ErrorPlace place(detail::noted_site());     \
    return detail::binary(op, std::move(a), Expr(b)); \
  }                                                   \
  inline Expr name(float a, Expr b) {                 \
    const ErrorPlace place(detail::noted_site());     \
    return detail::binary(op, Expr(a), std::move(b)); \
  }

POLYHALITE_BINARY(operator+, detail::Binary::Add)
POLYHALITE_BINARY(operator-, detail::Binary::Sub)
POLYHALITE_BINARY(operator*, detail::Binary::Mul)
/// Integers round towards minus infinity for positive divisors so that the remainder is never
/// negative; division by zero gives 0.
POLYHALITE_BINARY(operator/, detail::Binary::Div)
/// In [0, |b|); 0 where b is 0.
POLYHALITE_BINARY(operator%, detail::Binary::Mod)
POLYHALITE_BINARY(operator==, detail::Binary::Eq)
POLYHALITE_BINARY(operator!=, detail::Binary::Ne)
POLYHALITE_BINARY(operator<, detail::Binary::Lt)
POLYHALITE_BINARY(operator<=, detail::Binary::Le)
POLYHALITE_BINARY(operator>, detail::Binary::Gt)
POLYHALITE_BINARY(operator>=, detail::Binary::Ge)
POLYHALITE_BINARY(min, detail::Binary::Min)
POLYHALITE_BINARY(max, detail::Binary::Max)
#undef POLYHALITE_BINARY

#define POLYHALITE_BITWISE(name, op) POLYHALITE_OPERATOR(name, detail::bitwise, op)

/// Operands of & | ^ are both signed or both unsigned; the narrower is widened.
POLYHALITE_BITWISE(operator&, detail::Bitwise::And)
POLYHALITE_BITWISE(operator|, detail::Bitwise::Or)
POLYHALITE_BITWISE(operator^, detail::Bitwise::Xor)
/// The result has the left operand's type; >> is arithmetic for signed types.
POLYHALITE_BITWISE(operator<<, detail::Bitwise::ShiftLeft)
POLYHALITE_BITWISE(operator>>, detail::Bitwise::ShiftRight)
#undef POLYHALITE_BITWISE
#undef POLYHALITE_OPERATOR

Expr operator-(Expr a);
Expr operator~(Expr a);
Expr operator!(Expr a);
Expr operator&&(Expr a, Expr b);
Expr operator&&(Expr a, bool b);
Expr operator&&(bool a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator||(Expr a, bool b);
Expr operator||(bool a, Expr b);
Expr &operator+=(Expr &a, Expr b);
Expr &operator-=(Expr &a, Expr b);
Expr &operator*=(Expr &a, Expr b);
Expr &operator/=(Expr &a, Expr b);

template <typename A, typename B, typename C, typename... Rest,
          typename = std::enable_if_t<detail::all_exprs<A, B, C, Rest...>>>
Expr min(A &&a, B &&b, C &&c, Rest &&...rest) {
  return min(std::forward<A>(a),
             Expr(min(std::forward<B>(b), std::forward<C>(c), std::forward<Rest>(rest)...)));
}
template <typename A, typename B, typename C, typename... Rest,
          typename = std::enable_if_t<detail::all_exprs<A, B, C, Rest...>>>
Expr max(A &&a, B &&b, C &&c, Rest &&...rest) {
  return max(std::forward<A>(a),
             Expr(max(std::forward<B>(b), std::forward<C>(c), std::forward<Rest>(rest)...)));
}

/// As static_cast in C++; floats to integers round towards zero.
Expr cast(Type t, Expr e, ExprSite site = ExprSite());
template <typename T>
Expr cast(Expr e, ExprSite site = ExprSite()) {
  return cast(type_of<T>(), std::move(e), site);
}
/// The same bits as another type of the same width.
Expr reinterpret(Type t, Expr e, ExprSite site = ExprSite());
template <typename T>
Expr reinterpret(Expr e, ExprSite site = ExprSite()) {
  return reinterpret(type_of<T>(), std::move(e), site);
}

/// The bounds are cast to a's type.
Expr clamp(Expr a, Expr min_value, Expr max_value, ExprSite site = ExprSite());
/// Of a signed integer, unsigned of the same width.
Expr abs(Expr a);
/// |a - b| without overflow; unsigned for integers.
Expr absd(Expr a, Expr b);
/// true_value where condition holds, else false_value; both are evaluated.
Expr select(Expr condition, Expr true_value, Expr false_value, ExprSite site = ExprSite());
/// select(c0, v0, c1, v1, ..., otherwise): the first value whose condition holds.
template <typename... Args, typename = std::enable_if_t<detail::all_exprs<Args...>>>
Expr select(Expr c0, Expr v0, Expr c1, Expr v1, Args &&...args) {
  const ErrorPlace place(detail::noted_site());
  return select(std::move(c0), std::move(v0),
                select(std::move(c1), std::move(v1), std::forward<Args>(args)...));
}
/// values[id]; the last value where id is out of range.
Expr mux(const Expr &id, const std::vector<Expr> &values, ExprSite site = ExprSite());

// Of floats, result of the same type; other arguments are cast to float32.
Expr sqrt(Expr x);
Expr exp(Expr x);
Expr log(Expr x);
Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);
Expr floor(Expr x);
Expr ceil(Expr x);
/// To the nearest integer, halves to the even one.
Expr round(Expr x);
Expr trunc(Expr x);
Expr atan2(Expr y, Expr x);
/// The result has x's type, or float32 where x is no float; but an integer to a constant natural
/// power stays an integer. Constant integer powers are products.
Expr pow(Expr x, Expr y);
Expr hypot(Expr x, Expr y);
/// x - trunc(x).
Expr fract(Expr x);
Expr erf(Expr x);
Expr is_nan(Expr x);
Expr is_inf(Expr x);
Expr is_finite(Expr x);

// Of float32 (other arguments are cast to it), quicker and less exact than their models: relative
// errors of up to 2^-14; of sines and cosines 2^-16, absolute, for |x| below 2^13.
Expr fast_exp(Expr x);
Expr fast_log(Expr x);
Expr fast_pow(Expr x, Expr y);
Expr fast_sin(Expr x);
Expr fast_cos(Expr x);
Expr fast_inverse(Expr x);
Expr fast_inverse_sqrt(Expr x);

/// e itself, and a hint: in the steady state the branch, min, max or clamp around it takes this
/// value. Loops are cut so that their interiors need no test.
Expr likely(Expr e);
/// The same where no loop is inside the one that would be cut.
Expr likely_if_innermost(Expr e);
/// e with floats computed exactly as written: no contraction, no reassociation.
Expr strict_float(Expr e);

}  // namespace polyhalite
