// stage_times: how long each Func takes when the pipeline runs.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/freeze.h"
#include "polyhalite/target.h"

namespace polyhalite {

struct StageTime {
  std::string name;  // a Func, or "memory", "waiting" and "the rest", which are no Func's
  bool is_func = false;
  double ms = 0;       // of one run
  double share = 0;    // of the run, 0 to 1
  double threads = 0;  // at work on the pipeline meanwhile, on average
  double heap = 0;     // bytes, the most at one time
};

struct StageTimes {
  int runs = 0;
  double ms = 0;                  // of one run
  std::vector<StageTime> stages;  // the longest first
  std::string failure;            // why there are no times
};

/// Runs the pipeline with the profiler, on made-up inputs, for the sizes that set_estimates() and
/// its kin say, until there are enough samples.
StageTimes stage_times(const FrozenPipeline &pipeline, const Target &target);

}  // namespace polyhalite
