// Seeded decisions.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace polyhalite::test {

/// A seeded source of small decisions, the same on every machine.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  /// Uniform in [low, high].
  int between(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  /// True in `percent` of a hundred cases.
  bool chance(int percent) { return between(0, 99) < percent; }
  template <typename T>
  const T &pick(const std::vector<T> &from) {
    return from[between(0, static_cast<int>(from.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace polyhalite::test
