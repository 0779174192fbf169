#include "codegen/driver/compile.h"

#include <atomic>
#include <chrono>

#include "codegen/passes/lower.h"
#include "codegen/passes/pass.h"
#include "codegen/proof/check_loops.h"
#include "lang/ir/resolve_target.h"
#include "polyhalite/verification.h"
#include "polyhedral/judge.h"

namespace polyhalite {

namespace {

int64_t nanoseconds() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Throws where a proof fails: the compiler is at fault then, not the schedule.
std::vector<std::string> prove_again(const LoopTree &tree, const Survey &survey,
                                     const Function &lowered) {
  dataflow::ProveOptions options;
  options.operations = 60'000;  // some tenths of a second at most for each Func
  std::vector<std::string> lines;
  for (const dataflow::Finding &f : check_loops(tree, survey, lowered, options)) {
    lines.push_back(f.verdict == dataflow::Finding::Proven
                        ? "proven again: '" + f.func + "'"
                        : "not proven again: '" + f.func + "': " + f.why);
  }
  return lines;
}

}  // namespace

Stopwatch::Stopwatch() : start_(nanoseconds()) {}
double Stopwatch::seconds() const { return 1e-9 * static_cast<double>(nanoseconds() - start_); }

LoweredPipeline lower_pipeline(const FrozenPipeline &frozen, const std::string &name,
                               const Target &target, bool scalar) {
  LoweredPipeline result;
  const FrozenPipeline pipeline = resolve_target(frozen, target);
  JudgeOptions judging;
  judging.kernels = target.has_feature(Target::CUDA);
  Judged judged = build_and_judge(pipeline.algorithm, pipeline.directives, judging);
  result.times.schedule = judged.schedule_seconds;
  result.times.survey = judged.survey_seconds;
  result.times.judge = judged.judgement.seconds;
  result.promises = promises(judged.judgement);
  if (target.has_feature(Target::NoAsserts)) {
    result.promises.push_back("promised: what '" + name +
                              "' would check of its arguments (no_asserts)");
  }

  const Stopwatch lowering;
  LowerOptions lowering_options;
  lowering_options.bounds_queries = !target.has_feature(Target::NoBoundsQuery);
  if (target.bits == 32) {
    lowering_options.buffer_limit = target.maximum_buffer_size();
  } else if (default_buffer_limit() && !target.has_feature(Target::LargeBuffers)) {
    lowering_options.buffer_limit = *default_buffer_limit();
  }
  lowering_options.memory_name = name;
  if (target.has_feature(Target::JIT)) {
    static std::atomic<uint64_t> compilations{0};
    lowering_options.memory_name += "#" + std::to_string(++compilations);
  }
  lowering_options.trace_all = {
      target.has_feature(Target::TraceLoads), target.has_feature(Target::TraceStores),
      target.has_feature(Target::TraceRealizations), target.has_feature(Target::TracePipeline)};
  lowering_options.profile =
      target.features_any_of({Target::Profile, Target::ProfileByTimer, Target::ProfileCounts});
  PassOptions options;
  const Verification wanted = verification();
  options.verify = wanted != Verification::None;
  options.scalar = scalar;
  const Function lowered = lower(name, judged.tree, judged.survey, lowering_options);
  if (wanted == Verification::Full) {
    const Stopwatch proving;
    result.proven_again = prove_again(judged.tree, judged.survey, lowered);
    result.times.verify = proving.seconds();
  }
  result.function = run_passes(lowered, target, options);
  result.times.lower = lowering.seconds() - result.times.verify;
  result.tree = std::move(judged.tree);
  return result;
}

}  // namespace polyhalite
