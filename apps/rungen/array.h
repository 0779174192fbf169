// Array: a buffer that owns its elements, for inputs and outputs of a filter that is known at run
// time only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "polyhalite_metadata.h"

namespace polyhalite::rungen {

using Type = polyhalite_type_t;

class Array {
 public:
  Array(Type type, int dimensions) : type_(type), dims_(static_cast<size_t>(dimensions)) {}

  Type type() const { return type_; }
  std::vector<polyhalite_dimension_t> &dims() { return dims_; }
  const std::vector<polyhalite_dimension_t> &dims() const { return dims_; }
  int64_t elements() const;
  int bytes_per_element() const { return (type_.bits + 7) / 8; }

  void set_extents(const std::vector<int> &extents);
  /// Dense storage, dimensions in the order of their present strides. Elements are 0.
  void allocate();
  bool allocated() const { return !bytes_.empty(); }
  /// Valid until the array changes; without elements it asks for a bounds query.
  polyhalite_buffer_t *raw();

  /// Calls visit(element's address, position) in the order of the dimensions.
  template <typename Visit>
  void for_each(const Visit &visit) {
    std::vector<int> at(dims_.size());
    for (size_t d = 0; d < dims_.size(); d++) at[d] = dims_[d].min;
    for (int64_t n = elements(); n > 0; n--) {
      visit(address(at), at);
      for (size_t d = 0; d < dims_.size(); d++) {
        if (++at[d] < dims_[d].min + dims_[d].extent) break;
        at[d] = dims_[d].min;
      }
    }
  }
  uint8_t *address(const std::vector<int> &at);

 private:
  Type type_;
  std::vector<polyhalite_dimension_t> dims_;
  std::vector<uint8_t> bytes_;
  polyhalite_buffer_t raw_{};
};

/// "uint8", "float32".
std::string type_name(Type t);
/// An element as a number, and back; integers saturate, fractions are cut off.
double get(const uint8_t *element, Type t);
void set(uint8_t *element, Type t, double value);
/// Has t the value, or, of floats, one near it?
bool holds(Type t, double value);
/// The same values as elements of another type. Whole ranges of integers become whole ranges, and
/// [0, 1] of floats, as pictures want it, where `scaled`.
Array converted(Array &a, Type t, bool scaled);

}  // namespace polyhalite::rungen
