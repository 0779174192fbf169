// Constant: elements of a tensor that are known, as a view of whoever owns them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhalite/type.h"

namespace polyhalite::onnx {

/// The format's numbers.
enum class ElementType {
  Undefined = 0,
  Float32 = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Float64 = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
  Float6E2M3 = 27,
  Float6E3M2 = 28,
};
/// "float32", "int64"...; "type 17" for those that the language has not.
std::string element_name(ElementType t);
/// What holds an element; nullopt where the language has nothing. Narrow ones have a byte each.
std::optional<Type> language_type(ElementType t);
/// Of fewer than 8 bits, or a float of 8: no arithmetic has such operands.
bool is_narrow(ElementType t);
/// Narrow, and no code of a float.
bool is_narrow_integer(ElementType t);
/// In files, where narrow elements share bytes.
int element_bits(ElementType t);
ElementType element_type(Type t);

class Constant {
 public:
  Constant() = default;
  /// A view: the owner keeps the elements alive.
  Constant(ElementType type, std::vector<int64_t> shape, std::shared_ptr<const void> owner,
           const uint8_t *data)
      : type_(type), shape_(std::move(shape)), owner_(std::move(owner)), data_(data) {}
  /// One element for all.
  static Constant splat(ElementType type, std::vector<int64_t> shape, const void *element);
  static Constant of_bytes(ElementType type, std::vector<int64_t> shape,
                           std::vector<uint8_t> bytes);
  static Constant integers(const std::vector<int64_t> &values);  // Int64, rank 1
  static Constant reals(std::vector<int64_t> shape, const std::vector<float> &values);
  static Constant integer(int64_t value);  // Int64, rank 0
  static Constant real(float value);       // Float32, rank 0

  ElementType type() const { return type_; }
  const std::vector<int64_t> &shape() const { return shape_; }
  int64_t elements() const;
  int element_bytes() const;
  size_t bytes() const { return static_cast<size_t>(elements()) * element_bytes(); }
  bool is_splat() const { return splat_; }
  /// Can elements be read as their type? Those of a file stand at any byte.
  bool is_aligned() const;
  const uint8_t *data() const { return data_; }
  /// Element i in row-major order.
  const uint8_t *at(int64_t i) const { return data_ + (splat_ ? 0 : i * element_bytes()); }
  double number(int64_t i) const;
  int64_t integer_at(int64_t i) const;
  /// All elements one after the other, dimension order[0] outermost (row-major where it is empty).
  std::vector<uint8_t> packed(const std::vector<int> &order = {}) const;
  Constant reshaped(std::vector<int64_t> shape) const;
  /// Places begin, ..., begin + count - 1 along the axis; a view where they lie in one piece.
  Constant part(size_t axis, int64_t begin, int64_t count) const;
  /// Equal types, shapes and bytes.
  bool same(const Constant &o) const;
  /// Differs between Constants that are not the same, most of the time.
  uint64_t hash() const;

 private:
  ElementType type_ = ElementType::Undefined;
  std::vector<int64_t> shape_;
  std::shared_ptr<const void> owner_;
  const uint8_t *data_ = nullptr;
  bool splat_ = false;
};

/// All elements, rounded.
std::vector<float> floats_of(const Constant &c);

/// Adds one element of a type that has no narrow elements to the bytes.
void append_number(std::vector<uint8_t> *bytes, ElementType type, double value);

}  // namespace polyhalite::onnx
