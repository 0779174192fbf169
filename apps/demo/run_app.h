// One application, compiled in process without a schedule, with the auto-scheduler's and with the
// good one, timed and checked.
#pragma once

#include <functional>
#include <string>

#include "apps/common/app_case.h"

namespace polyhalite_apps {

struct ScheduledRun {
  double seconds = 0;  // median
  double compile_seconds = 0;
  double judge_percent = 0;  // of the compile time: regions and proofs
  long points_checked = 0;
  std::string mismatch;  // empty, or where the output and the interpreter differ
};

struct AppRuns {
  ScheduledRun none, found, good;  // no schedule, the auto-scheduler's, the one in the source
  double search_seconds = 0;
  double halide = 0;  // seconds, the good schedule; 0 where Halide is not installed
  std::string algorithm, schedule, tree, loops, assembly;  // of the good schedule
  std::string found_schedule;
};

/// Leaves the good schedule's result in app.output. `progress` hears of each step.
AppRuns run_app(AppCase &app, const std::function<void(const std::string &)> &progress);

}  // namespace polyhalite_apps
