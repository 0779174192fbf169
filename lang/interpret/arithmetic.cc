// Steps of arithmetic and comparison.
#include <cmath>
#include <limits>

#include "lang/interpret/program.h"

namespace polyhalite::interpreter {

namespace {

// Per lane: the result, and whether it left the type (int32 and int64 only).
template <typename T>
struct Checked {
  T value;
  bool overflow;
};

template <typename T>
constexpr bool kIsAffine = std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;

template <typename T>
T euclidean_quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_unsigned_v<T>) {
    return a / b;
  } else {
    if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    const T q = a / b;
    return static_cast<T>(a % b >= 0 ? q : b > 0 ? q - 1 : q + 1);
  }
}

template <typename T>
T euclidean_remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_unsigned_v<T>) {
    return a % b;
  } else {
    if (b == -1) return 0;
    const T r = a % b;
    if (r >= 0) return r;
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(b > 0 ? static_cast<U>(r) + static_cast<U>(b)
                                : static_cast<U>(r) - static_cast<U>(b));
  }
}

struct AddOp {
  template <typename T>
  static Checked<T> apply(T a, T b) {
    Checked<T> r;
    r.overflow = __builtin_add_overflow(a, b, &r.value);
    return r;
  }
};
struct SubOp {
  template <typename T>
  static Checked<T> apply(T a, T b) {
    Checked<T> r;
    r.overflow = __builtin_sub_overflow(a, b, &r.value);
    return r;
  }
};
struct MulOp {
  template <typename T>
  static Checked<T> apply(T a, T b) {
    Checked<T> r;
    r.overflow = __builtin_mul_overflow(a, b, &r.value);
    return r;
  }
};
struct DivOp {
  template <typename T>
  static Checked<T> apply(T a, T b) {
    return {euclidean_quotient(a, b),
            std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1)};
  }
};

std::function<Diagnostic(int)> explain_overflow(Op op, Register *a, Register *b) {
  return [=](int lane) {
    Diagnostic d;
    d.what = "signed overflow: " + lane_text(*a, lane) + " " + op_name(op) + " " +
             lane_text(*b, lane) + " leaves " + a->type.to_string();
    d.why = "overflow of int32 and int64 has no value; narrower and unsigned integers wrap";
    d.fix = "compute in a wider or an unsigned type";
    return d;
  };
}

// a op b of an integer type, where Operator says what overflows.
template <typename T, typename Operator>
Register *add_integer(Program &p, Op op, Register *a, Register *b) {
  Register *r = p.add_register(a->type);
  T *d = r->as<T>();
  const T *x = a->as<T>(), *y = b->as<T>();
  if constexpr (!kIsAffine<T>) {
    const T mask = static_cast<T>(a->type.is_bool() ? 1 : -1);
    return p.add_step(r, {a, b}, [=](int n) {
      for (int i = 0; i < n; i++) {
        d[i] = static_cast<T>(Operator::template apply<T>(x[i], y[i]).value & mask);
      }
    });
  } else {
    const int self = p.next_step();
    return p.add_step(
        r, {a, b},
        [=](int n) {
          bool overflow = false;
          for (int i = 0; i < n; i++) {
            const Checked<T> c = Operator::template apply<T>(x[i], y[i]);
            d[i] = c.value;
            overflow |= c.overflow;
          }
          if (!overflow) return;
          for (int i = 0; i < n; i++) {
            if (Operator::template apply<T>(x[i], y[i]).overflow) mark_poison(*r, i, self);
          }
        },
        explain_overflow(op, a, b));
  }
}

template <typename T, typename F>
Register *add_plain(Program &p, Type t, Register *a, Register *b, F f) {
  Register *r = p.add_register(t);
  using R = decltype(f(T(), T()));
  R *d = r->as<R>();
  const T *x = a->as<T>(), *y = b->as<T>();
  return p.add_step(r, {a, b}, [=](int n) {
    for (int i = 0; i < n; i++) d[i] = f(x[i], y[i]);
  });
}

template <typename T>
Register *add_arithmetic(Program &p, Op op, Register *a, Register *b) {
  const Type t = a->type;
  switch (op) {
    case Op::Min:
      return add_plain<T>(p, t, a, b, [](T x, T y) { return x < y ? x : y; });
    case Op::Max:
      return add_plain<T>(p, t, a, b, [](T x, T y) { return x > y ? x : y; });
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case Op::Add:
        return add_plain<T>(p, t, a, b, [](T x, T y) { return x + y; });
      case Op::Sub:
        return add_plain<T>(p, t, a, b, [](T x, T y) { return x - y; });
      case Op::Mul:
        return add_plain<T>(p, t, a, b, [](T x, T y) { return x * y; });
      case Op::Div:
        return add_plain<T>(p, t, a, b, [](T x, T y) { return x / y; });
      default:
        return add_plain<T>(p, t, a, b, [](T x, T y) { return x - y * std::floor(x / y); });
    }
  } else {
    switch (op) {
      case Op::Add:
        return add_integer<T, AddOp>(p, op, a, b);
      case Op::Sub:
        return add_integer<T, SubOp>(p, op, a, b);
      case Op::Mul:
        return add_integer<T, MulOp>(p, op, a, b);
      case Op::Div:
        return add_integer<T, DivOp>(p, op, a, b);
      case Op::Mod:
        return add_plain<T>(p, t, a, b, [](T x, T y) { return euclidean_remainder<T>(x, y); });
      case Op::And:
        return add_plain<T>(p, t, a, b, [](T x, T y) { return static_cast<T>(x & y); });
      default:
        return add_plain<T>(p, t, a, b, [](T x, T y) { return static_cast<T>(x | y); });
    }
  }
}

template <typename T, typename F>
Register *add_predicate(Program &p, Register *a, Register *b, F f) {
  return add_plain<T>(p, Bool(), a, b, [f](T x, T y) { return static_cast<uint8_t>(f(x, y)); });
}

}  // namespace

Register *add_binary(Program &p, Op op, Register *a, Register *b) {
  Register *r = nullptr;
  with_type(a->type, [&]<typename T>() { r = add_arithmetic<T>(p, op, a, b); });
  return r;
}

Register *add_comparison(Program &p, Op op, Register *a, Register *b) {
  Register *r = nullptr;
  with_type(a->type, [&]<typename T>() {
    switch (op) {
      case Op::Eq:
        r = add_predicate<T>(p, a, b, [](T x, T y) { return x == y; });
        break;
      case Op::Ne:
        r = add_predicate<T>(p, a, b, [](T x, T y) { return x != y; });
        break;
      case Op::Lt:
        r = add_predicate<T>(p, a, b, [](T x, T y) { return x < y; });
        break;
      case Op::Le:
        r = add_predicate<T>(p, a, b, [](T x, T y) { return x <= y; });
        break;
      case Op::Gt:
        r = add_predicate<T>(p, a, b, [](T x, T y) { return x > y; });
        break;
      default:
        r = add_predicate<T>(p, a, b, [](T x, T y) { return x >= y; });
        break;
    }
  });
  return r;
}

}  // namespace polyhalite::interpreter
