#include "codegen/driver/explain/stage_times.h"

#include <algorithm>
#include <map>

#include "autosched/estimates.h"
#include "codegen/driver/compile.h"
#include "codegen/driver/made_up_arguments.h"
#include "codegen/driver/runs_here.h"
#include "codegen/llvm/jit.h"

namespace polyhalite {

namespace {

// The profiler takes a sample each millisecond.
constexpr double kEnoughSeconds = 0.6;
constexpr int kMostRuns = 2000;

// Sums over the runs.
struct Sums {
  double time = 0, all = 0;
  int runs = 0;
  struct OfFunc {
    double time = 0, threads = 0, samples = 0, heap = 0;
  };
  std::map<std::string, OfFunc> funcs;  // "malloc" and "free" under one name
  std::map<std::string, bool> is_func;

  void add(const polyhalite_profiler_pipeline_stats *list, const std::string &name) {
    for (auto *p = list; p; p = static_cast<const polyhalite_profiler_pipeline_stats *>(p->next)) {
      if (name != p->name) continue;  // another thread's
      time += static_cast<double>(p->time);
      runs += p->runs;
      for (int i = 0; i < p->num_funcs; i++) add(p->funcs[i], i);
    }
  }

  void add(const polyhalite_profiler_func_stats &f, int index) {
    std::string name = f.name;
    if (index == POLYHALITE_PROFILE_OVERHEAD) name = "the rest";
    if (index == POLYHALITE_PROFILE_MALLOC || index == POLYHALITE_PROFILE_FREE) name = "memory";
    if (index == POLYHALITE_PROFILE_IDLE) name = "waiting";
    is_func[name] = index >= POLYHALITE_PROFILE_FIRST_FUNC;
    OfFunc &of = funcs[name];
    of.time += static_cast<double>(f.time);
    all += static_cast<double>(f.time);
    of.threads += static_cast<double>(f.active_threads_numerator);
    of.samples += static_cast<double>(f.active_threads_denominator);
    of.heap = std::max(of.heap, static_cast<double>(f.memory_peak));
  }
};

Sums run(const FrozenPipeline &pipeline, const Target &given) {
  check_runs_here(given);
  const std::string name = "explained";
  const Algorithm &a = pipeline.algorithm;
  const autosched::Estimates sizes = autosched::find_estimates(pipeline);
  std::vector<autosched::NumberBox> outputs;
  for (const std::string &o : a.outputs) outputs.push_back(sizes.outputs.at(o));
  const Target target = given.with_feature(Target::Profile);
  const JitCode code(lower_pipeline(pipeline, name, target).function, target);
  Sums sums;
  auto call = [&](const MadeUpArguments &arguments, Sums *to) {
    std::string message;
    const JitCode::UseProfile use = [&](const polyhalite_profiler_pipeline_stats *p) {
      if (to) to->add(p, name);
    };
    if (code.call(arguments.pointers(), &message, nullptr, use) != 0) {
      user_error("the run failed", message,
                 "give set_estimates() sizes that the pipeline can be run for");
    }
  };
  const MadeUpArguments query(a, {}, outputs);
  MadeUpArguments::Boxes boxes;
  if (std::any_of(a.inputs.begin(), a.inputs.end(),
                  [](const AlgorithmInput &i) { return i.param->is_buffer; })) {
    call(query, nullptr);
    boxes = query.image_boxes();
  }
  const MadeUpArguments arguments(a, boxes, outputs);
  call(arguments, nullptr);  // warms up
  const Stopwatch watch;
  for (int i = 0; i < kMostRuns && (i == 0 || watch.seconds() < kEnoughSeconds); i++) {
    call(arguments, &sums);
  }
  return sums;
}

}  // namespace

StageTimes stage_times(const FrozenPipeline &pipeline, const Target &target) {
  StageTimes result;
  Sums sums;
  try {
    sums = run(pipeline, target);
  } catch (const CompileError &e) {
    result.failure = e.diagnostic().to_string();
    return result;
  }
  result.runs = sums.runs;
  result.ms = sums.time / 1e6 / std::max(sums.runs, 1);
  for (const auto &[name, f] : sums.funcs) {
    const double share = sums.all > 0 ? f.time / sums.all : 0;
    if (!sums.is_func.at(name) && share == 0) continue;
    result.stages.push_back({name, sums.is_func.at(name), share * result.ms, share,
                             f.samples > 0 ? f.threads / f.samples : 0, f.heap});
  }
  std::stable_sort(result.stages.begin(), result.stages.end(),
                   [](const StageTime &x, const StageTime &y) { return x.share > y.share; });
  return result;
}

}  // namespace polyhalite
