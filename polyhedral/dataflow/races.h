// races: iterations that run at once touch no cell together that one of them writes.
#pragma once

#include "polyhedral/dataflow/relations.h"

namespace polyhalite::dataflow {

/// Of cells of the Func. Instances with the same identity write the same value and may meet.
void check_races(Relations &relations, int func, const UnionMap &identities);

}  // namespace polyhalite::dataflow
