#include "apps/rungen/array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace polyhalite::rungen {

int64_t Array::elements() const {
  int64_t n = 1;
  for (const auto &d : dims_) n *= std::max(d.extent, 0);
  return n;
}

void Array::set_extents(const std::vector<int> &extents) {
  for (size_t d = 0; d < dims_.size(); d++) {
    dims_[d].extent = d < extents.size() ? extents[d] : 1;
  }
}

void Array::allocate() {
  std::vector<size_t> order(dims_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return dims_[a].stride < dims_[b].stride; });
  int64_t stride = 1;
  for (size_t d : order) {
    dims_[d].stride = static_cast<int32_t>(stride);
    stride *= std::max(dims_[d].extent, 0);
  }
  // Never empty: a host pointer of null would ask for a bounds query.
  bytes_.assign(static_cast<size_t>(std::max<int64_t>(stride, 1) * bytes_per_element()), 0);
}

polyhalite_buffer_t *Array::raw() {
  raw_.host = bytes_.empty() ? nullptr : bytes_.data();
  raw_.type = type_;
  raw_.dimensions = static_cast<int32_t>(dims_.size());
  raw_.dim = dims_.data();
  return &raw_;
}

uint8_t *Array::address(const std::vector<int> &at) {
  int64_t offset = 0;
  for (size_t d = 0; d < dims_.size(); d++) {
    offset += int64_t{at[d] - dims_[d].min} * dims_[d].stride;
  }
  return bytes_.data() + offset * bytes_per_element();
}

std::string type_name(Type t) {
  static const char *const kCodes[] = {"int", "uint", "float", "handle", "bfloat"};
  if (t.code == polyhalite_type_uint && t.bits == 1) return "bool";
  return (t.code < 5 ? kCodes[t.code] : "unknown") + std::to_string(t.bits);
}

namespace {

template <typename T>
T load(const uint8_t *p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <typename T>
void store(uint8_t *p, double value) {
  T v;
  if constexpr (std::is_integral_v<T>) {
    const double least = static_cast<double>(std::numeric_limits<T>::min());
    const double most = static_cast<double>(std::numeric_limits<T>::max());
    // The greatest 64-bit integers have no double of their own.
    v = !(value > least) ? std::numeric_limits<T>::min()
        : value >= most  ? std::numeric_limits<T>::max()
                         : static_cast<T>(value);
  } else {
    v = static_cast<T>(value);
  }
  std::memcpy(p, &v, sizeof v);
}

// Sixteen-bit floats by their fields.
double from_float16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

uint16_t to_float16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double a = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (a >= 65520) return sign | 0x7c00;
  if (a < std::ldexp(1.0, -14)) {
    return static_cast<uint16_t>(sign | static_cast<int>(std::nearbyint(std::ldexp(a, 24))));
  }
  int exponent = 0;
  const double mantissa = std::frexp(a, &exponent);  // in [0.5, 1)
  const int fraction = static_cast<int>(std::nearbyint(std::ldexp(mantissa, 11)));
  return static_cast<uint16_t>(sign | (((exponent + 14) << 10) + (fraction - 1024)));
}

}  // namespace

double get(const uint8_t *p, Type t) {
  switch (t.code) {
    case polyhalite_type_float:
      return t.bits == 64   ? load<double>(p)
             : t.bits == 32 ? static_cast<double>(load<float>(p))
                            : from_float16(load<uint16_t>(p));
    case polyhalite_type_bfloat: {
      const uint32_t bits = uint32_t{load<uint16_t>(p)} << 16;
      float f;
      std::memcpy(&f, &bits, sizeof f);
      return f;
    }
    case polyhalite_type_int:
      return t.bits == 8    ? load<int8_t>(p)
             : t.bits == 16 ? load<int16_t>(p)
             : t.bits == 32 ? load<int32_t>(p)
                            : static_cast<double>(load<int64_t>(p));
    default:
      return t.bits <= 8    ? load<uint8_t>(p)
             : t.bits == 16 ? load<uint16_t>(p)
             : t.bits == 32 ? load<uint32_t>(p)
                            : static_cast<double>(load<uint64_t>(p));
  }
}

bool holds(Type t, double value) {
  if (t.code != polyhalite_type_int && t.code != polyhalite_type_uint) return true;
  const bool is_signed = t.code == polyhalite_type_int;
  const double end = std::ldexp(1.0, is_signed ? t.bits - 1 : t.bits);
  return std::trunc(value) == value && value >= (is_signed ? -end : 0) && value < end;
}

void set(uint8_t *p, Type t, double value) {
  switch (t.code) {
    case polyhalite_type_float:
      if (t.bits == 64) return store<double>(p, value);
      if (t.bits == 32) return store<float>(p, value);
      {
        const uint16_t bits = to_float16(value);
        std::memcpy(p, &bits, sizeof bits);
      }
      return;
    case polyhalite_type_bfloat: {
      const float f = static_cast<float>(value);
      uint32_t bits;
      std::memcpy(&bits, &f, sizeof bits);
      const auto high = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
      std::memcpy(p, &high, sizeof high);
      return;
    }
    case polyhalite_type_int:
      if (t.bits == 8) return store<int8_t>(p, value);
      if (t.bits == 16) return store<int16_t>(p, value);
      if (t.bits == 32) return store<int32_t>(p, value);
      return store<int64_t>(p, value);
    default:
      if (t.bits == 1) return store<uint8_t>(p, value != 0);
      if (t.bits == 8) return store<uint8_t>(p, value);
      if (t.bits == 16) return store<uint16_t>(p, value);
      if (t.bits == 32) return store<uint32_t>(p, value);
      return store<uint64_t>(p, value);
  }
}

namespace {

// What stands for white: the greatest integer, 1 of floats.
double full_scale(Type t) {
  if (t.code == polyhalite_type_float || t.code == polyhalite_type_bfloat) return 1;
  return std::ldexp(1.0, t.code == polyhalite_type_int ? t.bits - 1 : t.bits) - 1;
}

}  // namespace

Array converted(Array &a, Type t, bool scaled) {
  Array result(t, static_cast<int>(a.dims().size()));
  result.dims() = a.dims();
  result.allocate();
  const bool to_integer = t.code == polyhalite_type_int || t.code == polyhalite_type_uint;
  const double scale = scaled ? full_scale(t) / full_scale(a.type()) : 1;
  a.for_each([&](const uint8_t *from, const std::vector<int> &at) {
    const double v = get(from, a.type()) * scale;
    set(result.address(at), t, scaled && to_integer ? std::floor(v + 0.5) : v);
  });
  return result;
}

}  // namespace polyhalite::rungen
