// The rows as a page with a plot.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/row.h"

namespace polyhalite_apps {

/// An HTML page that needs no other file: for each row the peers' times by ours, as points on a
/// logarithmic axis with a line at 1, and the table. Throws std::runtime_error where it cannot be
/// written.
void write_report(const std::string &path, const std::vector<Row> &rows);

}  // namespace polyhalite_apps
