// The freeze's question: is this list of directives legal, and if not, which one is to blame?
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "lang/asking.h"
#include "polyhalite/target.h"
#include "polyhedral/judge_context.h"
#include "schedule/build_tree.h"
#include "schedule/check_kernels.h"

namespace polyhalite {

namespace {

using Clock = std::chrono::steady_clock;

// What may be inlined in search of the directive to blame.
constexpr int64_t kSearchedOperations = 500000;

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

bool is_legal_prefix(const Algorithm &algorithm, const std::vector<Directive> &directives,
                     size_t count, const JudgeOptions &options, Solver &solver, int64_t *work) {
  const Asking asking;
  try {
    const LoopTree tree =
        build_tree(algorithm, {directives.begin(), directives.begin() + count}, work);
    return judge_with(tree, survey(tree), options, solver).legal();
  } catch (const CompileError &) {
    // A prefix that lacks what later directives add, such as a bound(), is no legal schedule.
    return false;
  }
}

bool is_copy(const FuncDef &f) {
  if (f.num_definitions() != 1) return false;
  return std::all_of(f.stages[0].values.begin(), f.stages[0].values.end(), [](const Expr &value) {
    const CallNode *c = as_call(value);
    return c && (c->kind == CallKind::Func || c->kind == CallKind::Image);
  });
}

bool runs_in_kernel(const Directive &d) {
  const bool loops = d.kind == DirectiveKind::GpuBlocks || d.kind == DirectiveKind::GpuThreads ||
                     d.kind == DirectiveKind::GpuLanes;
  return loops && (d.device == DeviceAPI::Default_GPU || d.device == DeviceAPI::CUDA);
}

// Processors have instructions that sum along the last of their loops; lowering knows which.
bool sums_in_tensor(const LoopTree &tree, const Directive &d) {
  const StageId stage{tree.algorithm.index_of(d.func), d.stage};
  return stage.func >= 0 && tree.tensor(stage) &&
         tree.loops[tree.nest(stage).loops.back()].is_reduction;
}

// Other devices have words, and no code: the last place that has a user's line refuses. A copy to
// the host of what is there already is a copy; one to the device that kernels run on is made when
// the first kernel needs it.
void refuse_devices(const LoopTree &tree, const std::vector<Directive> &directives, bool kernels) {
  for (const Directive &d : directives) {
    if (d.kind == DirectiveKind::StoreIn && !kernels &&
        d.option == memory_type_name(MemoryType::GPUShared)) {
      user_error("cannot store '" + d.func + "' in MemoryType::" + d.option,
                 "the targets that are compiled for have no such memory",
                 "use Auto, Heap, Stack or Register", d.where);
    }
    if (d.kind == DirectiveKind::Tensorize && (kernels || sums_in_tensor(tree, d))) continue;
    if (!concerns_device(d.kind) || (kernels && runs_in_kernel(d))) continue;
    const bool moves = d.kind == DirectiveKind::CopyToHost ||
                       (d.kind == DirectiveKind::CopyToDevice && kernels &&
                        (d.device == DeviceAPI::Default_GPU || d.device == DeviceAPI::CUDA));
    const FuncDef *f = moves ? tree.algorithm.find(d.func) : nullptr;
    if (f && is_copy(*f)) continue;
    if (f) {
      const std::string word = directive_name(d.kind);
      user_error(
          "cannot " + word + " '" + d.func + "'", "it is no copy of another Func",
          "define it as one, as in g(x, y) = f(x, y), or call " + word + " on " + d.func + ".in()",
          d.where);
    }
    const std::string device = d.kind == DirectiveKind::Hexagon        ? "Hexagon"
                               : d.kind == DirectiveKind::SmeStreaming ? "the streaming mode of SME"
                               : d.device == DeviceAPI::Default_GPU    ? "a GPU"
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
  refuse_devices(tree, directives, options.kernels);
  check_kernels(tree);
  Survey regions = survey(tree);
  const auto surveyed = Clock::now();
  Judgement judgement = judge_with(tree, regions, options, solver);
  if (judgement.legal()) {
    for (const Diagnostic &w : regions.warnings) user_warning(w.what, w.why, w.fix, w.where);
    return {std::move(tree), std::move(regions), std::move(judgement), seconds(built - start),
            seconds(surveyed - built)};
  }
  // Legality comes and goes with directives, so that the longest legal prefix is looked for from
  // the end; what follows it is to blame.
  // Where too much is inlined without the rest of the schedule, the search ends.
  Diagnostic d = judgement.refusal->diagnostic;
  int64_t work = kSearchedOperations;
  for (size_t count = directives.size(); count-- > 0 && work > 0;) {
    if (!is_legal_prefix(algorithm, directives, count, options, solver, &work)) continue;
    d.where = directives[count].where;
    break;
  }
  throw CompileError(d);
}

}  // namespace polyhalite
