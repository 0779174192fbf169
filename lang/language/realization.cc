#include "polyhalite/realization.h"

namespace polyhalite {

const Buffer<> &Realization::single() const {
  if (buffers_.size() != 1) {
    user_error(
        "a Realization of " + std::to_string(buffers_.size()) + " outputs is used as one Buffer",
        "only a single output converts", "take one by index, as in r[0]");
  }
  return buffers_[0];
}

size_t Realization::checked(size_t i) const {
  if (i < buffers_.size()) return i;
  user_error("output " + std::to_string(i) + " of a Realization",
             "it has " + std::to_string(buffers_.size()) + ", counted from 0",
             "ask for one of them");
}

}  // namespace polyhalite
