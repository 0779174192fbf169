// Interleaved measurement of one pipeline compiled by two systems.
#pragma once

#include <string>

#include "apps/common/app_case.h"

namespace polyhalite_apps {

struct Comparison {
  double ours = 0;      // seconds, the median round
  double halide = 0;    // likewise; 0 where Halide is not installed
  double peak = 0;      // GFLOP/s of fused multiply-adds, median of the probes beside the rounds
  int repeated = 0;     // rounds thrown away because two cores did not deliver
  std::string failure;  // empty, or why there is no result
};

/// Compares the two outputs first, and then the times of `rounds` rounds (interleave.h).
Comparison compare(AppCase &app, const std::string &schedule, int threads, int rounds);

}  // namespace polyhalite_apps
