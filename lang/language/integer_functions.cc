#include "polyhalite/integer_functions.h"

#include <algorithm>
#include <string>

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/language/match_types.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

[[noreturn]] void wrong_operands(const char *user, const Expr &a, const std::string &why) {
  user_error(std::string("'") + user + "' of " + a.type().to_string(), why, "cast the operands");
}

void require_integers(const char *user, const Expr &a) {
  detail::require_defined(a, user);
  if (!a.type().is_int_or_uint() || a.type().is_bool()) {
    wrong_operands(user, a, "it is defined for integers");
  }
}

Type widened(const char *user, const Expr &a) {
  const Type t = a.type();
  if (t.bits() > 32 || t.is_bool() || t.is_handle() || t.is_bfloat()) {
    wrong_operands(user, a, "there is no type of twice its width");
  }
  return t.with_bits(2 * t.bits());
}

// A constant integer takes the other operand's type.
void match(Expr &a, Expr &b, const char *user) {
  detail::require_defined(a, user);
  detail::require_defined(b, user);
  if (a.type() != b.type()) {
    if (is_const_int(b)) {
      b = detail::bound_as(a.type(), b, user);
    } else if (is_const_int(a)) {
      a = detail::bound_as(b.type(), a, user);
    }
  }
  detail::match_types(a, b, user);
}

Expr integer_call(const char *name, Expr a, Expr b) {
  match(a, b, name);
  require_integers(name, a);
  const Type t = a.type();
  return make_intrinsic(t, name, {std::move(a), std::move(b)});
}

// Both operands with twice the width of the wider one; signed if either is, or if `is_signed`.
void widen_both(const char *user, Expr &a, Expr &b, bool is_signed) {
  detail::require_defined(a, user);
  detail::require_defined(b, user);
  detail::match_lanes(a, b);
  const bool mixed = a.type().is_int_or_uint() && b.type().is_int_or_uint() &&
                     a.type().is_int() != b.type().is_int() && !is_const_int(a) && !is_const_int(b);
  if (!mixed) match(a, b, user);
  const Type wa = widened(user, a), wb = widened(user, b);
  Type t = wa.bits() >= wb.bits() ? wa : wb;
  if (mixed || (is_signed && t.is_uint())) t = t.with_code(Type::Int);
  a = detail::cast_folding(t, a);
  b = detail::cast_folding(t, b);
}

Expr amount_of(const Expr &a, int b) {
  return make_int(a.type().with_code(b < 0 ? Type::Int : Type::UInt), b);
}

Expr shift_call(const char *name, Expr a, Expr b) {
  require_integers(name, a);
  require_integers(name, b);
  detail::match_lanes(a, b);
  b = detail::cast_folding(b.type().with_bits(a.type().bits()), b);
  const Type t = a.type();
  return make_intrinsic(t, name, {std::move(a), std::move(b)});
}

Expr product_call(const char *name, Expr a, Expr b, Expr q) {
  require_integers(name, a);
  require_integers(name, b);
  detail::require_defined(q, name);
  if (is_const_int(b)) b = detail::bound_as(a.type(), b, name);
  widened(name, a);
  widened(name, b);
  if (!q.type().is_uint()) {
    int64_t k;
    if (!is_const_int(q, &k) || k < 0) {
      user_error(std::string("the shift of '") + name + "' has type " + q.type().to_string(),
                 "the product is shifted right, by no negative amount",
                 "give a constant, or cast the amount to an unsigned type");
    }
  }
  q = detail::cast_folding(UInt(a.type().bits()), q);
  const int lanes = std::max({a.type().lanes(), b.type().lanes(), q.type().lanes()});
  for (Expr *e : {&a, &b, &q}) {
    if (e->type().lanes() != lanes) *e = make_broadcast(*e, lanes);
  }
  const Type t = a.type();
  return make_intrinsic(t, name, {std::move(a), std::move(b), std::move(q)});
}

Expr bit_count(const char *name, Expr x) {
  require_integers(name, x);
  const Type t = x.type();
  return make_intrinsic(t, name, {std::move(x)});
}

}  // namespace

Expr widening_add(Expr a, Expr b) {
  widen_both("widening_add", a, b, false);
  return std::move(a) + std::move(b);
}
Expr widening_sub(Expr a, Expr b) {
  widen_both("widening_sub", a, b, true);
  return std::move(a) - std::move(b);
}
Expr widening_mul(Expr a, Expr b) {
  widen_both("widening_mul", a, b, false);
  return std::move(a) * std::move(b);
}
Expr widening_shift_left(Expr a, Expr b) {
  require_integers("widening_shift_left", a);
  return cast(widened("widening_shift_left", a), a) << std::move(b);
}
Expr widening_shift_left(Expr a, int b) { return widening_shift_left(a, amount_of(a, b)); }
Expr widening_shift_right(Expr a, Expr b) {
  require_integers("widening_shift_right", a);
  return cast(widened("widening_shift_right", a), a) >> std::move(b);
}
Expr widening_shift_right(Expr a, int b) { return widening_shift_right(a, amount_of(a, b)); }

Expr widen_right_add(Expr a, Expr b) { return a + cast(a.type().element_of(), std::move(b)); }
Expr widen_right_sub(Expr a, Expr b) { return a - cast(a.type().element_of(), std::move(b)); }
Expr widen_right_mul(Expr a, Expr b) { return a * cast(a.type().element_of(), std::move(b)); }

Expr saturating_cast(Type t, Expr e) {
  detail::require_defined(e, "saturating_cast");
  t = t.with_lanes(e.type().lanes());
  const Type from = e.type();
  if (t.can_represent(from) || t.is_bool()) return cast(t, std::move(e));
  if (from.is_float()) {
    if (t.is_float()) {
      // Beyond the largest number there is only infinity.
      const Type s = t.element_of();
      const double largest = s.is_bfloat() ? 0x1.fep127 : s.bits() == 16 ? 65504.0 : 0x1.fffffep127;
      if (from.bits() <= 16) return cast(t, std::move(e));
      return cast(t, max(min(e, make_float(from, largest)), make_float(from, -largest)));
    }
    // The ends of the type are powers of two, which floats hold.
    const Type wide = from.bits() < 64 ? from.with_bits(32).with_code(Type::Float) : from;
    if (wide != from) e = cast(wide, std::move(e));
    const double end = t.is_uint() ? 2.0 * static_cast<double>(uint64_t{1} << (t.bits() - 1))
                                   : static_cast<double>(uint64_t{1} << (t.bits() - 1));
    const Expr high = make_float(wide, end), low = make_float(wide, t.is_int() ? -end : 0);
    // Where they hold its largest number too, a max and a min are enough, which a NaN passes as 0.
    if (t.bits() < (wide.bits() == 64 ? 53 : 24)) {
      Expr number = e;
      if (t.is_int()) number = select(e == e, e, make_zero(wide));
      return cast(t, min(select(number > low, number, low), make_float(wide, end - 1)));
    }
    const Expr inside = select(e > low && e < high, e, make_zero(wide));
    return select(e >= high, t.max(), select(e <= low, t.min(), cast(t, inside)));
  }
  if (t.is_float()) return cast(t, std::move(e));
  const Type s = t.element_of(), f = from.element_of();
  const Expr high = s.max(), low = s.min();
  // Only ends that e's type has can be exceeded.
  int64_t top = 0, bottom = 0;
  is_const_int(high, &top);
  is_const_int(low, &bottom);
  const bool may_exceed = !(s.is_uint() && s.bits() == 64) && f.can_represent(top);
  const bool may_fall_below = f.is_int() && f.can_represent(bottom) && !f.is_min(bottom);
  if (may_exceed) e = min(e, make_int(from, top));
  if (may_fall_below) e = max(e, make_int(from, bottom));
  return cast(t, std::move(e));
}

Expr saturating_add(Expr a, Expr b) {
  return integer_call(intrinsic::kSaturatingAdd, std::move(a), std::move(b));
}
Expr saturating_sub(Expr a, Expr b) {
  return integer_call(intrinsic::kSaturatingSub, std::move(a), std::move(b));
}
Expr halving_add(Expr a, Expr b) {
  return integer_call(intrinsic::kHalvingAdd, std::move(a), std::move(b));
}
Expr rounding_halving_add(Expr a, Expr b) {
  return integer_call(intrinsic::kRoundingHalvingAdd, std::move(a), std::move(b));
}
Expr halving_sub(Expr a, Expr b) {
  return integer_call(intrinsic::kHalvingSub, std::move(a), std::move(b));
}

Expr rounding_shift_right(Expr a, Expr b) {
  return shift_call(intrinsic::kRoundingShiftRight, std::move(a), std::move(b));
}
Expr rounding_shift_right(Expr a, int b) { return rounding_shift_right(a, amount_of(a, b)); }
Expr rounding_shift_left(Expr a, Expr b) {
  return shift_call(intrinsic::kRoundingShiftLeft, std::move(a), std::move(b));
}
Expr rounding_shift_left(Expr a, int b) { return rounding_shift_left(a, amount_of(a, b)); }
Expr mul_shift_right(Expr a, Expr b, Expr q) {
  return product_call(intrinsic::kMulShiftRight, std::move(a), std::move(b), std::move(q));
}
Expr mul_shift_right(Expr a, Expr b, int q) {
  return mul_shift_right(std::move(a), std::move(b), Expr(q));
}
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q) {
  return product_call(intrinsic::kRoundingMulShiftRight, std::move(a), std::move(b), std::move(q));
}
Expr rounding_mul_shift_right(Expr a, Expr b, int q) {
  return rounding_mul_shift_right(std::move(a), std::move(b), Expr(q));
}

Expr div_round_to_zero(Expr x, Expr y) {
  return integer_call(intrinsic::kDivRoundToZero, std::move(x), std::move(y));
}
Expr mod_round_to_zero(Expr x, Expr y) {
  return integer_call(intrinsic::kModRoundToZero, std::move(x), std::move(y));
}

namespace {

// x in a type that holds x and y.
Expr beside(const char *user, const Expr &x, const Expr &y) {
  require_integers(user, x);
  require_integers(user, y);
  const bool holds =
      x.type().bits() == 64 || x.type().element_of().can_represent(y.type().element_of());
  return holds ? x : cast(x.type().with_bits(64), x);
}

}  // namespace

Expr fast_integer_divide(Expr x, Expr y) {
  const Expr wide = beside("fast_integer_divide", x, y);
  return cast(x.type(), wide / cast(wide.type().element_of(), y));
}
Expr fast_integer_divide_round_to_zero(Expr x, Expr y) {
  const Expr wide = beside("fast_integer_divide_round_to_zero", x, y);
  return cast(x.type(), div_round_to_zero(wide, cast(wide.type().element_of(), y)));
}
Expr fast_integer_modulo(Expr x, Expr y) {
  const Expr wide = beside("fast_integer_modulo", x, y);
  return cast(x.type(), wide % cast(wide.type().element_of(), y));
}

Expr popcount(Expr x) { return bit_count(intrinsic::kPopcount, std::move(x)); }
Expr count_leading_zeros(Expr x) { return bit_count(intrinsic::kCountLeadingZeros, std::move(x)); }
Expr count_trailing_zeros(Expr x) {
  return bit_count(intrinsic::kCountTrailingZeros, std::move(x));
}

Expr extract_bits(Type t, const Expr &e, const Expr &lsb) {
  detail::require_defined(e, "extract_bits");
  require_integers("extract_bits", lsb);
  const Type from = e.type();
  const Expr bits = reinterpret(from.with_code(Type::UInt), e);
  const Expr part =
      cast(UInt(t.bits(), from.lanes()), bits >> detail::cast_folding(UInt(from.bits()), lsb));
  const Type to = t.with_lanes(from.lanes());
  return t.is_int_or_uint() ? cast(to, part) : reinterpret(to, part);
}

Expr concat_bits(const std::vector<Expr> &parts) {
  if (parts.empty() || (parts.size() & (parts.size() - 1)) != 0) {
    user_error("concat_bits of " + std::to_string(parts.size()) + " values",
               "the result has a power of two times as many bits", "give 1, 2, 4 or 8 values");
  }
  for (const Expr &p : parts) {
    require_integers("concat_bits", p);
    if (!p.type().is_uint() || p.type() != parts[0].type()) {
      wrong_operands("concat_bits", p, "it takes unsigned integers of one type");
    }
  }
  const Type t = parts[0].type();
  const int bits = t.bits() * static_cast<int>(parts.size());
  if (bits > 64) {
    wrong_operands("concat_bits", parts[0],
                   std::to_string(parts.size()) + " of them have more than 64 bits");
  }
  Expr result;
  for (size_t i = 0; i < parts.size(); i++) {
    const Expr part = cast(t.with_bits(bits), parts[i]) << static_cast<int>(i) * t.bits();
    result = result.defined() ? result | part : part;
  }
  return result;
}

namespace {

double largest_of(Type t) { return 2.0 * static_cast<double>(uint64_t{1} << (t.bits() - 1)) - 1; }

Expr lerp_floats(const Expr &zero, const Expr &one, Expr w) {
  const Type t = zero.type();
  if (w.type().is_uint()) {
    // Half precision cannot count the parts.
    const Type wide = t.bits() < 32 ? Float(32, t.lanes()) : t;
    w = cast(wide, w) / make_float(wide, largest_of(w.type()));
  }
  w = cast(t, std::move(w));
  return zero * (make_one(t) - w) + one * w;
}

Expr lerp_bools(const Expr &zero, const Expr &one, const Expr &w) {
  const Expr half = w.type().is_float()
                        ? make_float(w.type(), 0.5)
                        : make_int(w.type(), static_cast<int64_t>(largest_of(w.type())) / 2);
  return select(w > half, one, zero);
}

// In parts of the largest value of `t`. Largest values of widths that are powers of two divide
// each other.
Expr weight_of_width(const Expr &w, Type t) {
  if (w.type().is_float()) {
    const Type wide = Float(t.bits() > 16 || w.type().bits() == 64 ? 64 : 32, t.lanes());
    return saturating_cast(t, cast(wide, w) * make_float(wide, largest_of(t)));
  }
  const double from = largest_of(w.type()), to = largest_of(t);
  if (from > to) return cast(t, w / make_int(w.type(), static_cast<int64_t>(from / to)));
  return cast(t, w) * make_int(t, static_cast<int64_t>(to / from));
}

// (a*(m - w) + b*w)/m, to nearest. m is odd, so that there are no halves.
Expr lerp_unsigned(const Expr &a, const Expr &b, const Expr &weight) {
  const Type t = a.type(), wide = UInt(2 * t.bits(), t.lanes());
  const Expr w = cast(wide, weight_of_width(weight, t));
  const auto largest = static_cast<int64_t>(largest_of(t));
  const Expr m = make_int(wide, largest), sum = cast(wide, a) * (m - w) + cast(wide, b) * w;
  return cast(t, (sum + make_int(wide, largest / 2)) / m);
}

}  // namespace

Expr lerp(Expr zero, Expr one, Expr weight) {
  detail::require_defined(zero, "lerp");
  detail::require_defined(one, "lerp");
  detail::require_defined(weight, "lerp");
  if (zero.type() != one.type()) {
    // Only literals take the other's type.
    const auto is_literal = [](const Expr &e) {
      return is_const(e) && (e.type() == Int(32) || e.type() == Float(32));
    };
    if (!is_literal(zero) && !is_literal(one)) {
      user_error("'lerp' of a " + zero.type().to_string() + " and a " + one.type().to_string(),
                 "both ends have one type, which is the result's", "cast one of them");
    }
    // The other end may be a constant too, of a type that it has been given.
    int64_t value;
    if (!is_literal(one) && is_const_int(zero, &value) && one.type().can_represent(value)) {
      zero = make_int(one.type(), value);
    } else if (!is_literal(zero) && is_const_int(one, &value) && zero.type().can_represent(value)) {
      one = make_int(zero.type(), value);
    } else {
      match(zero, one, "lerp");
    }
  }
  if (!weight.type().is_uint() && !weight.type().is_float()) {
    user_error("the weight of 'lerp' has type " + weight.type().to_string(),
               "weights are floats, or unsigned integers that count parts of their largest value",
               "cast the weight");
  }
  double constant_weight;
  if (!zero.type().is_float() && is_const_float(weight, &constant_weight) &&
      (constant_weight < 0 || constant_weight > 1)) {
    user_error("the weight of 'lerp' is " + std::to_string(constant_weight),
               "between integers weights are 0 to 1", "choose a weight between 0 and 1");
  }
  detail::match_lanes(zero, weight);
  detail::match_lanes(zero, one);
  const Type t = zero.type();
  if (t.is_float()) return lerp_floats(zero, one, std::move(weight));
  if (!t.is_int_or_uint() || t.bits() > 32 ||
      weight.type().bits() > (weight.type().is_uint() ? 32 : 64)) {
    wrong_operands("lerp", zero, "it is defined for up to 32 bits and for floats");
  }
  if (t.is_bool()) return lerp_bools(zero, one, weight);
  if (t.is_uint()) return lerp_unsigned(zero, one, weight);
  // Signed values as distances from the smallest one.
  const Type u = t.with_code(Type::UInt);
  const Expr flip = make_int(u, int64_t{1} << (t.bits() - 1));
  const Expr r = lerp_unsigned(cast(u, zero) ^ flip, cast(u, one) ^ flip, weight);
  return cast(t, r ^ flip);
}

}  // namespace polyhalite
