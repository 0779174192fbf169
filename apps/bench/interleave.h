// Two programs measured in turns, so that what else the machine does meets both alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace polyhalite_apps {

double seconds_of(const std::function<void()> &work);
double median(std::vector<double> values);

struct Rounds {
  std::vector<double> first, second;  // seconds of one run, by round
  std::vector<double> peaks;          // GFLOP/s of the probe beside the round
  int repeated = 0;                   // rounds thrown away because two cores did not deliver
  std::string failure;                // empty, or why there are too few rounds
};

/// Runs `rounds` rounds of both, taking turns at being first; `second` may be empty. A round runs
/// each as often as `first` needs for 20 ms. With two threads a round counts only if the two-core
/// probe passes before and after it; it is repeated otherwise, at most 20 times per round.
Rounds interleave(const std::function<void()> &first, const std::function<void()> &second,
                  int threads, int rounds);

}  // namespace polyhalite_apps
