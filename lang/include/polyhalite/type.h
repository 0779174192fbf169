// The scalar and vector types of expressions.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "polyhalite/float16.h"
#include "polyhalite_buffer.h"

namespace polyhalite {

class Expr;

/// What a pointer of C++ points to: headers of compiled functions declare it so, and names of C++
/// functions tell it. Levels of pointers inside are not told.
struct Pointee {
  enum Kind : uint8_t { Simple, Struct, Class, Union };
  Kind kind = Simple;
  std::string name = "void";  // with its namespaces, "a::b::C"; "void" for what has no PointeeName
  bool is_const = false, is_volatile = false;

  bool is_plain_void() const { return name == "void" && !is_const && !is_volatile; }
  /// "const struct a::b::C".
  std::string to_string() const;
  /// Reads that back; null for other texts. The result lives as long as the process.
  static const Pointee *parse(const std::string &text);
  bool operator<(const Pointee &o) const { return to_string() < o.to_string(); }
};

/// A scalar or vector value type: a code, a width in bits and a number of lanes.
/// Booleans are one-bit unsigned integers, as everywhere in the field.
class Type {
 public:
  using Code = polyhalite_type_code_t;
  static constexpr Code Int = polyhalite_type_int, UInt = polyhalite_type_uint,
                        Float = polyhalite_type_float, Handle = polyhalite_type_handle,
                        BFloat = polyhalite_type_bfloat;

  Type() = default;
  /// `pointee`, of handles, lives as long as the process; null for void.
  Type(Code code, int bits, int lanes = 1, const Pointee *pointee = nullptr)
      : code_(code),
        bits_(static_cast<uint8_t>(bits)),
        lanes_(static_cast<uint16_t>(lanes)),
        pointee_(pointee) {}

  Type(polyhalite_type_t t) : Type(t.code, t.bits, t.lanes) {}           // NOLINT
  operator polyhalite_type_t() const { return {code_, bits_, lanes_}; }  // NOLINT

  Code code() const { return code_; }
  int bits() const { return bits_; }
  /// Bytes that one lane takes in memory; a boolean takes one.
  int bytes() const { return (bits_ + 7) / 8; }
  int lanes() const { return lanes_; }

  /// Of a handle, what it points to; null where nothing is known. Types that differ in it only are
  /// equal: the values are.
  const Pointee *pointee() const { return pointee_; }

  bool is_bool() const { return code_ == UInt && bits_ == 1; }
  bool is_int() const { return code_ == Int; }
  bool is_uint() const { return code_ == UInt; }
  bool is_float() const { return code_ == Float || code_ == BFloat; }
  bool is_handle() const { return code_ == Handle; }
  bool is_bfloat() const { return code_ == BFloat; }
  bool is_int_or_uint() const { return code_ == Int || code_ == UInt; }
  bool is_scalar() const { return lanes_ == 1; }
  bool is_vector() const { return lanes_ != 1; }
  /// Int(32) and Int(64): the types whose overflow is undefined, so that their arithmetic is
  /// affine.
  bool is_affine() const { return code_ == Int && bits_ >= 32; }
  /// Integers whose arithmetic wraps.
  bool can_overflow_int() const { return code_ == Int && bits_ <= 16; }
  bool can_overflow() const { return is_uint() || can_overflow_int(); }

  Type with_lanes(int lanes) const { return Type(code_, bits_, lanes, pointee_); }
  Type with_bits(int bits) const { return Type(code_, bits, lanes_); }
  Type with_code(Code code) const { return Type(code, bits_, lanes_); }
  Type element_of() const { return with_lanes(1); }
  /// Twice the bits, or half of them; a boolean stands below 8 bits.
  Type widen() const { return with_bits(bits_ == 1 ? 8 : bits_ * 2); }
  Type narrow() const { return with_bits(bits_ == 8 ? 1 : bits_ / 2); }

  /// Does this type hold every value of `other`, of as many lanes? Or the number x, exactly?
  bool can_represent(Type other) const;
  bool can_represent(int64_t x) const;
  bool can_represent(uint64_t x) const;
  bool can_represent(double x) const;
  bool can_represent(int x) const { return can_represent(static_cast<int64_t>(x)); }
  bool can_represent(float x) const { return can_represent(static_cast<double>(x)); }
  /// Is x the largest, or the smallest, value of this integer type?
  bool is_max(int64_t x) const;
  bool is_max(uint64_t x) const;
  bool is_min(int64_t x) const;
  bool is_min(uint64_t x) const;
  /// The largest and the smallest value as constants; of floats the infinities.
  Expr max() const;
  Expr min() const;

  bool operator==(const Type &o) const {
    return code_ == o.code_ && bits_ == o.bits_ && lanes_ == o.lanes_;
  }
  bool operator!=(const Type &o) const { return !(*this == o); }
  /// Some total order.
  bool operator<(const Type &o) const {
    if (code_ != o.code_) return code_ < o.code_;
    return bits_ != o.bits_ ? bits_ < o.bits_ : lanes_ < o.lanes_;
  }

  /// "uint8", "float32x8", "bool".
  std::string to_string() const;

 private:
  Code code_ = UInt;
  uint8_t bits_ = 0;
  uint16_t lanes_ = 0;
  const Pointee *pointee_ = nullptr;
};

inline Type Int(int bits, int lanes = 1) { return Type(Type::Int, bits, lanes); }
inline Type UInt(int bits, int lanes = 1) { return Type(Type::UInt, bits, lanes); }
inline Type Float(int bits, int lanes = 1) { return Type(Type::Float, bits, lanes); }
inline Type BFloat(int bits, int lanes = 1) { return Type(Type::BFloat, bits, lanes); }
inline Type Bool(int lanes = 1) { return UInt(1, lanes); }
inline Type Handle(int lanes = 1, const Pointee *pointee = nullptr) {
  return Type(Type::Handle, 64, lanes, pointee);
}

/// The name by which pointers to T are declared. POLYHALITE_DECLARE_POINTEE gives one to a type of
/// the program's own.
template <typename T>
struct PointeeName {
  static constexpr Pointee::Kind kind = Pointee::Simple;
  static constexpr const char *name = "void";
};

/// At global scope, in front of what uses pointers to the type `T`, a struct, class or union of
/// namespaces, or a name that stands for a simple type.
#define POLYHALITE_DECLARE_POINTEE(KIND, T)                                      \
  template <>                                                                    \
  struct polyhalite::PointeeName<T> {                                            \
    static constexpr polyhalite::Pointee::Kind kind = polyhalite::Pointee::KIND; \
    static constexpr const char *name = #T;                                      \
  }

/// Scalars of C++ that have a Type.
template <typename T>
inline constexpr bool is_scalar_type =
    std::is_arithmetic_v<T> || std::is_pointer_v<T> || std::is_same_v<T, float16_t> ||
    std::is_same_v<T, bfloat16_t>;

/// The Type of a C++ arithmetic type, 16-bit float or pointer.
template <typename T>
Type type_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>) {
    return Bool();
  } else if constexpr (std::is_pointer_v<U>) {
    using Target = std::remove_pointer_t<U>;
    using Name = PointeeName<std::remove_cv_t<Target>>;
    static const Pointee pointee = {Name::kind, Name::name, std::is_const_v<Target>,
                                    std::is_volatile_v<Target>};
    return Handle(1, pointee.is_plain_void() ? nullptr : &pointee);
  } else if constexpr (std::is_same_v<U, float16_t>) {
    return Float(16);
  } else if constexpr (std::is_same_v<U, bfloat16_t>) {
    return BFloat(16);
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

POLYHALITE_DECLARE_POINTEE(Simple, bool);
POLYHALITE_DECLARE_POINTEE(Simple, char);
POLYHALITE_DECLARE_POINTEE(Simple, int8_t);
POLYHALITE_DECLARE_POINTEE(Simple, uint8_t);
POLYHALITE_DECLARE_POINTEE(Simple, int16_t);
POLYHALITE_DECLARE_POINTEE(Simple, uint16_t);
POLYHALITE_DECLARE_POINTEE(Simple, int32_t);
POLYHALITE_DECLARE_POINTEE(Simple, uint32_t);
POLYHALITE_DECLARE_POINTEE(Simple, int64_t);
POLYHALITE_DECLARE_POINTEE(Simple, uint64_t);
POLYHALITE_DECLARE_POINTEE(Simple, float);
POLYHALITE_DECLARE_POINTEE(Simple, double);
POLYHALITE_DECLARE_POINTEE(Struct, polyhalite_buffer_t);
