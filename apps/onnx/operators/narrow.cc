#include "apps/onnx/operators/narrow.h"

#include <cmath>
#include <limits>

#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

// A float as sign, exponent and mantissa bits. Codes up to `largest` are finite; `beyond` stands
// for values that are too large where nothing saturates.
struct Format {
  int exponent, mantissa, bias;
  int largest, beyond, nan;  // of those without infinity and NaN the first two are one
  bool negative_zero;
};

Format format_of(ElementType t) {
  switch (t) {
    case ElementType::Float8E4M3FN:
      return {4, 3, 7, 0x7e, 0x7f, 0x7f, true};
    case ElementType::Float8E5M2:
      return {5, 2, 15, 0x7b, 0x7c, 0x7e, true};
    case ElementType::Float8E4M3FNUZ:
      return {4, 3, 8, 0x7f, 0x80, 0x80, false};
    case ElementType::Float8E5M2FNUZ:
      return {5, 2, 16, 0x7f, 0x80, 0x80, false};
    // These have no NaN: it becomes -0.
    case ElementType::Float6E2M3:
      return {2, 3, 1, 0x1f, 0x1f, 0x20, true};
    case ElementType::Float6E3M2:
      return {3, 2, 3, 0x1f, 0x1f, 0x20, true};
    default:  // float4e2m1
      return {2, 1, 1, 0x7, 0x7, 0x8, true};
  }
}

float value_of(ElementType t, int code) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (t == ElementType::Float8E8M0) return code == 255 ? nan : std::ldexp(1.0f, code - 127);
  const Format f = format_of(t);
  const int sign_bit = 1 << (f.exponent + f.mantissa), magnitude = code & (sign_bit - 1);
  const float sign = code & sign_bit ? -1.0f : 1.0f;
  if (!f.negative_zero && code == f.nan) return nan;
  if (magnitude > f.largest) {
    const bool infinite = t == ElementType::Float8E5M2 && magnitude == f.beyond;
    return infinite ? sign * std::numeric_limits<float>::infinity() : nan;
  }
  const int exponent = magnitude >> f.mantissa, rest = magnitude & ((1 << f.mantissa) - 1);
  const int whole = exponent > 0 ? rest + (1 << f.mantissa) : rest;
  return sign * std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - f.bias - f.mantissa);
}

Expr encode_float(const Format &f, const Expr &x, bool saturate) {
  const Expr bits = reinterpret<uint32_t>(x);
  const Expr sign = cast<int32_t>(bits >> Expr(uint32_t{31}));
  const Expr field = cast<int32_t>((bits >> Expr(uint32_t{23})) & Expr(uint32_t{255}));
  // What is too large for the format has the exponent of the largest value, and rounds beyond it.
  const int top = (f.largest >> f.mantissa) - f.bias + 1;
  const Expr exponent = clamp(field - 127, 1 - f.bias, top);
  const Expr scale =
      reinterpret<float>(cast<uint32_t>(f.mantissa - exponent + 127) << Expr(uint32_t{23}));
  const Expr most = Expr(std::ldexp(1.0f, f.mantissa + 2));
  const Expr steps = cast<int32_t>(round(min(abs(x) * scale, most)));
  const Expr code = steps + ((exponent + (f.bias - 1)) << f.mantissa);
  Expr magnitude = select(code > f.largest, saturate ? f.largest : f.beyond, code);
  const int sign_bit = 1 << (f.exponent + f.mantissa);
  Expr signed_code = magnitude + sign * sign_bit;
  if (!f.negative_zero)
    signed_code = select(magnitude == 0, 0, magnitude == f.nan, f.nan, signed_code);
  return cast<uint8_t>(select(is_nan(x), f.nan, signed_code));
}

Expr encode_power(const Expr &x, bool saturate, const std::string &rounding) {
  const Expr bits = reinterpret<uint32_t>(x);
  const Expr field = cast<int32_t>((bits >> Expr(uint32_t{23})) & Expr(uint32_t{255}));
  const Expr rest = cast<int32_t>(bits & Expr(uint32_t{0x7fffff}));
  Expr up = rest > 0;
  if (rounding == "down") up = Expr(false);
  if (rounding == "nearest") up = rest >= 0x400000;
  const Expr code = field + select(up, 1, 0);
  return cast<uint8_t>(select(is_nan(x), 255, code > 254, saturate ? 254 : 255, code));
}

}  // namespace

std::pair<int, int> narrow_range(ElementType t) {
  switch (t) {
    case ElementType::Int4:
      return {-8, 7};
    case ElementType::UInt4:
      return {0, 15};
    case ElementType::Int2:
      return {-2, 1};
    default:
      return {0, 3};
  }
}

ops::Tensor decoded(const ops::Tensor &codes, ElementType from, Type to) {
  if (!is_narrow(from) || is_narrow_integer(from)) return ops::convert(codes, to);
  Buffer<float, 1> table(256);
  for (int code = 0; code < 256; code++) table(code) = value_of(from, code);
  const ops::Tensor values = ops::elementwise(
      {codes}, Float(32),
      [table](const std::vector<Expr> &v) -> Expr { return table(cast<int32_t>(v[0])); });
  return ops::convert(values, to);
}

ops::Tensor encoded(const ops::Tensor &x, ElementType to, bool saturate,
                    const std::string &rounding) {
  const Type type = *language_type(to);
  if (!is_narrow(to)) return ops::convert(x, type);
  if (is_narrow_integer(to)) {
    const auto [low, high] = narrow_range(to);
    const int count = high - low + 1, least = low;
    return ops::elementwise({ops::convert(x, Int(32))}, type, [=](const std::vector<Expr> &v) {
      const Expr rest = (v[0] - least) & (count - 1);
      return cast(type, rest + least);
    });
  }
  return ops::elementwise({ops::convert(x, Float(32))}, type, [=](const std::vector<Expr> &v) {
    return to == ElementType::Float8E8M0 ? encode_power(v[0], saturate, rounding)
                                         : encode_float(format_of(to), v[0], saturate);
  });
}

}  // namespace polyhalite::onnx
