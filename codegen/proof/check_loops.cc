#include "codegen/proof/check_loops.h"

#include "polyhalite/error.h"

namespace polyhalite {

LoopProofOptions proof_options(const LoopTree &tree, const Survey &survey) {
  LoopProofOptions options;
  for (size_t f = 0; f < tree.storage.size(); f++) {
    const std::string &name = tree.algorithm.funcs[f].name;
    const FuncStorage &storage = tree.storage[f];
    for (const int d : storage.packed) {
      // A place in a ring is counted from 0.
      const bool in_ring = survey.funcs[f].fold[d] > 0;
      const Expr min = in_ring ? Expr(0) : survey.funcs[f].stored[d].min;
      options.blocked[name].push_back({d, storage.dims[d].block, min});
    }
  }
  for (size_t f = 0; f < tree.nests.size(); f++) {
    const std::string &name = tree.algorithm.funcs[f].name;
    for (const StageNest &n : tree.nests[f]) {
      if (n.allow_races) options.promised_races.push_back(name);
      if (n.any_order) options.promised_orders.push_back(name);
    }
  }
  return options;
}

std::vector<dataflow::Finding> check_loops(const LoopTree &tree, const Survey &survey,
                                           const Function &f,
                                           const dataflow::ProveOptions &dataflow) {
  LoopProofOptions options = proof_options(tree, survey);
  options.dataflow = dataflow;
  std::vector<dataflow::Finding> findings = prove_loops(tree.algorithm, f, options);
  for (const dataflow::Finding &found : findings) {
    if (found.verdict != dataflow::Finding::Refused) continue;
    throw InternalError({"the loops of '" + found.func + "' do not compute what it says",
                         found.why,
                         "this is a fault of the compiler: please report it",
                         {}});
  }
  return findings;
}

}  // namespace polyhalite
