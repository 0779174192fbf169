// The schedule "found": the auto-scheduler's.
#pragma once

#include <string>
#include <vector>

#include "apps/polybench/kernel.h"

namespace polyhalite_apps {

/// Schedules a program that was described with the schedule "found", for two threads and results of
/// such sizes. Returns the schedule's text.
std::string find_schedule(const Kernel &kernel, const std::vector<int> &sizes);

}  // namespace polyhalite_apps
