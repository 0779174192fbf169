// What proving a large schedule costs.
#pragma once

#include <string>
#include <vector>

namespace polyhalite_apps {

/// chain_100_tiles: 100 stencils of 3x3, all computed within tiles of the last one. chain_100_rows:
/// the same, row by row, each stage's rows kept while they are read. network_50: a network of 50
/// convolutions with what follows them, stage by stage, in vectors and on all cores.
std::vector<std::string> judged_pipelines();

struct JudgingCost {
  double schedule = 0, survey = 0, judge = 0;  // seconds of the median total
  double peak_mb = 0;                          // resident memory of a process that does only this
  double total() const { return schedule + survey + judge; }
};

/// Judges it `rounds` times in processes of their own. Throws std::runtime_error where one fails.
JudgingCost judging_cost(const std::string &pipeline, int rounds);

}  // namespace polyhalite_apps
