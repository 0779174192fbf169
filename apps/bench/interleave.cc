#include "apps/bench/interleave.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

#include "apps/common/two_core_probe.h"

namespace polyhalite_apps {

namespace {

constexpr int kAttemptsPerRound = 20;
constexpr double kRoundSeconds = 0.02, kWarmSeconds = 0.01;
constexpr std::chrono::milliseconds kPause{100};

// Threads of the contender before spin for as long as 30 ms, on the cores that the next one needs.
// Kernels may count their time in ticks of 10 ms.
void wait_for_idle_threads() {
  constexpr std::chrono::milliseconds kStep{20};
  constexpr int kMostSteps = 10;
  constexpr double kIdle = 1e-3;  // seconds of a step
  for (int i = 0; i < kMostSteps; i++) {
    const double start = cpu_seconds();
    std::this_thread::sleep_for(kStep);
    if (cpu_seconds() - start < kIdle) return;
  }
}

}  // namespace

double seconds_of(const std::function<void()> &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

Rounds interleave(const std::vector<std::function<void()>> &contenders, int threads, int rounds) {
  const auto measure = [&](const std::function<void()> &work) {
    if (threads > 1) return seconds_of(work);
    const double start = cpu_seconds();
    work();
    return cpu_seconds() - start;
  };
  Rounds result;
  result.seconds.resize(contenders.size());
  // The first run meets what the one before left in the caches, and threads that sleep: a virtual
  // core takes milliseconds to wake, for which one contender waits and another one does not.
  const auto time = [&](const std::function<void()> &run) {
    if (threads > 1) {
      wait_for_idle_threads();
      for (double warm = 0; warm < kWarmSeconds;) warm += seconds_of(run);
    }
    const double once = measure(run);
    const int repeats = std::max(1, static_cast<int>(std::ceil(kRoundSeconds / once)));
    return measure([&] {
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
  while (static_cast<int>(result.peaks.size()) < rounds) {
    const ProbeResult before = probe_two_cores();
    if (threads > 1 && before.ratio() < kTwoCoreRatio) {
      if (!repeat()) return result;
      std::this_thread::sleep_for(kPause);
      continue;
    }
    std::vector<double> times(contenders.size());
    for (size_t i = 0; i < contenders.size(); i++) {
      const size_t turn = (i + result.peaks.size()) % contenders.size();
      times[turn] = time(contenders[turn]);
    }
    if (threads > 1 && probe_two_cores().ratio() < kTwoCoreRatio) {
      if (!repeat()) return result;
      continue;
    }
    for (size_t i = 0; i < times.size(); i++) result.seconds[i].push_back(times[i]);
    result.peaks.push_back(threads > 1 ? before.two_cores : before.one_core);
  }
  return result;
}

}  // namespace polyhalite_apps
