// Tasks: a task that produces and runs ahead of the one that consumes overwrites nothing that is
// still to be read. Between them the order of statements is that of the loops which they run in
// step, each iteration of the producer first.
#pragma once

#include "polyhedral/dataflow/uses.h"

namespace polyhalite::dataflow {

/// Stops where a production of the Func that may be early writes a cell that is read later.
void check_tasks(Relations &relations, Uses &uses, int func);

}  // namespace polyhalite::dataflow
