// Comparison of an app's output with the plain interpreter of its algorithm.
#pragma once

#include <string>

#include "apps/common/app_case.h"
#include "lang/ir/algorithm.h"

namespace polyhalite_apps {

struct Check {
  long points = 0;
  std::string mismatch;  // empty, or the first place where the two differ, and how
};

/// Interprets `algorithm` over the whole of app.output and compares every element within
/// app.tolerance: schedules may reassociate reductions of floats, and machines fuse multiply and
/// add. `some` > 0: as many indices of the output's dimension 2 at its begin, in the middle and at
/// its end stand for all, where the interpreter would take minutes.
Check check_against_interpreter(const polyhalite::Algorithm &algorithm, const AppCase &app,
                                int some = 0);

}  // namespace polyhalite_apps
