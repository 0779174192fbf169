// Steps of casts, intrinsics and math functions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "lang/interpret/program.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/math_functions.h"
#include "lang/ir/widen_float16.h"

namespace polyhalite::interpreter {

namespace {

template <typename R, typename T, typename F>
Register *add_unary(Program &p, Type t, Register *a, F f) {
  Register *r = p.add_register(t);
  R *d = r->as<R>();
  const T *x = a->as<T>();
  return p.add_step(r, {a}, [=](int n) {
    for (int i = 0; i < n; i++) d[i] = static_cast<R>(f(x[i]));
  });
}

template <typename R, typename T, typename F>
Register *add_pair(Program &p, Type t, Register *a, Register *b, F f) {
  Register *r = p.add_register(t);
  R *d = r->as<R>();
  const T *x = a->as<T>(), *y = b->as<T>();
  return p.add_step(r, {a, b}, [=](int n) {
    for (int i = 0; i < n; i++) d[i] = static_cast<R>(f(x[i], y[i]));
  });
}

// Towards zero. Narrow and unsigned integers keep the low bits of what int64 holds.
template <typename R, typename T>
Register *add_truncation(Program &p, Type t, Register *a) {
  Register *r = p.add_register(t);
  R *d = r->as<R>();
  const T *x = a->as<T>();
  constexpr bool kAffine = std::is_same_v<R, int32_t> || std::is_same_v<R, int64_t>;
  const double low = std::is_same_v<R, int32_t> ? -0x1p31 : -0x1p63;
  const double high = std::is_same_v<R, int32_t>    ? 0x1p31
                      : std::is_same_v<R, uint64_t> ? 0x1p64
                                                    : 0x1p63;
  const int self = p.next_step();
  auto convert = [](double v) {
    if constexpr (std::is_same_v<R, uint64_t>) {
      return v >= 0x1p63 ? static_cast<uint64_t>(v)
                         : static_cast<uint64_t>(static_cast<int64_t>(v));
    } else if constexpr (kAffine) {
      return static_cast<R>(v);
    } else {
      return static_cast<R>(static_cast<int64_t>(v));
    }
  };
  return p.add_step(
      r, {a},
      [=](int n) {
        for (int i = 0; i < n; i++) {
          const double v = std::trunc(static_cast<double>(x[i]));
          if (v >= low && v < high) {
            d[i] = convert(v);
          } else {
            d[i] = 0;
            mark_poison(*r, i, self);
          }
        }
      },
      [=](int lane) {
        return Diagnostic{
            "the cast of " + lane_text(*a, lane) + " to " + t.to_string() + " has no value",
            "the number does not fit the integer",
            "clamp it before the cast",
            {}};
      });
}

// |a| and |a - b| as unsigned numbers of the same width.
template <typename T>
auto magnitude(T a) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(a < 0 ? static_cast<U>(0) - static_cast<U>(a) : static_cast<U>(a));
}
template <typename T>
auto distance(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(a < b ? static_cast<U>(b) - static_cast<U>(a)
                              : static_cast<U>(a) - static_cast<U>(b));
}

// A negative amount shifts the other way; amounts from the width on shift everything out.
template <typename T>
T shifted(T a, T by, bool left) {
  constexpr int kBits = 8 * sizeof(T);
  using U = std::make_unsigned_t<T>;
  if (by < 0)
    return by <= -kBits ? (left && a < 0 ? static_cast<T>(-1) : static_cast<T>(0))
                        : shifted<T>(a, static_cast<T>(-by), !left);
  if (static_cast<uint64_t>(by) >= kBits) {
    return !left && a < 0 ? static_cast<T>(-1) : static_cast<T>(0);
  }
  return left ? static_cast<T>(static_cast<U>(static_cast<U>(a) << by)) : static_cast<T>(a >> by);
}

template <typename T>
Register *add_integer_intrinsic(Program &p, const CallNode &c, Register *a, Register *b) {
  using U = std::make_unsigned_t<T>;
  const std::string &name = c.name;
  const Type t = c.type;
  if (name == intrinsic::kAbs) {
    return add_unary<U, T>(p, t, a, [](T x) { return magnitude(x); });
  }
  if (name == intrinsic::kBitwiseNot) {
    const T mask = static_cast<T>(t.is_bool() ? 1 : -1);
    return add_unary<T, T>(p, t, a, [=](T x) { return ~x & mask; });
  }
  const int bits = t.bits();
  if (name == intrinsic::kPopcount) {
    return add_unary<T, T>(p, t, a, [](T x) { return std::popcount(static_cast<U>(x)); });
  }
  if (name == intrinsic::kCountLeadingZeros) {
    return add_unary<T, T>(p, t, a, [=](T x) {
      return std::countl_zero(static_cast<U>(x)) - static_cast<int>(8 * sizeof(T)) + bits;
    });
  }
  if (name == intrinsic::kCountTrailingZeros) {
    return add_unary<T, T>(
        p, t, a, [=](T x) { return std::min(std::countr_zero(static_cast<U>(x)), bits); });
  }
  if (!b) return nullptr;
  if (name == intrinsic::kAbsd) {
    return add_pair<U, T>(p, t, a, b, [](T x, T y) { return distance(x, y); });
  }
  if (name == intrinsic::kBitwiseAnd) {
    return add_pair<T, T>(p, t, a, b, [](T x, T y) { return x & y; });
  }
  if (name == intrinsic::kBitwiseOr) {
    return add_pair<T, T>(p, t, a, b, [](T x, T y) { return x | y; });
  }
  if (name == intrinsic::kBitwiseXor) {
    return add_pair<T, T>(p, t, a, b, [](T x, T y) { return x ^ y; });
  }
  if (name == intrinsic::kShiftLeft || name == intrinsic::kShiftRight) {
    const bool left = name == intrinsic::kShiftLeft;
    // The amount may be signed where the value is not, and the other way round.
    Register *amount = add_cast(p, Int(64), b);
    Register *r = p.add_register(t);
    T *d = r->as<T>();
    const T *x = a->as<T>();
    const int64_t *by = amount->as<int64_t>();
    return p.add_step(r, {a, amount}, [=](int n) {
      for (int i = 0; i < n; i++) {
        const int64_t limited = by[i] > 64 ? 64 : by[i] < -64 ? -64 : by[i];
        if constexpr (std::is_signed_v<T>) {
          d[i] = shifted<T>(x[i], static_cast<T>(limited), left);
        } else {
          const bool to_left = left == (limited >= 0);
          const auto steps = static_cast<unsigned>(limited < 0 ? -limited : limited);
          d[i] = steps >= 8 * sizeof(T) ? 0
                 : to_left              ? static_cast<T>(x[i] << steps)
                                        : static_cast<T>(x[i] >> steps);
        }
      }
    });
  }
  return nullptr;
}

template <typename T>
Register *add_float_intrinsic(Program &p, const CallNode &c, const std::vector<Register *> &args) {
  if (c.name == intrinsic::kAbs) {
    return add_unary<T, T>(p, c.type, args[0], [](T x) { return std::fabs(x); });
  }
  if (c.name == intrinsic::kAbsd) {
    return add_pair<T, T>(p, c.type, args[0], args[1], [](T x, T y) { return std::fabs(x - y); });
  }
  if (c.name != intrinsic::kFma) return nullptr;
  Register *r = p.add_register(c.type);
  T *d = r->as<T>();
  const T *x = args[0]->as<T>(), *y = args[1]->as<T>(), *z = args[2]->as<T>();
  return p.add_step(r, args, [=](int n) {
    for (int i = 0; i < n; i++) d[i] = std::fma(x[i], y[i], z[i]);
  });
}

template <typename T>
Register *add_typed_math(Program &p, const CallNode &c, const std::vector<Register *> &args) {
  if (c.name == "fast_inverse") {
    return add_unary<T, T>(p, c.type, args[0], [](T x) { return T(1) / x; });
  }
  if (c.name == "fast_inverse_sqrt") {
    return add_unary<T, T>(p, c.type, args[0], [](T x) { return T(1) / std::sqrt(x); });
  }
  if (c.name == "pow" || c.name == "fast_pow") {
    return add_pair<T, T>(p, c.type, args[0], args[1], [](T x, T y) { return std::pow(x, y); });
  }
  if (c.name == "atan2") {
    return add_pair<T, T>(p, c.type, args[0], args[1], [](T x, T y) { return std::atan2(x, y); });
  }
  const auto function = unary_math_function<T>(c.name);
  return function ? add_unary<T, T>(p, c.type, args[0], function) : nullptr;
}

// The value, but for lanes where the condition does not hold.
Register *add_require(Program &p, const CallNode &c, Register *condition, Register *value) {
  Register *r = p.add_register(value->type);
  const uint8_t *holds = condition->as<uint8_t>();
  const int bytes = value->type.bytes(), self = p.next_step();
  std::string text;
  for (size_t i = 2; i < c.args.size(); i++) {
    text += (i > 2 ? " " : "") + (c.args[i]->op == Op::StringImm ? as_imm(c.args[i])->s
                                                                 : polyhalite::to_text(c.args[i]));
  }
  return p.add_step(
      r, {condition, value},
      [=](int n) {
        std::memcpy(r->bytes.get(), value->bytes.get(), static_cast<size_t>(n) * bytes);
        for (int i = 0; i < n; i++) {
          if (!holds[i]) mark_poison(*r, i, self);
        }
      },
      [=](int) { return Diagnostic{"a requirement does not hold: " + text, "", "", {}}; });
}

Register *known_or_throw(Register *r, const CallNode &c) {
  if (!r) user_error("the interpreter does not know the function '" + c.name + "'", "", "");
  return r;
}

}  // namespace

Register *add_cast(Program &p, Type t, Register *a) {
  if (t == a->type) return a;
  const Type from = a->type;
  if (is_float16(t)) {
    return add_unary<uint16_t, float>(p, t, a, [t](float x) { return float16_to(t, x); });
  }
  if (is_float16(from)) {
    return add_unary<float, uint16_t>(p, t, a,
                                      [from](uint16_t x) { return float16_from(from, x); });
  }
  Register *result = nullptr;
  const bool known = with_type(t, [&]<typename R>() {
    with_type(a->type, [&]<typename T>() {
      if (t.is_bool()) {
        result = add_unary<R, T>(p, t, a, [](T x) { return x != 0; });
      } else if constexpr (std::is_floating_point_v<T> && !std::is_floating_point_v<R>) {
        result = add_truncation<R, T>(p, t, a);
      } else {
        result = add_unary<R, T>(p, t, a, [](T x) { return static_cast<R>(x); });
      }
    });
  });
  if (!known || !result) {
    user_error("the interpreter cannot cast " + a->type.to_string() + " to " + t.to_string(), "",
               "");
  }
  return result;
}

Register *add_reinterpret(Program &p, Type t, Register *a) {
  Register *r = p.add_register(t);
  const int bytes = t.bytes();
  return p.add_step(r, {a}, [=](int n) {
    std::memcpy(r->bytes.get(), a->bytes.get(), static_cast<size_t>(n) * bytes);
  });
}

Register *add_intrinsic(Program &p, const CallNode &c, const std::vector<Register *> &args) {
  // Of tags and promises the first operand is the value. The oracle prints nothing.
  for (const char *name :
       {intrinsic::kLikely, intrinsic::kLikelyIfInnermost, intrinsic::kStrictFloat,
        intrinsic::kMemoizeTag, intrinsic::kPromiseClamped}) {
    if (c.name == name) return args[0];
  }
  if (c.name == intrinsic::kPrint) return args[1];
  if (c.name == intrinsic::kRequire) return add_require(p, c, args[0], args[1]);
  Register *r = nullptr;
  if (args.empty()) return known_or_throw(r, c);
  with_type(args[0]->type, [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      r = add_float_intrinsic<T>(p, c, args);
    } else {
      r = add_integer_intrinsic<T>(p, c, args[0], args.size() > 1 ? args[1] : nullptr);
    }
  });
  return known_or_throw(r, c);
}

Register *add_math(Program &p, const CallNode &c, const std::vector<Register *> &args) {
  Register *r = nullptr;
  if (c.type == Float(32)) r = add_typed_math<float>(p, c, args);
  if (c.type == Float(64)) r = add_typed_math<double>(p, c, args);
  return known_or_throw(r, c);
}

}  // namespace polyhalite::interpreter
