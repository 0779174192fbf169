// The mathematical functions of polyhalite/operators.h.
#include "lang/ir/node.h"
#include "lang/language/match_types.h"
#include "polyhalite/operators.h"

namespace polyhalite {

namespace {

Expr as_float(Expr x, const char *user) {
  detail::require_defined(x, user);
  const Type t = x.type();
  return t.is_float() ? x : cast(Float(32, t.lanes()), std::move(x));
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

Expr pow(Expr x, Expr y) {
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

Expr is_nan(Expr x) {
  x = as_float(std::move(x), "is_nan");
  return x != x;
}

}  // namespace polyhalite
