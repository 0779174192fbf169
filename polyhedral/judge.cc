#include "polyhedral/judge.h"

#include <chrono>

#include "polyhedral/judge_context.h"

namespace polyhalite {

Judgement judge_with(const LoopTree &tree, const Survey &survey, const JudgeOptions &options,
                     Solver &solver) {
  const auto start = std::chrono::steady_clock::now();
  JudgeContext c{tree, survey, options, solver, {}};
  for (auto *claim : {judge_splits, judge_coverage, judge_order, judge_storage, judge_rings,
                      judge_async, judge_parallel, judge_kernels, judge_addresses}) {
    claim(c);
    if (c.refused()) break;
  }
  c.judgement.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(c.judgement);
}

Judgement judge(const LoopTree &tree, const Survey &survey, const JudgeOptions &options) {
  Solver solver(options.isl_operations);
  return judge_with(tree, survey, options, solver);
}

std::vector<std::string> promises(const Judgement &j) {
  std::vector<std::string> all;
  for (const Certificate &c : j.certificates) {
    if (c.proof != Proof::Waiver) continue;
    all.push_back(std::string("promised: (") + c.claim + ") " + c.about + ": " + c.rule);
  }
  return all;
}

}  // namespace polyhalite
