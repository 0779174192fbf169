// float16 numbers for programs that get them from pipelines.
#include "lang/abi/polyhalite_float16.h"

#include <string.h>

#include "codegen/runtime/internal.h"

extern "C" {

PH_WEAK float polyhalite_float16_bits_to_float(uint16_t bits) {
  const uint32_t sign = uint32_t{bits} >> 15 << 31, exponent = bits >> 10 & 31;
  const uint32_t fraction = bits & 1023;
  uint32_t wide;
  if (exponent == 31) {  // infinities and NaNs
    wide = sign | 0x7f800000u | fraction << 13;
  } else if (exponent > 0) {
    wide = sign | (exponent + 127 - 15) << 23 | fraction << 13;
  } else {  // fraction * 2^-24 is exact in float
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  float value;
  memcpy(&value, &wide, sizeof(value));
  return value;
}

PH_WEAK double polyhalite_float16_bits_to_double(uint16_t bits) {
  return polyhalite_float16_bits_to_float(bits);
}

}  // extern "C"
