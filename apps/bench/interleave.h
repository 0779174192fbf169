// Programs measured in turns, so that what else the machine does meets all alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace polyhalite_apps {

/// By the clock on the wall.
double seconds_of(const std::function<void()> &work);
/// The processor's seconds so far, of all threads of this process.
double cpu_seconds();
double median(std::vector<double> values);

struct Rounds {
  std::vector<std::vector<double>> seconds;  // of one run: [contender][round]
  std::vector<double> peaks;                 // GFLOP/s of the probe beside the round
  int repeated = 0;                          // rounds thrown away because two cores did not deliver
  std::string failure;                       // empty, or why there are too few rounds
  double of(size_t contender) const { return median(seconds[contender]); }
};

/// Runs `rounds` rounds of all contenders, taking turns at being first. A round runs each once, and
/// then as often as takes 20 ms. With one thread the processor's seconds count, so that other
/// programs on the machine do not; with two, those on the wall, and a round counts only if the
/// two-core probe passes before and after it; it is repeated otherwise, at most 20 times per round.
Rounds interleave(const std::vector<std::function<void()>> &contenders, int threads, int rounds);

}  // namespace polyhalite_apps
