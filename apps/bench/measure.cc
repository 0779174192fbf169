#include "apps/bench/measure.h"

#include "apps/bench/interleave.h"
#include "apps/common/compiled_apps.h"

namespace polyhalite_apps {
namespace {

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

Comparison compare(AppCase &app, const std::string &schedule, int threads, int rounds) {
  Comparison result;
  set_threads(System::Polyhalite, threads);
  set_threads(System::Halide, threads);
  result.failure =
      have_halide() ? compare_outputs(app, schedule) : run_once(System::Polyhalite, app, schedule);
  if (!result.failure.empty()) return result;

  const auto ours = [&] { run_once(System::Polyhalite, app, schedule); };
  std::function<void()> halide;
  if (have_halide()) halide = [&] { run_once(System::Halide, app, schedule); };
  const Rounds r = interleave(ours, halide, threads, rounds);
  result.ours = median(r.first);
  result.halide = median(r.second);
  result.peak = median(r.peaks);
  result.repeated = r.repeated;
  result.failure = r.failure;
  return result;
}

}  // namespace polyhalite_apps
