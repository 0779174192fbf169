// The scalar and vector types of expressions.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "polyhalite_buffer.h"

namespace polyhalite {

/// A scalar or vector value type: a code, a width in bits and a number of lanes.
/// Booleans are one-bit unsigned integers, as everywhere in the field.
class Type {
 public:
  enum Code : uint8_t { Int = 0, UInt = 1, Float = 2, Handle = 3, BFloat = 4 };

  Type() = default;
  Type(Code code, int bits, int lanes = 1)
      : code_(code), bits_(static_cast<uint8_t>(bits)), lanes_(static_cast<uint16_t>(lanes)) {}

  Type(polyhalite_type_t t) : Type(static_cast<Code>(t.code), t.bits, t.lanes) {}  // NOLINT
  operator polyhalite_type_t() const {                                            // NOLINT
    return {static_cast<polyhalite_type_code_t>(code_), bits_, lanes_};
  }

  Code code() const { return code_; }
  int bits() const { return bits_; }
  /// Bytes that one lane takes in memory; a boolean takes one.
  int bytes() const { return (bits_ + 7) / 8; }
  int lanes() const { return lanes_; }

  bool is_bool() const { return code_ == UInt && bits_ == 1; }
  bool is_int() const { return code_ == Int; }
  bool is_uint() const { return code_ == UInt; }
  bool is_float() const { return code_ == Float || code_ == BFloat; }
  bool is_handle() const { return code_ == Handle; }
  bool is_int_or_uint() const { return code_ == Int || code_ == UInt; }
  bool is_scalar() const { return lanes_ == 1; }
  bool is_vector() const { return lanes_ != 1; }
  /// Int(32) and Int(64): the types whose overflow is undefined, so that their arithmetic is affine.
  bool is_affine() const { return code_ == Int && bits_ >= 32; }

  Type with_lanes(int lanes) const { return Type(code_, bits_, lanes); }
  Type with_bits(int bits) const { return Type(code_, bits, lanes_); }
  Type with_code(Code code) const { return Type(code, bits_, lanes_); }
  Type element_of() const { return with_lanes(1); }

  bool operator==(const Type &o) const {
    return code_ == o.code_ && bits_ == o.bits_ && lanes_ == o.lanes_;
  }
  bool operator!=(const Type &o) const { return !(*this == o); }

  /// "uint8", "float32x8", "bool".
  std::string to_string() const;

 private:
  Code code_ = UInt;
  uint8_t bits_ = 0;
  uint16_t lanes_ = 0;
};

inline Type Int(int bits, int lanes = 1) { return Type(Type::Int, bits, lanes); }
inline Type UInt(int bits, int lanes = 1) { return Type(Type::UInt, bits, lanes); }
inline Type Float(int bits, int lanes = 1) { return Type(Type::Float, bits, lanes); }
inline Type Bool(int lanes = 1) { return UInt(1, lanes); }
inline Type Handle(int lanes = 1) { return Type(Type::Handle, 64, lanes); }

/// The Type of a C++ arithmetic type or pointer.
template <typename T>
Type type_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>) {
    return Bool();
  } else if constexpr (std::is_pointer_v<U>) {
    return Handle();
  } else if constexpr (std::is_floating_point_v<U>) {
    return Float(8 * static_cast<int>(sizeof(U)));
  } else if constexpr (std::is_signed_v<U>) {
    return Int(8 * static_cast<int>(sizeof(U)));
  } else {
    static_assert(std::is_unsigned_v<U>, "type_of needs a scalar type");
    return UInt(8 * static_cast<int>(sizeof(U)));
  }
}

}  // namespace polyhalite
