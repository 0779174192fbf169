// What the files of the judge share: one per claim, each a function that adds certificates, or the
// first refusal. Use judge() of judge.h.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/judge.h"
#include "polyhedral/solver.h"

namespace polyhalite {

struct JudgeContext {
  const LoopTree &tree;
  const Survey &survey;
  const JudgeOptions &options;
  Solver &solver;
  Judgement judgement;

  void certify(char claim, std::string about, Proof proof, std::string rule);
  bool refused() const { return judgement.refusal.has_value(); }
  void refuse(Refusal refusal);
  void undecided(char claim, std::string what, std::string why, std::string fix,
                 SourceLocation where);

  /// The loops around `loop` and itself, outermost first; none for kRoot.
  std::vector<int> path_to(int loop) const;
  /// The same, without `outer` and what encloses it.
  std::vector<int> path_between(int outer, int loop) const;
  /// All stages, producers first.
  std::vector<StageId> stages() const;
};

/// (a) splits cover: a rule per tail.
void judge_splits(JudgeContext &c);
/// (b) every value needed is produced.
void judge_coverage(JudgeContext &c);
/// (c) every dependence keeps its order: within an update by isl, between stages by the tree.
void judge_order(JudgeContext &c);
/// (d) storage that outlives a production is not shared by loops that run at once.
void judge_storage(JudgeContext &c);
/// (d) productions of async Funcs that run ahead leave alone what is still read.
void judge_async(JudgeContext &c);
/// (d) rings that directives ask for hold what is needed at once.
void judge_rings(JudgeContext &c);
/// (e) parallel and vector loops carry nothing.
void judge_parallel(JudgeContext &c);
/// (f) addresses stay inside allocations.
void judge_addresses(JudgeContext &c);
/// (g) kernels: what their blocks share, and what one of them may have.
void judge_kernels(JudgeContext &c);

/// judge() with a solver that remembers answers of earlier trees.
Judgement judge_with(const LoopTree &tree, const Survey &survey, const JudgeOptions &options,
                     Solver &solver);

/// "(y=3, x=5)"
std::string instance_text(const Instance &i);
/// "(3,5)"
std::string short_text(const Instance &i);
/// " (with W=3)": the parameters that are not 0; empty where there are none.
std::string parameters_text(const std::vector<std::pair<std::string, int64_t>> &parameters);
/// The named parameters of a solved problem.
std::vector<std::pair<std::string, int64_t>> named_parameters(const Problem &problem,
                                                              const std::vector<int64_t> &values);

}  // namespace polyhalite
