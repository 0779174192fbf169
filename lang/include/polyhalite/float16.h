// The 16-bit floats of the language as C++ values: float16_t (IEEE binary16) and bfloat16_t (the
// upper half of a float32). Arithmetic takes place in float32 and is rounded once, to nearest with
// halves to even, which for + - * / is the correctly rounded result.
#pragma once

#include <cstdint>
#include <cstring>

#include "polyhalite_buffer.h"

namespace polyhalite {

namespace detail {

inline uint32_t bits_of_float(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint16_t float16_bits(float value) {
  const uint32_t bits = bits_of_float(value);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // a NaN
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // from 65520 on
  uint32_t mantissa = magnitude, shift = 13;
  if (magnitude < 0x38800000u) {
    // Below 2^-14: a denormal, in units of 2^-24.
    if (magnitude < 0x33000000u) return static_cast<uint16_t>(sign);
    mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    shift = 126 - (magnitude >> 23);
  } else {
    mantissa -= 112u << 23;
  }
  const uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  return static_cast<uint16_t>(sign | (kept + (rest > half || (rest == half && (kept & 1)))));
}

inline float float16_value(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude < 0x400u) {
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign ? -value : value;
  }
  return float_of_bits(sign | ((magnitude << 13) + (112u << 23)));
}

inline uint16_t bfloat16_bits(float value) {
  const uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

inline float bfloat16_value(uint16_t bits) { return float_of_bits(uint32_t{bits} << 16); }

}  // namespace detail

#define POLYHALITE_FLOAT16_CLASS(name, encode, decode, nan_bits, infinity_bits, digits)        \
  struct name {                                                                                \
    static constexpr int mantissa_bits = digits;                                               \
    static constexpr uint16_t sign_mask = 0x8000, exponent_mask = infinity_bits;               \
    static constexpr uint16_t mantissa_mask = (1u << (digits)) - 1;                            \
    name() = default;                                                                          \
    explicit name(float value) : bits_(detail::encode(value)) {}                               \
    explicit name(double value) : name(static_cast<float>(value)) {}                           \
    explicit name(int value) : name(static_cast<float>(value)) {}                              \
    static name make_from_bits(uint16_t bits) {                                                \
      name r;                                                                                  \
      r.bits_ = bits;                                                                          \
      return r;                                                                                \
    }                                                                                          \
    static name make_zero() { return make_from_bits(0); }                                      \
    static name make_negative_zero() { return make_from_bits(0x8000u); }                       \
    static name make_nan() { return make_from_bits(nan_bits); }                                \
    static name make_infinity() { return make_from_bits(infinity_bits); }                      \
    static name make_negative_infinity() { return make_from_bits(0x8000u | (infinity_bits)); } \
    uint16_t to_bits() const { return bits_; }                                                 \
    explicit operator float() const { return detail::decode(bits_); }                          \
    explicit operator double() const { return detail::decode(bits_); }                         \
    explicit operator int() const { return static_cast<int>(detail::decode(bits_)); }          \
    bool is_nan() const { return (bits_ & 0x7fffu) > (infinity_bits); }                        \
    bool is_infinity() const { return (bits_ & 0x7fffu) == (infinity_bits); }                  \
    bool is_negative() const { return (bits_ & 0x8000u) != 0; }                                \
    bool is_zero() const { return (bits_ & 0x7fffu) == 0; }                                    \
    name operator-() const { return make_from_bits(static_cast<uint16_t>(bits_ ^ 0x8000u)); }  \
    name operator+(name o) const { return name(float(*this) + float(o)); }                     \
    name operator-(name o) const { return name(float(*this) - float(o)); }                     \
    name operator*(name o) const { return name(float(*this) * float(o)); }                     \
    name operator/(name o) const { return name(float(*this) / float(o)); }                     \
    name operator+=(name o) { return *this = *this + o; }                                      \
    name operator-=(name o) { return *this = *this - o; }                                      \
    name operator*=(name o) { return *this = *this * o; }                                      \
    name operator/=(name o) { return *this = *this / o; }                                      \
    bool operator==(name o) const { return float(*this) == float(o); }                         \
    bool operator!=(name o) const { return float(*this) != float(o); }                         \
    bool operator<(name o) const { return float(*this) < float(o); }                           \
    bool operator>(name o) const { return float(*this) > float(o); }                           \
    bool operator<=(name o) const { return float(*this) <= float(o); }                         \
    bool operator>=(name o) const { return float(*this) >= float(o); }                         \
                                                                                               \
   private:                                                                                    \
    uint16_t bits_ = 0;                                                                        \
  };

POLYHALITE_FLOAT16_CLASS(float16_t, float16_bits, float16_value, 0x7e00u, 0x7c00u, 10)
POLYHALITE_FLOAT16_CLASS(bfloat16_t, bfloat16_bits, bfloat16_value, 0x7fc0u, 0x7f80u, 7)
#undef POLYHALITE_FLOAT16_CLASS

static_assert(sizeof(float16_t) == 2 && sizeof(bfloat16_t) == 2, "elements of Buffers");

}  // namespace polyhalite

template <>
constexpr polyhalite_type_t polyhalite_type_of<polyhalite::float16_t>() {
  return {polyhalite_type_float, 16};
}
template <>
constexpr polyhalite_type_t polyhalite_type_of<const polyhalite::float16_t>() {
  return {polyhalite_type_float, 16};
}
template <>
constexpr polyhalite_type_t polyhalite_type_of<polyhalite::bfloat16_t>() {
  return {polyhalite_type_bfloat, 16};
}
template <>
constexpr polyhalite_type_t polyhalite_type_of<const polyhalite::bfloat16_t>() {
  return {polyhalite_type_bfloat, 16};
}
