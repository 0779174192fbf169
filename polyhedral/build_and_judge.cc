// The freeze's question: is this list of directives legal, and if not, which one is to blame?
#include <chrono>
#include <optional>
#include <utility>

#include "polyhedral/judge_context.h"
#include "schedule/build_tree.h"

namespace polyhalite {

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

bool is_legal_prefix(const Algorithm &algorithm, const std::vector<Directive> &directives,
                     size_t count, const JudgeOptions &options, Solver &solver) {
  try {
    const LoopTree tree = build_tree(algorithm, {directives.begin(), directives.begin() + count});
    return judge_with(tree, survey(tree), options, solver).legal();
  } catch (const CompileError &) {
    // A prefix that lacks what later directives add, such as a bound(), is no legal schedule.
    return false;
  }
}

}  // namespace

Judged build_and_judge(const Algorithm &algorithm, const std::vector<Directive> &directives,
                       const JudgeOptions &options) {
  Solver solver(options.isl_operations);
  const auto start = Clock::now();
  LoopTree tree = build_tree(algorithm, directives);
  const auto built = Clock::now();
  Survey regions = survey(tree);
  const auto surveyed = Clock::now();
  Judgement judgement = judge_with(tree, regions, options, solver);
  if (judgement.legal()) {
    return {std::move(tree), std::move(regions), std::move(judgement), seconds(built - start),
            seconds(surveyed - built)};
  }
  // Legality comes and goes with directives, so that the longest legal prefix is looked for from
  // the end; what follows it is to blame.
  Diagnostic d = judgement.refusal->diagnostic;
  for (size_t count = directives.size(); count-- > 0;) {
    if (!is_legal_prefix(algorithm, directives, count, options, solver)) continue;
    d.where = directives[count].where;
    break;
  }
  throw CompileError(d);
}

}  // namespace polyhalite
