#include "apps/bench/interleave.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "apps/common/two_core_probe.h"

namespace polyhalite_apps {

namespace {

constexpr int kAttemptsPerRound = 20;
constexpr double kRoundSeconds = 0.02;
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

double seconds_of(const std::function<void()> &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

Rounds interleave(const std::function<void()> &first, const std::function<void()> &second,
                  int threads, int rounds) {
  Rounds result;
  const int repeats = std::max(1, static_cast<int>(std::ceil(kRoundSeconds / seconds_of(first))));
  const auto time = [&](const std::function<void()> &run) {
    return seconds_of([&] {
             for (int i = 0; i < repeats; i++) run();
           }) /
           repeats;
  };
  // Counts a round that two cores did not carry; false once there have been too many.
  const auto repeat = [&] {
    if (++result.repeated < kAttemptsPerRound * rounds) return true;
    result.failure = "two cores did not deliver 1.8 times one in " +
                     std::to_string(result.repeated) + " attempts";
    return false;
  };
  while (static_cast<int>(result.first.size()) < rounds) {
    const ProbeResult before = probe_two_cores();
    if (threads > 1 && before.ratio() < kTwoCoreRatio) {
      if (!repeat()) return result;
      std::this_thread::sleep_for(kPause);
      continue;
    }
    const bool second_first = result.first.size() % 2 == 1;
    double times[2] = {0, 0};
    if (second && second_first) times[1] = time(second);
    times[0] = time(first);
    if (second && !second_first) times[1] = time(second);
    if (threads > 1 && probe_two_cores().ratio() < kTwoCoreRatio) {
      if (!repeat()) return result;
      continue;
    }
    result.first.push_back(times[0]);
    result.second.push_back(times[1]);
    result.peaks.push_back(threads > 1 ? before.two_cores : before.one_core);
  }
  return result;
}

}  // namespace polyhalite_apps
