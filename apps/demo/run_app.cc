#include "apps/demo/run_app.h"

#include <memory>
#include <stdexcept>
#include <vector>

#include "apps/common/check.h"
#include "apps/common/compiled_apps.h"
#include "apps/common/pipelines.h"
#include "apps/demo/timing.h"
#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"
#include "polyhalite/target.h"

namespace polyhalite_apps {
namespace {

using namespace polyhalite;

ScheduledRun run_scheduled(AppCase &app, const FrozenPipeline &pipeline) {
  ScheduledRun result;
  std::shared_ptr<CompiledPipeline> compiled;
  result.compile_seconds =
      seconds_of([&] { compiled = backend().jit(pipeline, get_jit_target_from_environment()); });
  const CompileTimes &times = compiled->times();
  result.judge_percent = 100 * (times.survey + times.judge) / result.compile_seconds;
  const std::vector<void *> arguments = app.arguments();
  result.seconds = median_seconds([&] {
    std::string message;
    if (compiled->call(arguments, &message) != 0) throw std::runtime_error(message);
  });
  const Check check = check_against_interpreter(pipeline.algorithm, app);
  result.points_checked = check.points;
  result.mismatch = check.mismatch;
  return result;
}

double run_halide(AppCase &app) {
  AppCase theirs = app;
  theirs.output = AnyBuffer::make_with_shape_of(app.output);
  return median_seconds([&] {
    if (run_compiled(System::Halide, app.name, "good", theirs.arguments()) != 0) {
      throw std::runtime_error("Halide's " + app.name + " failed");
    }
  });
}

}  // namespace

AppRuns run_app(AppCase &app, const std::function<void(const std::string &)> &progress) {
  AppRuns runs;
  progress(app.name + ": compiling and running without a schedule");
  runs.none = run_scheduled(app, frozen_app(app.name, "none"));
  progress(app.name + ": searching a schedule, compiling and running it");
  FrozenPipeline found;
  runs.search_seconds = seconds_of([&] { found = frozen_app(app.name, "auto"); });
  runs.found = run_scheduled(app, found);
  progress(app.name + ": compiling and running with a good schedule");
  const FrozenPipeline good = frozen_app(app.name, "good");
  runs.good = run_scheduled(app, good);
  if (have_halide()) {
    progress(app.name + ": running Halide 14's");
    runs.halide = run_halide(app);
  }
  const Target target = get_host_target();
  const auto text = [&](Emit what) { return backend().emit_text(good, app.name, target, what); };
  runs.algorithm = text(Emit::algorithm);
  runs.schedule = text(Emit::schedule);
  runs.found_schedule = backend().emit_text(found, app.name, target, Emit::schedule);
  runs.tree = text(Emit::tree);
  runs.loops = text(Emit::stmt);
  runs.assembly = text(Emit::assembly);
  return runs;
}

}  // namespace polyhalite_apps
