// halves: numbers of 16 bits, which files hold, as numbers of 32 bits.
#pragma once

#include <cstdint>

namespace polyhalite::onnx {

/// n elements of Float16, which stand at any byte.
void widen(float *to, const uint8_t *halves, int64_t n);

}  // namespace polyhalite::onnx
