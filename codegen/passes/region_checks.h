// region_checks: entry checks that scalar arguments keep regions inside of 32-bit coordinates.
//
//   in(x + p), x in [0, 9]   ->   assert |p| + 9 <= 2147483647, in 64 bits
#pragma once

#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Of every sum, difference and product in the surveyed boxes that a scalar argument is part of:
/// its values in all iterations are 32-bit integers. Sizes of buffers alone are checked by their
/// ranges. The checks use the survey's root symbols. What comes from data is left out, which is
/// clamped.
std::vector<Stmt> region_checks(const std::string &function, const LoopTree &tree,
                                const Survey &survey);

}  // namespace polyhalite
