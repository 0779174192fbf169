// Interleaved measurement of one pipeline compiled by two systems.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/common/app_case.h"

namespace polyhalite_apps {

struct Comparison {
  double ours = 0;      // seconds, the median round
  double halide = 0;    // likewise; 0 where Halide is not installed
  double peak = 0;      // GFLOP/s of fused multiply-adds, median of the probes beside the rounds
  int repeated = 0;     // rounds thrown away because two cores did not deliver
  std::string failure;  // empty, or why there is no result
};

double seconds_of(const std::function<void()> &work);
double median(std::vector<double> values);

/// Runs `rounds` rounds of both systems' compiled `app`, taking turns at being first. With two
/// threads a round counts only if the two-core probe passes before and after it; it is repeated
/// otherwise, at most 20 times per round. First compares the two outputs.
Comparison compare(AppCase &app, const std::string &schedule, int threads, int rounds);

}  // namespace polyhalite_apps
