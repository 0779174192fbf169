// prove: does every read of a program of loops find what the algorithm reads there?
//
// Per Func, by isl's dataflow analysis, for all sizes at once:
//   reads find the instance that the algorithm's own order leaves in that cell, never nothing
//   all instances of a reduction are in what is read of it, each once (their order is free where
//     its operator is associative and commutative)
//   instances are points of the definition's domain
//   accesses are inside of their memory
//   iterations that run at once touch no cell together that one of them writes
// What is not affine is undecided, and so is what takes isl too long.
#pragma once

#include <vector>

#include "polyhedral/dataflow/program.h"

namespace polyhalite::dataflow {

struct ProveOptions {
  unsigned long operations = 200'000;  // isl's, for each Func
};

/// One finding for each Func that a statement of the program writes.
std::vector<Finding> prove(const Algorithm &algorithm, const Program &program,
                           const ProveOptions &options = {});

}  // namespace polyhalite::dataflow
