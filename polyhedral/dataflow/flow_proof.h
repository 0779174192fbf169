// flow_proof: reads of a Func find the instances that the algorithm's own order leaves there, by
// isl's dataflow analysis.
#pragma once

#include <vector>

#include "polyhedral/dataflow/definitions.h"
#include "polyhedral/dataflow/uses.h"

namespace polyhalite::dataflow {

/// Stops where they may not. `identities`: of the instances of the Func's statements.
void prove_by_flow(Relations &relations, Uses &uses, const Definitions &definitions,
                   const std::vector<Sink> &sinks, const UnionMap &identities);

}  // namespace polyhalite::dataflow
