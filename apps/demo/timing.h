// Seconds of what the demo runs.
#pragma once

#include <functional>

namespace polyhalite_apps {

double seconds_of(const std::function<void()> &work);

/// The median of as many runs as fit into a second, at least one and at most fifteen after the
/// first.
double median_seconds(const std::function<void()> &work);

}  // namespace polyhalite_apps
