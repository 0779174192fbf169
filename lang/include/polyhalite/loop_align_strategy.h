// How loops of different ranges that compute_with joins meet.
#pragma once

#include <cstdint>

namespace polyhalite {

enum class LoopAlignStrategy : uint8_t {
  AlignStart,  // their first iterations run together
  AlignEnd,    // their last iterations run together
  NoAlign,     // equal values of the loops run together
  Auto,        // NoAlign
};

}  // namespace polyhalite
