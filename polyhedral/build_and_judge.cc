// The freeze's question: is this list of directives legal, and if not, which one is to blame?
#include <chrono>
#include <optional>
#include <utility>

#include "polyhalite/target.h"
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

// Devices have words, and no code yet: the last place that has a user's line refuses.
void refuse_devices(const std::vector<Directive> &directives) {
  for (const Directive &d : directives) {
    if (!concerns_device(d.kind)) continue;
    const std::string device = d.kind == DirectiveKind::Hexagon     ? "Hexagon"
                               : d.kind == DirectiveKind::SmeStreaming
                                   ? "the streaming mode of SME"
                               : d.device == DeviceAPI::Default_GPU ? "a GPU"
                                                                    : device_api_name(d.device);
    user_error(std::string("cannot ") + directive_name(d.kind) + " on '" + d.func + "': " + device +
                   " is not available",
               "code is made for the processor only", "leave the directive out", d.where);
  }
}

}  // namespace

Judged build_and_judge(const Algorithm &algorithm, const std::vector<Directive> &directives,
                       const JudgeOptions &options) {
  Solver solver(options.isl_operations);
  const auto start = Clock::now();
  LoopTree tree = build_tree(algorithm, directives);
  const auto built = Clock::now();
  refuse_devices(directives);
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
