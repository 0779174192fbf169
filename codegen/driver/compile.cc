#include "codegen/driver/compile.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "codegen/passes/lower.h"
#include "codegen/passes/pass.h"
#include "lang/ir/resolve_target.h"
#include "polyhedral/judge.h"

namespace polyhalite {

namespace {

int64_t nanoseconds() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Passes are verified in builds without optimisation and wherever PH_VERIFY asks for it.
bool verifies_passes() {
#ifndef __OPTIMIZE__
  return true;
#else
  const char *wish = std::getenv("PH_VERIFY");
  return wish && *wish && std::strcmp(wish, "0") != 0;
#endif
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
  options.verify = verifies_passes();
  options.scalar = scalar;
  result.function =
      run_passes(lower(name, judged.tree, judged.survey, lowering_options), target, options);
  result.times.lower = lowering.seconds();
  result.tree = std::move(judged.tree);
  return result;
}

}  // namespace polyhalite
