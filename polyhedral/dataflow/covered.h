// covered: Funcs of which a look at the cells is enough, without dataflow.
#pragma once

#include <vector>

#include "polyhedral/dataflow/relations.h"

namespace polyhalite::dataflow {

/// A Func without updates, of which each cell has its own place in memory: whoever wrote it last,
/// it holds its value. Do the statements in front of a read, in the same iteration of all loops
/// that the read and they have in common, write all cells that are read?
bool is_covered(Relations &relations, int func, const std::vector<Sink> &sinks);

}  // namespace polyhalite::dataflow
