// What values types hold.
#include "polyhalite/type.h"

#include <cmath>
#include <limits>

#include "lang/ir/node.h"

namespace polyhalite {

namespace {

// Bits of a float's significand, the hidden one included.
int significand_bits(Type t) {
  if (t.code() == Type::BFloat) return 8;
  return t.bits() == 64 ? 53 : t.bits() == 32 ? 24 : 11;
}

double largest_finite(Type t) {
  if (t.code() == Type::BFloat) return 0x1.fep127;
  if (t.bits() == 16) return 65504;
  return t.bits() == 32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

uint64_t largest_uint(Type t) {
  return t.bits() >= 64 ? ~uint64_t{0} : (uint64_t{1} << t.bits()) - 1;
}
int64_t largest_int(Type t) { return static_cast<int64_t>(largest_uint(t) >> 1); }

}  // namespace

bool Type::can_represent(Type other) const {
  if (*this == other) return true;
  if (lanes_ != other.lanes_ || is_handle() || other.is_handle()) return false;
  if (is_float()) {
    if (!other.is_float()) return other.bits() - other.is_int() <= significand_bits(*this);
    return significand_bits(*this) >= significand_bits(other) &&
           largest_finite(*this) >= largest_finite(other);
  }
  if (other.is_float()) return false;
  if (is_int()) return bits_ > other.bits() || (other.is_int() && bits_ == other.bits());
  return other.is_uint() && bits_ >= other.bits();
}

bool Type::can_represent(int64_t x) const {
  if (is_int()) return x >= -largest_int(*this) - 1 && x <= largest_int(*this);
  if (is_uint()) return x >= 0 && static_cast<uint64_t>(x) <= largest_uint(*this);
  return is_float() && (x != std::numeric_limits<int64_t>::max()) &&
         can_represent(static_cast<double>(x)) && static_cast<int64_t>(static_cast<double>(x)) == x;
}

bool Type::can_represent(uint64_t x) const {
  if (is_int()) return x <= static_cast<uint64_t>(largest_int(*this));
  if (is_uint()) return x <= largest_uint(*this);
  if (!is_float() || static_cast<double>(x) >= 0x1p64) return false;
  return can_represent(static_cast<double>(x)) &&
         static_cast<uint64_t>(static_cast<double>(x)) == x;
}

bool Type::can_represent(double x) const {
  if (is_float()) {
    const double rounded = as_imm(make_float(element_of(), x))->f;
    return std::isnan(x) || rounded == x;
  }
  if (x != std::trunc(x)) return false;
  if (is_int()) return x >= -0x1p63 && x < 0x1p63 && can_represent(static_cast<int64_t>(x));
  return is_uint() && x >= 0 && x < 0x1p64 && can_represent(static_cast<uint64_t>(x));
}

bool Type::is_max(int64_t x) const { return x >= 0 && is_max(static_cast<uint64_t>(x)); }
bool Type::is_max(uint64_t x) const {
  return is_int() ? x == static_cast<uint64_t>(largest_int(*this))
                  : is_uint() && x == largest_uint(*this);
}
bool Type::is_min(int64_t x) const {
  return is_int() ? x == -largest_int(*this) - 1 : is_uint() && x == 0;
}
bool Type::is_min(uint64_t x) const { return is_uint() && x == 0; }

Expr Type::max() const {
  if (is_float()) return make_float(*this, std::numeric_limits<double>::infinity());
  return make_int(*this, is_int() ? largest_int(*this) : static_cast<int64_t>(largest_uint(*this)));
}

Expr Type::min() const {
  if (is_float()) return make_float(*this, -std::numeric_limits<double>::infinity());
  return make_int(*this, is_int() ? -largest_int(*this) - 1 : 0);
}

}  // namespace polyhalite
