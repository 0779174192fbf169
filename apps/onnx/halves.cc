#include "apps/onnx/halves.h"

#include <cstring>
#include <vector>

#include "polyhalite/float16.h"

namespace polyhalite::onnx {

void widen(float *to, const uint8_t *halves, int64_t n) {
  // Of all of them by their bits: a lookup is quicker than what a conversion takes.
  static const std::vector<float> numbers = [] {
    std::vector<float> list;
    for (int bits = 0; bits <= 0xffff; bits++)
      list.push_back(static_cast<float>(float16_t::make_from_bits(static_cast<uint16_t>(bits))));
    return list;
  }();
  for (int64_t i = 0; i < n; i++) {
    uint16_t bits;
    std::memcpy(&bits, halves + 2 * i, sizeof bits);
    to[i] = numbers[bits];
  }
}

}  // namespace polyhalite::onnx
