// A buffer with its own memory, for running compiled or interpreted functions.
#pragma once

#include <vector>

#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/type.h"

namespace polyhalite {

class TestBuffer {
 public:
  struct Extent {
    int32_t min, extent;
  };

  /// Zeros, dense, dimension 0 innermost; `row_gap` unused elements behind each row.
  TestBuffer(Type t, const std::vector<Extent> &shape, int32_t row_gap = 0) {
    int32_t stride = 1;
    for (const Extent &e : shape) {
      dims_.push_back({e.min, e.extent, stride, 0});
      stride *= e.extent;
      if (dims_.size() == 1) stride += row_gap;
    }
    bytes_.resize(static_cast<size_t>(stride) * static_cast<size_t>(t.bytes()));
    raw_.host = bytes_.data();
    raw_.type = t;
    raw_.dimensions = static_cast<int32_t>(dims_.size());
    raw_.dim = dims_.data();
  }
  TestBuffer(const TestBuffer &) = delete;
  TestBuffer &operator=(const TestBuffer &) = delete;

  polyhalite_buffer_t *raw() { return &raw_; }
  std::vector<uint8_t> &bytes() { return bytes_; }
  template <typename T>
  T *elements() {
    return reinterpret_cast<T *>(bytes_.data());
  }

 private:
  polyhalite_buffer_t raw_{};
  std::vector<polyhalite_dimension_t> dims_;
  std::vector<uint8_t> bytes_;
};

}  // namespace polyhalite
