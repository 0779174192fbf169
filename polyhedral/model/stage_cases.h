// stage_cases: an update that does something else for each value of a short reduction variable, as
// an update for each value.
//
//   phase in [0, 2), f(x, phase) = select(phase == 0, f(x, 1), f(x + 1, 0))
//     ->   phase = 0: f(x, 0) = f(x, 1)   and   phase = 1: f(x, 1) = f(x + 1, 0)
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct StageCase {
  std::vector<std::pair<std::string, int64_t>> fixed;  // reduction variables
  StageDef def;                                        // they are constants in it
  StageDef whole;                                      // of which this is a case

  /// What the whole stage says, in this case.
  Expr part(const Expr &e) const;
  Expr value(const Expr &e) const;
};

/// All that a stage does; itself where it makes no such difference.
std::vector<StageCase> stage_cases(const StageDef &def);

}  // namespace polyhalite
