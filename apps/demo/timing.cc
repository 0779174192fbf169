#include "apps/demo/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace polyhalite_apps {

namespace {

constexpr double kSecondsPerFigure = 1.0;
constexpr int kMostRuns = 15;

}  // namespace

double seconds_of(const std::function<void()> &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_seconds(const std::function<void()> &work) {
  const double first = seconds_of(work);
  const int runs = std::clamp(static_cast<int>(kSecondsPerFigure / first), 1, kMostRuns);
  std::vector<double> times;
  for (int i = 0; i < runs; i++) times.push_back(seconds_of(work));
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[runs / 2];
}

}  // namespace polyhalite_apps
