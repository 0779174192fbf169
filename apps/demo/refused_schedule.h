// A schedule that would change the meaning of its algorithm.
#pragma once

#include <string>

namespace polyhalite_apps {

/// Compiles running sums down the columns of a picture with the rows in parallel. Returns the
/// message of the refusal; empty where it is not refused.
std::string refusal_of_parallel_scan();

}  // namespace polyhalite_apps
