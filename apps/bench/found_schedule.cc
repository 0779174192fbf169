#include "apps/bench/found_schedule.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "apps/bench/interleave.h"
#include "polyhalite/target.h"

extern char **environ;

namespace polyhalite_apps {

namespace {

// Where a search for all alternatives takes minutes and gigabytes.
const std::vector<std::string> kNarrowBeam = {"local_laplacian", "stencil_chain"};

// Returns the processor's seconds.
double run(std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  rusage usage{};
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    throw std::runtime_error("cannot run " + words[0]);
  }
  wait4(child, &status, 0, &usage);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(words[0] + " failed");
  }
  const auto seconds = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// This machine in the words that Halide 14 knows, without what it takes other processors' for.
std::string halides_target() {
  using polyhalite::Target;
  Target target = polyhalite::get_host_target()
                      .without_feature(Target::AVX512_Zen4)
                      .without_feature(Target::AVX512_Zen5)
                      .without_feature(Target::AVX512_SapphireRapids);
  target.processor_tune = Target::ProcessorGeneric;  // Halide 14 has no words for it
  return target.to_string();
}

std::string text_of(const std::string &file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// A buffer without memory: a pipeline that gets it says what it needs.
struct Query {
  explicit Query(AnyBuffer &b) : buffer(*b.raw_buffer()) {
    dims.assign(buffer.dim, buffer.dim + buffer.dimensions);
    buffer.dim = dims.data();
    buffer.host = nullptr;
    buffer.device = 0;
  }
  std::vector<polyhalite_dimension_t> dims;
  polyhalite_buffer_t buffer;
};

}  // namespace

FoundSchedule::FoundSchedule(const SearchOptions &o, const std::string &app, bool ours) {
  const std::string threads = std::to_string(o.threads);
  const std::string function = (ours ? "ph_" : "halide_") + app + "_auto" + threads;
  const std::string program = o.generators + (ours ? "/" : "/halide_") + app + "_generator";
  std::vector<std::string> words = {program,        "-g",     app,
                                    "-f",           function, "-o",
                                    o.folder,       "-e",     "static_library,c_header,schedule",
                                    "schedule=auto"};
  if (ours) {
    words.insert(words.end(), {"target=host", "autoscheduler=polyhalite",
                               "autoscheduler.parallelism=" + threads});
    words.insert(words.end(), o.words.begin(), o.words.end());
  } else {
    const bool narrow = std::count(kNarrowBeam.begin(), kNarrowBeam.end(), app) > 0;
    setenv("HL_BEAM_SIZE", std::to_string(o.beam > 0 ? o.beam : narrow ? 1 : 32).c_str(), 1);
    words.insert(words.end(),
                 {"-p", ADAMS2019_PLUGIN, "-s", "Adams2019", "auto_schedule=true",
                  "target=" + halides_target(), "machine_params=" + threads + ",16777216,40"});
  }
  generator_seconds = seconds_of([&] { generator_cpu_seconds = run(words); });
  schedule = text_of(o.folder + "/" + function + (ours ? ".schedule" : ".schedule.h"));
  const std::string library = o.folder + "/" + function + ".so";
  // Each with its own runtime: this program's, which has other threads, would come first.
  run({"c++", "-shared", "-Wl,-Bsymbolic", "-o", library, "-Wl,--whole-archive",
       o.folder + "/" + function + ".a", "-Wl,--no-whole-archive", "-lpthread", "-ldl"});
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) throw std::runtime_error(dlerror());
  entry_ = reinterpret_cast<int (*)(void **)>(find(function + "_argv"));
  const auto set_threads = reinterpret_cast<int (*)(int)>(
      find(ours ? "polyhalite_set_num_threads" : "halide_set_num_threads"));
  set_threads(o.threads);
}

void FoundSchedule::operator()(AppCase &app) const {
  std::vector<void *> args = app.arguments();
  if (entry_(args.data()) != 0) throw std::runtime_error("a run of " + app.name + " failed");
}

bool FoundSchedule::survives(AppCase &app) const {
  std::vector<void *> args = app.arguments();
  const pid_t child = fork();
  if (child == 0) _exit(entry_(args.data()) == 0 ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

void FoundSchedule::make_room(AppCase *app) const {
  std::vector<void *> args = app->arguments();
  std::vector<Query> queries;
  queries.reserve(app->inputs.size());
  for (size_t i = 0; i < app->inputs.size(); i++) {
    queries.emplace_back(app->inputs[i]);
    args[i] = &queries[i].buffer;
  }
  if (entry_(args.data()) != 0) {
    throw std::runtime_error(app->name + " does not say what it reads");
  }
  for (size_t i = 0; i < app->inputs.size(); i++) {
    AnyBuffer &given = app->inputs[i];
    std::vector<int> mins, extents;
    bool enough = true;
    for (int d = 0; d < given.dimensions(); d++) {
      const polyhalite_dimension_t &needed = queries[i].dims[static_cast<size_t>(d)];
      const int min = std::min(given.dim(d).min(), needed.min);
      const int end = std::max(given.dim(d).max() + 1, needed.min + needed.extent);
      enough = enough && min == given.dim(d).min() && end == given.dim(d).max() + 1;
      mins.push_back(min);
      extents.push_back(end - min);
    }
    if (enough) continue;
    AnyBuffer larger(given.type(), extents);
    larger.set_min(mins);
    std::memset(larger.data(), 0, larger.size_in_bytes());
    larger.copy_from(given);
    given = larger;
  }
}

void *FoundSchedule::find(const std::string &name) const {
  void *symbol = dlsym(handle_, name.c_str());
  if (!symbol) throw std::runtime_error("no function " + name);
  return symbol;
}

}  // namespace polyhalite_apps
