#include "codegen/oracle/value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "lang/ir/compares.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/math_functions.h"
#include "lang/simplify/fold.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

Lane of_int(int64_t i) { return Lane{.i = i}; }
Lane of_uint(uint64_t u) { return Lane{.u = u}; }
Lane of_float(double f) { return Lane{.f = f}; }
Lane of_bool(bool b) { return of_uint(b); }

template <typename T>
T float_binary(Op op, T a, T b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return a / b;
    case Op::Mod:
      return a - b * std::floor(a / b);
    case Op::Min:
      return a < b ? a : b;
    default:
      return a > b ? a : b;
  }
}

// Unsigned arithmetic: the low bits are right for signed operands too.
uint64_t wrapping_binary(Op op, uint64_t a, uint64_t b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::And:
      return a & b;
    default:
      return a | b;
  }
}

Lane integer_binary(Op op, Type t, Lane a, Lane b) {
  const bool is_signed = t.is_int();
  switch (op) {
    case Op::Div:
      if (is_signed) return wrap_lane(t, of_int(euclidean_div(a.i, b.i)));
      return of_uint(b.u == 0 ? 0 : a.u / b.u);
    case Op::Mod:
      return is_signed ? of_int(euclidean_mod(a.i, b.i)) : of_uint(b.u == 0 ? 0 : a.u % b.u);
    case Op::Min:
    case Op::Max: {
      const bool less = is_signed ? a.i < b.i : a.u < b.u;
      return less == (op == Op::Min) ? a : b;
    }
    default:
      return wrap_lane(t, of_uint(wrapping_binary(op, a.u, b.u)));
  }
}

Lane integer_call(const CallNode &c, Type from, const std::vector<Lane> &args) {
  const Lane a = args[0], b = args.size() > 1 ? args[1] : Lane{.u = 0};
  const bool is_signed = from.is_int();
  auto wrapped = [&](uint64_t v) { return wrap_lane(c.type, of_uint(v)); };
  if (c.name == intrinsic::kAbs) return wrapped(is_signed && a.i < 0 ? 0 - a.u : a.u);
  if (c.name == intrinsic::kAbsd) {
    const bool less = is_signed ? a.i < b.i : a.u < b.u;
    return wrapped(less ? b.u - a.u : a.u - b.u);
  }
  if (c.name == intrinsic::kBitwiseAnd) return wrapped(a.u & b.u);
  if (c.name == intrinsic::kBitwiseOr) return wrapped(a.u | b.u);
  if (c.name == intrinsic::kBitwiseXor) return wrapped(a.u ^ b.u);
  if (c.name == intrinsic::kBitwiseNot) return wrapped(~a.u);
  if (c.name == intrinsic::kShiftLeft || c.name == intrinsic::kShiftRight) {
    const bool negative = c.args[1].type().is_int() && b.i < 0;
    const uint64_t places = negative ? 0 - b.u : b.u;
    const bool all_out = places >= static_cast<uint64_t>(from.bits());
    if ((c.name == intrinsic::kShiftLeft) != negative) return wrapped(all_out ? 0 : a.u << places);
    if (is_signed) return of_int(all_out ? (a.i < 0 ? -1 : 0) : a.i >> places);
    return of_uint(all_out ? 0 : a.u >> places);
  }
  const uint64_t own = from.bits() >= 64 ? a.u : a.u & ((uint64_t{1} << from.bits()) - 1);
  if (c.name == intrinsic::kPopcount) return wrapped(static_cast<uint64_t>(std::popcount(own)));
  if (c.name == intrinsic::kCountLeadingZeros) {
    return wrapped(static_cast<uint64_t>(std::countl_zero(own) - 64 + from.bits()));
  }
  if (c.name == intrinsic::kCountTrailingZeros) {
    return wrapped(static_cast<uint64_t>(std::min(std::countr_zero(own), from.bits())));
  }
  internal_check(false, ("interpret_ir: unknown integer call '" + c.name + "'").c_str());
  return a;
}

template <typename T>
T math_call(const std::string &name, T a, T b) {
  if (name == "fast_inverse") return T(1) / a;
  if (name == "fast_inverse_sqrt") return T(1) / std::sqrt(a);
  if (name == "pow" || name == "fast_pow") return std::pow(a, b);
  if (name == "atan2") return std::atan2(a, b);
  const auto function = unary_math_function<T>(name);
  internal_check(function, ("interpret_ir: unknown function '" + name + "'").c_str());
  return function(a);
}

}  // namespace

Lane wrap_lane(Type t, Lane v) {
  const int bits = t.bits();
  if (t.is_float()) return of_float(round_to(t, v.f));
  if (bits >= 64) return v;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t u = v.u & mask;
  if (t.is_int() && u >> (bits - 1)) u |= ~mask;
  return of_uint(u);
}

Lane lane_of_binary(Op op, Type t, Lane a, Lane b) {
  if (is_comparison(op)) {
    return of_bool(t.is_float() ? compares(op, a.f, b.f)
                   : t.is_int() ? compares(op, a.i, b.i)
                                : compares(op, a.u, b.u));
  }
  if (!t.is_float()) return integer_binary(op, t, a, b);
  if (t.bits() <= 32) {
    const float r = float_binary(op, static_cast<float>(a.f), static_cast<float>(b.f));
    return wrap_lane(t, of_float(static_cast<double>(r)));
  }
  return of_float(float_binary(op, a.f, b.f));
}

Lane lane_of_cast(Type to, Type from, Lane a) {
  if (from.is_float()) {
    if (to.is_float()) return wrap_lane(to, a);
    if (to.is_bool()) return of_bool(a.f != 0);
    if (to.is_uint() && to.bits() == 64 && a.f >= 0x1p63)
      return of_uint(static_cast<uint64_t>(a.f));
    internal_check(a.f > -0x1p63 && a.f < 0x1p63, "interpret_ir: float out of the integer's range");
    return wrap_lane(to, of_int(static_cast<int64_t>(a.f)));
  }
  if (to.is_bool()) return of_bool(a.u != 0);
  if (!to.is_float()) return wrap_lane(to, a);
  if (to.bits() <= 32) {
    const float r = from.is_int() ? static_cast<float>(a.i) : static_cast<float>(a.u);
    return wrap_lane(to, of_float(static_cast<double>(r)));
  }
  return of_float(from.is_int() ? static_cast<double>(a.i) : static_cast<double>(a.u));
}

namespace {

Lane limited_product(const std::vector<Lane> &args) {
  int64_t product = 1;
  for (size_t i = 1; i < args.size(); i++) {
    const bool wraps = __builtin_mul_overflow(product, args[i].i, &product);
    if (wraps || product > args[0].i) product = INT64_MAX;
  }
  return Lane{.i = product};
}

}  // namespace

Lane lane_of_call(const CallNode &call, const std::vector<Lane> &args) {
  const Type from = call.args[0].type();
  if (call.kind == CallKind::Intrinsic) {
    if (call.name == intrinsic::kLimitedProduct) return limited_product(args);
    for (const char *name :
         {intrinsic::kLikely, intrinsic::kLikelyIfInnermost, intrinsic::kStrictFloat,
          intrinsic::kMemoizeTag, intrinsic::kPromiseClamped, intrinsic::kStream}) {
      if (call.name == name) return args[0];
    }
    if (!from.is_float()) return integer_call(call, from, args);
    if (call.name == intrinsic::kAbs) return of_float(std::fabs(args[0].f));
    internal_check(call.name == intrinsic::kFma,
                   ("interpret_ir: unknown float call '" + call.name + "'").c_str());
    if (from.bits() == 32) {
      return of_float(std::fma(static_cast<float>(args[0].f), static_cast<float>(args[1].f),
                               static_cast<float>(args[2].f)));
    }
    return of_float(std::fma(args[0].f, args[1].f, args[2].f));
  }
  internal_check(call.kind == CallKind::Math,
                 ("interpret_ir: cannot call '" + call.name + "'").c_str());
  const Lane b = args.size() > 1 ? args[1] : of_float(0);
  if (from.bits() == 16) {
    const float r = math_call(call.name, static_cast<float>(args[0].f), static_cast<float>(b.f));
    return wrap_lane(call.type, of_float(static_cast<double>(r)));
  }
  if (from.bits() == 32) {
    return of_float(math_call(call.name, static_cast<float>(args[0].f), static_cast<float>(b.f)));
  }
  return of_float(math_call(call.name, args[0].f, b.f));
}

Lane read_element(Type t, const uint8_t *p) {
  if (t == Float(32)) {
    float v;
    std::memcpy(&v, p, 4);
    return of_float(v);
  }
  Lane v{.u = 0};
  std::memcpy(&v, p, static_cast<size_t>(t.bytes()));
  if (t.is_float() && t.bits() == 16) {
    const auto bits = static_cast<uint16_t>(v.u);
    return of_float(static_cast<double>(t.is_bfloat() ? detail::bfloat16_value(bits)
                                                      : detail::float16_value(bits)));
  }
  return t.is_float() ? v : wrap_lane(t, v);
}

void write_element(Type t, Lane v, uint8_t *p) {
  if (t == Float(32)) {
    const float f = static_cast<float>(v.f);
    std::memcpy(p, &f, 4);
  } else if (t.is_float() && t.bits() == 16) {
    const float f = static_cast<float>(v.f);
    const uint16_t bits = t.is_bfloat() ? detail::bfloat16_bits(f) : detail::float16_bits(f);
    std::memcpy(p, &bits, 2);
  } else {
    std::memcpy(p, &v, static_cast<size_t>(t.bytes()));
  }
}

std::string to_text(Type t, Lane v) {
  return t.is_float() ? std::to_string(v.f)
         : t.is_int() ? std::to_string(v.i)
                      : std::to_string(v.u);
}

}  // namespace polyhalite
