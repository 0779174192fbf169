#include "apps/bench/compile_times.h"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "apps/bench/interleave.h"
#include "apps/common/pipelines.h"
#include "lang/ir/freeze.h"
#include "polyhalite/polyhalite.h"

extern char **environ;

namespace polyhalite_apps {
namespace {

using namespace polyhalite;

// Three 1-D filters over each other, each with its own schedule.
FrozenPipeline three_stages() {
  Var x("x"), y("y"), xi("xi"), yi("yi");
  ImageParam in(Float(32), 2, "in");
  Func across("across"), down("down"), detail("detail");
  across(x, y) = in(x, y) + 2.0f * in(x + 1, y) + in(x + 2, y);
  down(x, y) = across(x, y) + 2.0f * across(x, y + 1) + across(x, y + 2);
  detail(x, y) = in(x + 1, y + 1) - down(x, y) * (1.0f / 16);
  detail.tile(x, y, xi, yi, 128, 32).vectorize(xi, 8).parallel(y);
  down.compute_at(detail, yi).vectorize(x, 8);
  across.compute_at(detail, x).vectorize(x, 8);
  return freeze({detail.function()});
}

double run_generator(const std::string &program, const std::string &app) {
  const std::string folder = (std::filesystem::temp_directory_path() / "polyhalite_bench").string();
  std::filesystem::create_directories(folder);
  std::vector<std::string> words{
      program, "-g", app, "-f", app, "-o", folder, "-e", "object", "target=host", "schedule=good"};
  std::vector<char *> arguments;
  for (std::string &w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  int status = 0;
  const double seconds = seconds_of([&] {
    pid_t child = 0;
    if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
      throw std::runtime_error("cannot run " + program);
    }
    waitpid(child, &status, 0);
  });
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(program + " failed");
  }
  return seconds;
}

}  // namespace

CompileTimes jit_times(const std::string &app, int rounds) {
  const FrozenPipeline pipeline = app == "three_stages" ? three_stages() : frozen_app(app, "good");
  std::vector<CompileTimes> times;
  for (int i = 0; i < rounds; i++) {
    times.push_back(backend().jit(pipeline, get_jit_target_from_environment())->times());
  }
  std::sort(times.begin(), times.end(),
            [](const CompileTimes &a, const CompileTimes &b) { return a.total() < b.total(); });
  return times[times.size() / 2];
}

GeneratorTimes generator_times(const std::string &app, int rounds) {
  const std::string folder = POLYHALITE_GENERATOR_FOLDER "/";
  std::vector<double> ours, halide;
  for (int i = 0; i < rounds; i++) {
    ours.push_back(run_generator(folder + app + "_generator", app));
    if (POLYHALITE_HAVE_HALIDE) {
      halide.push_back(run_generator(folder + "halide_" + app + "_generator", app));
    }
  }
  return {median(ours), median(halide)};
}

}  // namespace polyhalite_apps
