// check_loops: the second proof of a compilation: prove_loops, which reads neither loop tree nor
// survey, is told what the one promises and the other knows.
#pragma once

#include <vector>

#include "codegen/proof/prove_loops.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Promises of the tree, and where the survey has put the memories that the tree has in blocks.
LoopProofOptions proof_options(const LoopTree &tree, const Survey &survey);

/// `f` is what the tree is lowered to. InternalError where a Func is refused.
std::vector<dataflow::Finding> check_loops(const LoopTree &tree, const Survey &survey,
                                           const Function &f,
                                           const dataflow::ProveOptions &dataflow = {});

}  // namespace polyhalite
