// How long compilations take: in process, stage by stage, and as whole generator programs.
#pragma once

#include <string>

#include "polyhalite/backend.h"

namespace polyhalite_apps {

/// Compiles `app` with its good schedule, or "three_stages" (a small stencil pipeline), `rounds`
/// times from nothing; the times of the median total.
polyhalite::CompileTimes jit_times(const std::string &app, int rounds);

struct GeneratorTimes {
  double ours = 0;    // seconds, median
  double halide = 0;  // likewise; 0 where Halide is not installed
};

/// Whole runs of the generator programs that write an object file for this machine.
GeneratorTimes generator_times(const std::string &app, int rounds);

}  // namespace polyhalite_apps
