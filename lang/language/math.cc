// The mathematical functions of polyhalite/operators.h.
#include "lang/ir/node.h"
#include "lang/language/match_types.h"
#include "polyhalite/operators.h"

namespace polyhalite {

namespace {

Expr as_float(Expr x, const char *user) {
  detail::require_defined(x, user);
  const Type t = x.type();
  // bfloat16 has no functions of its own, as in Halide.
  return t.is_float() && !t.is_bfloat() ? x : cast(Float(32, t.lanes()), std::move(x));
}

Expr unary(const char *name, Expr x) {
  x = as_float(std::move(x), name);
  const Type t = x.type();
  return make_math(t, name, {std::move(x)});
}

}  // namespace

Expr sqrt(Expr x) { return unary("sqrt", std::move(x)); }
Expr exp(Expr x) { return unary("exp", std::move(x)); }
Expr log(Expr x) { return unary("log", std::move(x)); }
Expr sin(Expr x) { return unary("sin", std::move(x)); }
Expr cos(Expr x) { return unary("cos", std::move(x)); }
Expr tan(Expr x) { return unary("tan", std::move(x)); }
Expr asin(Expr x) { return unary("asin", std::move(x)); }
Expr acos(Expr x) { return unary("acos", std::move(x)); }
Expr atan(Expr x) { return unary("atan", std::move(x)); }
Expr sinh(Expr x) { return unary("sinh", std::move(x)); }
Expr cosh(Expr x) { return unary("cosh", std::move(x)); }
Expr tanh(Expr x) { return unary("tanh", std::move(x)); }
Expr asinh(Expr x) { return unary("asinh", std::move(x)); }
Expr acosh(Expr x) { return unary("acosh", std::move(x)); }
Expr atanh(Expr x) { return unary("atanh", std::move(x)); }
Expr floor(Expr x) { return unary("floor", std::move(x)); }
Expr ceil(Expr x) { return unary("ceil", std::move(x)); }
Expr round(Expr x) { return unary("round", std::move(x)); }
Expr trunc(Expr x) { return unary("trunc", std::move(x)); }

Expr atan2(Expr y, Expr x) {
  y = as_float(std::move(y), "atan2");
  x = as_float(std::move(x), "atan2");
  detail::match_types(y, x, "atan2");
  const Type t = y.type();
  return make_math(t, "atan2", {std::move(y), std::move(x)});
}

namespace {

Expr integer_power(const Expr &x, int64_t n) {
  if (n == 0) return make_one(x.type());
  if (n == 1) return x;
  const Expr half = integer_power(x, n / 2), square = half * half;
  return n % 2 ? square * x : square;
}

}  // namespace

Expr pow(Expr x, Expr y) {
  detail::require_defined(x, "pow");
  detail::require_defined(y, "pow");
  int64_t n;
  // Longer products are less exact than the function.
  constexpr int64_t kMostFactors = 16;
  if (y.type().is_int_or_uint() && is_const_int(y, &n)) {
    if (x.type().is_int_or_uint() && n >= 0 && n <= 64) return integer_power(x, n);
    const Expr base = as_float(x, "pow");
    if (n >= 0 && n <= kMostFactors) return integer_power(base, n);
    if (n < 0 && n >= -kMostFactors) return make_one(base.type()) / integer_power(base, -n);
  }
  x = as_float(std::move(x), "pow");
  detail::require_defined(y, "pow");
  const Type t = x.type();
  return make_math(t, "pow", {std::move(x), cast(t, std::move(y))});
}

Expr hypot(Expr x, Expr y) { return sqrt(x * x + y * y); }

Expr fract(Expr x) {
  x = as_float(std::move(x), "fract");
  return x - trunc(x);
}

Expr erf(Expr x) { return unary("erf", std::move(x)); }

Expr is_nan(Expr x) {
  x = as_float(std::move(x), "is_nan");
  return strict_float(x != x);
}

Expr is_inf(Expr x) {
  x = as_float(std::move(x), "is_inf");
  return strict_float(abs(x) == x.type().max());
}

Expr is_finite(Expr x) {
  x = as_float(std::move(x), "is_finite");
  return strict_float(abs(x) < x.type().max());
}

namespace {

Expr fast(const char *name, Expr x) {
  detail::require_defined(x, name);
  return make_math(Float(32, x.type().lanes()), name, {cast<float>(x)});
}

}  // namespace

Expr fast_exp(Expr x) { return fast("fast_exp", std::move(x)); }
Expr fast_log(Expr x) { return fast("fast_log", std::move(x)); }
Expr fast_sin(Expr x) { return fast("fast_sin", std::move(x)); }
Expr fast_cos(Expr x) { return fast("fast_cos", std::move(x)); }
Expr fast_inverse(Expr x) { return fast("fast_inverse", std::move(x)); }
Expr fast_inverse_sqrt(Expr x) { return fast("fast_inverse_sqrt", std::move(x)); }

Expr fast_pow(Expr x, Expr y) {
  detail::require_defined(x, "fast_pow");
  detail::require_defined(y, "fast_pow");
  if (is_const_int(y)) return pow(cast<float>(std::move(x)), std::move(y));
  x = cast<float>(std::move(x));
  y = cast<float>(std::move(y));
  detail::match_lanes(x, y);
  const Type t = x.type();
  return make_math(t, "fast_pow", {std::move(x), std::move(y)});
}

}  // namespace polyhalite
