#include "lang/simplify/fold.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "lang/ir/compares.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

// The constant itself, out of broadcasts; null if e is none.
const ImmNode *constant_of(const Expr &e) {
  if (e->op == Op::Broadcast) return constant_of(e->args[0]);
  return e->op <= Op::FloatImm ? as_imm(e) : nullptr;
}

Expr make_bool(bool value, int lanes) { return value ? make_true(lanes) : make_false(lanes); }

Expr fold_signed(Op op, Type t, int64_t a, int64_t b) {
  int64_t r = 0;
  bool overflow = false;
  switch (op) {
    case Op::Add:
      overflow = __builtin_add_overflow(a, b, &r);
      break;
    case Op::Sub:
      overflow = __builtin_sub_overflow(a, b, &r);
      break;
    case Op::Mul:
      overflow = __builtin_mul_overflow(a, b, &r);
      break;
    case Op::Div:
      overflow = a == std::numeric_limits<int64_t>::min() && b == -1;
      r = euclidean_div(a, b);
      break;
    case Op::Mod:
      r = euclidean_mod(a, b);
      break;
    case Op::Min:
      r = a < b ? a : b;
      break;
    case Op::Max:
      r = a > b ? a : b;
      break;
    default:
      return Expr();
  }
  // Overflow of an affine type has no value.
  if (t.is_affine() && (overflow || !fits(t.element_of(), r))) return Expr();
  return make_int(t, r);
}

Expr fold_unsigned(Op op, Type t, uint64_t a, uint64_t b) {
  uint64_t r = 0;
  switch (op) {
    case Op::Add:
      r = a + b;
      break;
    case Op::Sub:
      r = a - b;
      break;
    case Op::Mul:
      r = a * b;
      break;
    case Op::Div:
      r = b == 0 ? 0 : a / b;
      break;
    case Op::Mod:
      r = b == 0 ? 0 : a % b;
      break;
    case Op::Min:
      r = a < b ? a : b;
      break;
    case Op::Max:
      r = a > b ? a : b;
      break;
    case Op::And:
      r = a & b;
      break;
    case Op::Or:
      r = a | b;
      break;
    default:
      return Expr();
  }
  return make_int(t, static_cast<int64_t>(r));
}

template <typename T>
Expr fold_float(Op op, Type t, T a, T b) {
  T r = 0;
  switch (op) {
    case Op::Add:
      r = a + b;
      break;
    case Op::Sub:
      r = a - b;
      break;
    case Op::Mul:
      r = a * b;
      break;
    case Op::Div:
      r = a / b;
      break;
    case Op::Min:
      r = a < b ? a : b;
      break;
    case Op::Max:
      r = a > b ? a : b;
      break;
    default:
      return Expr();
  }
  // The sign of a fresh NaN differs between machines.
  if (std::isnan(r)) return Expr();
  return make_float(t, r);
}

Expr fold_shift(Op direction, Type t, const ImmNode &a, int64_t by) {
  if (by < 0 || by >= t.bits()) return Expr();
  if (t.is_int()) {
    if (direction == Op::Div) return make_int(t, a.i >> by);
    const auto r = static_cast<int64_t>(static_cast<uint64_t>(a.i) << by);
    if (t.is_affine() && (!fits(t.element_of(), r) || (r >> by) != a.i)) return Expr();
    return make_int(t, r);
  }
  return make_int(t, static_cast<int64_t>(direction == Op::Div ? a.u >> by : a.u << by));
}

// |a| and |a - b| as unsigned integers of the same width.
uint64_t magnitude(int64_t a) {
  return a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
}
uint64_t distance(int64_t a, int64_t b) {
  return a < b ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
               : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
}

Expr fold_intrinsic(const CallNode &c) {
  const ImmNode *a = constant_of(c.args[0]);
  const ImmNode *b = c.args.size() > 1 ? constant_of(c.args[1]) : nullptr;
  const Type t = c.type, from = c.args[0].type();
  if (c.name == intrinsic::kAbs) {
    if (from.is_int()) return make_int(t, static_cast<int64_t>(magnitude(a->i)));
    if (from.is_uint()) return c.args[0];
    return std::isnan(a->f) ? Expr() : make_float(t, std::fabs(a->f));
  }
  if (!from.is_int_or_uint()) return Expr();
  const uint64_t x = from.is_int() ? static_cast<uint64_t>(a->i) : a->u;
  if (c.name == intrinsic::kPopcount || c.name == intrinsic::kCountLeadingZeros ||
      c.name == intrinsic::kCountTrailingZeros) {
    const uint64_t own = t.bits() >= 64 ? x : x & ((uint64_t{1} << t.bits()) - 1);
    if (c.name == intrinsic::kPopcount) return make_int(t, __builtin_popcountll(own));
    if (own == 0) return make_int(t, t.bits());
    return make_int(t, c.name == intrinsic::kCountTrailingZeros
                           ? __builtin_ctzll(own)
                           : __builtin_clzll(own) - (64 - t.bits()));
  }
  if (c.name == intrinsic::kBitwiseNot) return make_int(t, static_cast<int64_t>(~x));
  if (!b) return Expr();
  const Type by = c.args[1].type();
  const uint64_t y = by.is_int() ? static_cast<uint64_t>(b->i) : b->u;
  if (c.name == intrinsic::kShiftLeft) return fold_shift(Op::Mul, t, *a, static_cast<int64_t>(y));
  if (c.name == intrinsic::kShiftRight) return fold_shift(Op::Div, t, *a, static_cast<int64_t>(y));
  if (c.name == intrinsic::kBitwiseAnd) return make_int(t, static_cast<int64_t>(x & y));
  if (c.name == intrinsic::kBitwiseOr) return make_int(t, static_cast<int64_t>(x | y));
  if (c.name == intrinsic::kBitwiseXor) return make_int(t, static_cast<int64_t>(x ^ y));
  if (c.name == intrinsic::kAbsd) {
    const uint64_t d = from.is_int() ? distance(a->i, b->i) : x > y ? x - y : y - x;
    return make_int(t, static_cast<int64_t>(d));
  }
  return Expr();
}

Expr fold_math(const CallNode &c) {
  double v;
  if (c.args.size() != 1 || !is_const_float(c.args[0], &v) || std::isnan(v)) return Expr();
  // Each of these is exact in float64 for float32 operands, square roots after one more rounding.
  double r;
  if (c.name == "sqrt") {
    r = std::sqrt(v);
  } else if (c.name == "floor") {
    r = std::floor(v);
  } else if (c.name == "ceil") {
    r = std::ceil(v);
  } else if (c.name == "trunc") {
    r = std::trunc(v);
  } else if (c.name == "round") {
    r = std::nearbyint(v);
  } else {
    return Expr();
  }
  return std::isnan(r) ? Expr() : make_float(c.type, r);
}

}  // namespace

int64_t euclidean_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  const int64_t q = a / b, r = a % b;
  return r >= 0 ? q : b > 0 ? q - 1 : q + 1;
}

int64_t euclidean_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t r = a % b;
  if (r >= 0) return r;
  return static_cast<int64_t>(static_cast<uint64_t>(r) + magnitude(b));
}

bool fits(Type t, int64_t value) {
  if (t.is_uint()) {
    return value >= 0 && (t.bits() >= 64 || static_cast<uint64_t>(value) >> t.bits() == 0);
  }
  if (t.bits() >= 64) return true;
  const int64_t limit = int64_t{1} << (t.bits() - 1);
  return value >= -limit && value < limit;
}

Expr fold_binary(Op op, const Expr &a, const Expr &b) {
  const ImmNode *x = constant_of(a), *y = constant_of(b);
  if (!x || !y) return Expr();
  const Type t = a.type();
  if (is_comparison(op)) {
    const bool r = t.is_int()     ? compares(op, x->i, y->i)
                   : t.is_float() ? compares(op, x->f, y->f)
                                  : compares(op, x->u, y->u);
    return make_bool(r, t.lanes());
  }
  if (t.is_int()) return fold_signed(op, t, x->i, y->i);
  if (t.is_uint()) return fold_unsigned(op, t, x->u, y->u);
  if (t.code() != Type::Float || t.bits() < 32) return Expr();
  if (t.bits() == 32) {
    return fold_float(op, t, static_cast<float>(x->f), static_cast<float>(y->f));
  }
  return fold_float(op, t, x->f, y->f);
}

Expr fold_cast(Type t, const Expr &a) {
  const ImmNode *x = constant_of(a);
  const Type from = a.type();
  if (!x || t.is_handle() || (t.is_float() && (t.code() != Type::Float || t.bits() < 32))) {
    return Expr();
  }
  if (from.is_float()) {
    if (std::isnan(x->f)) return Expr();
    if (t.is_float()) return make_float(t, x->f);
    if (t.is_bool()) return make_bool(x->f != 0, t.lanes());
    // Beyond the type the result differs between machines.
    const double v = std::trunc(x->f);
    if (!(v >= -9.0e18 && v <= 9.0e18) || !fits(t.element_of(), static_cast<int64_t>(v))) {
      return Expr();
    }
    return make_int(t, static_cast<int64_t>(v));
  }
  const uint64_t bits = from.is_int() ? static_cast<uint64_t>(x->i) : x->u;
  if (t.is_bool()) return make_bool(bits != 0, t.lanes());
  if (!t.is_float()) return make_int(t, static_cast<int64_t>(bits));
  // One rounding, from the integer to the type.
  if (t.bits() == 32) {
    return make_float(t, from.is_int() ? static_cast<float>(x->i) : static_cast<float>(x->u));
  }
  return make_float(t, from.is_int() ? static_cast<double>(x->i) : static_cast<double>(x->u));
}

Expr fold_call(const CallNode &call) {
  if (call.args.empty()) return Expr();
  for (const Expr &a : call.args) {
    if (!constant_of(a)) return Expr();
  }
  if (call.kind == CallKind::Intrinsic) return fold_intrinsic(call);
  return call.kind == CallKind::Math ? fold_math(call) : Expr();
}

}  // namespace polyhalite
