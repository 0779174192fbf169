// two_iterations: two iterations of a loop, for refusals of what they share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhedral/judge_context.h"

namespace polyhalite {

struct TwoIterations {
  Solution solution;  // None: the loop never has two
  int64_t first = 0, second = 0;
  std::vector<std::pair<std::string, int64_t>> parameters;
  bool inexact = false;  // the loop's bounds are not affine

  /// "iterations y=0 and y=1 run", "... may run", or why none are known and "iterations of 'y' may
  /// run".
  std::string text(const LoopInfo &loop) const;
  /// With the two as its instances; what it says is left to the caller.
  Refusal refusal(char claim, const LoopInfo &loop) const;
};

/// The smallest two of loop path[at], whose path from the root this is; where `same`, over the
/// path's loops, may have one value in both, if it is given.
TwoIterations find_two_iterations(JudgeContext &c, const std::vector<int> &path, size_t at,
                                  const Expr &same = Expr());

}  // namespace polyhalite
