// GuardedBuffer: memory for a call of compiled code that tells of writes beyond its ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/type.h"
#include "test/support/random_pipeline.h"

namespace polyhalite::test {

struct Extents {
  std::vector<int64_t> min, extent;
};

/// A dense buffer with guard bytes on both sides.
class GuardedBuffer {
 public:
  GuardedBuffer(Type t, const Extents &e);
  GuardedBuffer(const GuardedBuffer &) = delete;

  void fill(Type t, Dice &dice);

  /// Takes the elements that both have from `o`, a smaller box of the same type.
  void copy_from(const GuardedBuffer &o);

  polyhalite_buffer_t *raw() { return &raw_; }
  bool guards_intact() const;
  /// Byte offset of the first difference, or -1.
  int64_t difference(const GuardedBuffer &o) const;
  /// The same, of numbers of type `t` that differ by more than other rounding explains.
  int64_t large_difference(const GuardedBuffer &o, Type t) const;
  /// The bytes of an element as hexadecimal digits, the highest first.
  std::string hexadecimal(int64_t at, int bytes) const;

 private:
  int64_t elements() const;

  polyhalite_buffer_t raw_{};
  std::vector<polyhalite_dimension_t> dims_;
  std::vector<uint8_t> bytes_;
  int64_t payload_ = 0;
};

}  // namespace polyhalite::test
