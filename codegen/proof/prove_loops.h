// prove_loops: the second proof. Does lowered loop IR compute what the algorithm says? Shares
// nothing with the judge, the regions and the lowering: it reads loop IR as codegen/README.md
// defines it, finds of which definition each write is an instance, and asks the dataflow proof
// (polyhedral/dataflow) whether every read finds the right one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "codegen/proof/in_one_piece.h"
#include "lang/ir/algorithm.h"
#include "polyhedral/dataflow/prove.h"
#include "polyhedral/survey.h"

namespace polyhalite {

struct LoopProofOptions {
  dataflow::ProveOptions dataflow;
  /// Of parameters and fields of buffers, by name: the proof is for these sizes, else for all.
  std::map<std::string, Expr> sizes;
  /// Funcs with loops of which the schedule promises that races do no harm.
  std::vector<std::string> promised_races;
  /// Funcs of which it promises that the order of atomic updates does not matter.
  std::vector<std::string> promised_orders;
  /// Hints for memory that is laid out in blocks; without, its Funcs are undecided.
  BlockedMemories blocked;
};

/// `f` as `lower` makes it. A finding for each Func of the algorithm, in the algorithm's order.
std::vector<dataflow::Finding> prove_loops(const Algorithm &algorithm, const Function &f,
                                           const LoopProofOptions &options = {});

}  // namespace polyhalite
