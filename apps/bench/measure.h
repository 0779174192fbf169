// Interleaved measurement of one program and its peers.
#pragma once

#include <string>

#include "apps/bench/operator_case.h"
#include "apps/bench/row.h"
#include "apps/common/app_case.h"

namespace polyhalite_apps {

/// Compares the two outputs first, and then the times of `rounds` rounds (interleave.h).
Row compare(AppCase &app, const std::string &schedule, int threads, int rounds);

/// The same of an operator and all of its peers.
Row compare(const OperatorCase &operation, int threads, int rounds);

}  // namespace polyhalite_apps
