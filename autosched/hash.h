// mix: one more number into a hash that memos are kept by.
#pragma once

#include <cstdint>

namespace polyhalite::autosched {

inline uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}

}  // namespace polyhalite::autosched
