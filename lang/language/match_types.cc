#include "lang/language/match_types.h"

#include <algorithm>
#include <string>

#include "lang/ir/node.h"
#include "polyhalite/error.h"

namespace polyhalite::detail {

namespace {

bool representable(Type t, int64_t value) {
  if (t.is_float()) {
    const int mantissa = t.bits() == 64             ? 53
                         : t.bits() == 32           ? 24
                         : t.code() == Type::BFloat ? 8
                                                    : 11;
    const int64_t limit = int64_t{1} << mantissa;
    return value >= -limit && value <= limit;
  }
  if (t.is_uint()) return value >= 0 && (t.bits() >= 63 || value < (int64_t{1} << t.bits()));
  if (t.is_int()) {
    if (t.bits() >= 64) return true;
    const int64_t limit = int64_t{1} << (t.bits() - 1);
    return value >= -limit && value < limit;
  }
  return false;
}

std::string range_of(Type t) {
  if (t.is_bool()) return "bool holds 0 and 1";
  if (t.is_float()) return t.to_string() + " does not hold this integer exactly";
  if (t.is_uint()) {
    const uint64_t top = t.bits() >= 64 ? ~uint64_t{0} : (uint64_t{1} << t.bits()) - 1;
    return t.to_string() + " holds 0 to " + std::to_string(top);
  }
  const uint64_t half = uint64_t{1} << (t.bits() - 1);
  return t.to_string() + " holds -" + std::to_string(half) + " to " + std::to_string(half - 1);
}

}  // namespace

void require_defined(const Expr &e, const char *user) {
  if (e.defined()) return;
  user_error(std::string("an operand of '") + user + "' is undefined",
             "an Expr that was never given a value has no type",
             "assign the Expr before it is used");
}

void match_lanes(Expr &a, Expr &b) {
  const int la = a.type().lanes(), lb = b.type().lanes();
  if (la == 1 && lb != 1) a = make_broadcast(a, lb);
  if (lb == 1 && la != 1) b = make_broadcast(b, la);
}

void match_types(Expr &a, Expr &b, const char *user) {
  if (a.type() == b.type()) return;
  match_lanes(a, b);
  const Type ta = a.type(), tb = b.type();
  if (ta.is_handle() || tb.is_handle() || ta.lanes() != tb.lanes()) {
    user_error(std::string("'") + user + "' between " + ta.to_string() + " and " + tb.to_string(),
               "no type holds both", "cast one of them");
  }
  Type t = ta;
  if (ta.is_float() != tb.is_float()) {
    t = ta.is_float() ? ta : tb;
  } else if (ta.is_float()) {
    // float16 and bfloat16 meet in float32: neither holds the other.
    t = ta.bits() == tb.bits() && ta.code() != tb.code() ? Float(32, ta.lanes())
        : ta.bits() >= tb.bits()                         ? ta
                                                         : tb;
  } else {
    const int bits = std::max(ta.bits(), tb.bits());
    t = Type(ta.is_uint() && tb.is_uint() ? Type::UInt : Type::Int, bits, ta.lanes());
  }
  a = cast_folding(t, a);
  b = cast_folding(t, b);
}

Expr literal_as(Type t, int64_t value, const char *user) {
  if (!representable(t.element_of(), value)) {
    user_error("the literal " + std::to_string(value) + " beside '" + user + "' does not fit " +
                   t.element_of().to_string(),
               "a literal takes the type of the other operand, and " + range_of(t.element_of()),
               "cast the other operand to a wider type first");
  }
  return make_int(t, value);
}

Expr bound_as(Type t, Expr e, const char *user) {
  int64_t value;
  if (e.defined() && e.type().is_int() && is_const_int(e, &value)) {
    return literal_as(t, value, user);
  }
  return cast_folding(t.with_lanes(e.type().lanes()), e);
}

Expr cast_folding(Type t, Expr e) {
  int64_t value;
  if (e.type() != t && e.type().is_int_or_uint() && is_const_int(e, &value) &&
      !(e.type().is_uint() && value < 0) && representable(t.element_of(), value)) {
    return make_int(t, value);
  }
  return make_cast(t, std::move(e));
}

}  // namespace polyhalite::detail
