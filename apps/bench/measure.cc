#include "apps/bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "apps/common/compiled_apps.h"
#include "apps/common/two_core_probe.h"

namespace polyhalite_apps {
namespace {

constexpr int kAttemptsPerRound = 20;
constexpr double kRoundSeconds = 0.02;
constexpr std::chrono::milliseconds kPause{100};

// Runs once; an empty string or the failure.
std::string run_once(System system, AppCase &app, const std::string &schedule) {
  const int code = run_compiled(system, app.name, schedule, app.arguments());
  if (code == 0) return "";
  return std::string(system == System::Halide ? "Halide's " : "Polyhalite's ") + app.name +
         " failed with code " + std::to_string(code);
}

std::string compare_outputs(AppCase &app, const std::string &schedule) {
  AppCase theirs = app;
  theirs.output = AnyBuffer::make_with_shape_of(app.output);
  std::string failure = run_once(System::Polyhalite, app, schedule);
  if (failure.empty()) failure = run_once(System::Halide, theirs, schedule);
  if (!failure.empty()) return failure;
  const double apart = difference(app.output, theirs.output);
  if (apart <= app.tolerance) return "";
  return "the two outputs differ by " + std::to_string(apart) + ", more than " +
         std::to_string(app.tolerance);
}

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

Comparison compare(AppCase &app, const std::string &schedule, int threads, int rounds) {
  Comparison result;
  set_threads(System::Polyhalite, threads);
  set_threads(System::Halide, threads);
  result.failure =
      have_halide() ? compare_outputs(app, schedule) : run_once(System::Polyhalite, app, schedule);
  if (!result.failure.empty()) return result;

  const double once = seconds_of([&] { run_once(System::Polyhalite, app, schedule); });
  const int repeats = std::max(1, static_cast<int>(std::ceil(kRoundSeconds / once)));
  const auto time = [&](System system) {
    return seconds_of([&] {
             for (int i = 0; i < repeats; i++) run_once(system, app, schedule);
           }) /
           repeats;
  };

  std::vector<double> ours, halide, peaks;
  // Counts a round that two cores did not carry; false once there have been too many.
  const auto repeat = [&] {
    if (++result.repeated < kAttemptsPerRound * rounds) return true;
    result.failure = "two cores did not deliver 1.8 times one in " +
                     std::to_string(result.repeated) + " attempts";
    return false;
  };
  while (static_cast<int>(ours.size()) < rounds) {
    const ProbeResult before = probe_two_cores();
    if (threads > 1 && before.ratio() < kTwoCoreRatio) {
      if (!repeat()) return result;
      std::this_thread::sleep_for(kPause);
      continue;
    }
    const bool halide_first = ours.size() % 2 == 1;
    double our_time = 0, halide_time = 0;
    if (have_halide() && halide_first) halide_time = time(System::Halide);
    our_time = time(System::Polyhalite);
    if (have_halide() && !halide_first) halide_time = time(System::Halide);
    if (threads > 1 && probe_two_cores().ratio() < kTwoCoreRatio) {
      if (!repeat()) return result;
      continue;
    }
    ours.push_back(our_time);
    halide.push_back(halide_time);
    peaks.push_back(threads > 1 ? before.two_cores : before.one_core);
  }
  result.ours = median(ours);
  result.halide = median(halide);
  result.peak = median(peaks);
  return result;
}

}  // namespace polyhalite_apps
