// polyhalite_bench_autosched: applications scheduled by our auto-scheduler and by Halide 14's
// Adams2019, from one source, in one run: seconds of the generator's run, search and code included,
// and times of the code. Both run their generators here, so that the figures belong together.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/common/app_case.h"
#include "apps/common/two_core_probe.h"
#include "polyhalite/target.h"

extern char **environ;

namespace {

using polyhalite_apps::AnyBuffer;
using polyhalite_apps::AppCase;

const std::vector<std::string> kApps = {"blur",          "unsharp", "harris",       "local_laplacian",
                                        "hist",          "matmul",  "stencil_chain"};
// Where a search for all alternatives takes minutes and gigabytes.
const std::vector<std::string> kNarrowBeam = {"local_laplacian", "stencil_chain"};

struct Options {
  std::string filter = ".", folder, generators = POLYHALITE_GENERATOR_FOLDER, words;
  std::string photograph = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg";
  int threads = 2, rounds = 15;
};

double seconds_of(const std::function<void()> &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    throw std::runtime_error("cannot run " + words[0]);
  }
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(words[0] + " failed");
  }
}

// This machine in the words that Halide 14 knows, without what it takes other processors' for.
std::string halides_target() {
  using polyhalite::Target;
  return polyhalite::get_host_target()
      .without_feature(Target::AVX512_Zen4)
      .without_feature(Target::AVX512_Zen5)
      .without_feature(Target::AVX512_SapphireRapids)
      .to_string();
}

// A pipeline compiled by one system, in a library of its own with that system's runtime.
class Compiled {
 public:
  Compiled(const Options &o, const std::string &app, bool ours) {
    const std::string function = (ours ? "ph_" : "halide_") + app + "_auto";
    const std::string program = o.generators + (ours ? "/" : "/halide_") + app + "_generator";
    std::vector<std::string> words = {program, "-g", app, "-f", function, "-o", o.folder, "-e",
                                      "static_library,c_header,schedule", "schedule=auto"};
    const std::string threads = std::to_string(o.threads);
    if (ours) {
      for (const char *w : {"target=host", "autoscheduler=polyhalite"}) words.push_back(w);
      words.push_back("autoscheduler.parallelism=" + threads);
      for (size_t i = 0; i < o.words.size();) {
        const size_t end = std::min(o.words.find(' ', i), o.words.size());
        if (end > i) words.push_back(o.words.substr(i, end - i));
        i = end + 1;
      }
    } else {
      const std::string beam =
          std::count(kNarrowBeam.begin(), kNarrowBeam.end(), app) ? "1" : "32";
      setenv("HL_BEAM_SIZE", beam.c_str(), 1);
      const std::vector<std::string> adams = {
          "-p", ADAMS2019_PLUGIN, "-s", "Adams2019", "auto_schedule=true",
          "target=" + halides_target(),
          "machine_params=" + threads + ",16777216,40"};
      words.insert(words.end(), adams.begin(), adams.end());
    }
    generator_seconds = seconds_of([&] { run(words); });
    const std::string library = o.folder + "/" + function + ".so";
    run({"c++", "-shared", "-o", library, "-Wl,--whole-archive", o.folder + "/" + function + ".a",
         "-Wl,--no-whole-archive", "-lpthread", "-ldl"});
    handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw std::runtime_error(dlerror());
    entry_ = reinterpret_cast<int (*)(void **)>(find(function + "_argv"));
    const auto set_threads = reinterpret_cast<int (*)(int)>(
        find(ours ? "polyhalite_set_num_threads" : "halide_set_num_threads"));
    set_threads(o.threads);
  }

  void operator()(AppCase &app) const {
    std::vector<void *> args = app.arguments();
    if (entry_(args.data()) != 0) throw std::runtime_error("a run of " + app.name + " failed");
  }
  double generator_seconds = 0;

 private:
  void *find(const std::string &name) const {
    void *symbol = dlsym(handle_, name.c_str());
    if (!symbol) throw std::runtime_error("no function " + name);
    return symbol;
  }
  void *handle_ = nullptr;
  int (*entry_)(void **) = nullptr;
};

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

// True where both cores deliver what two cores should.
bool quiet(int threads) {
  return threads == 1 || polyhalite_apps::probe_two_cores().ratio() >= polyhalite_apps::kTwoCoreRatio;
}

void bench(const Options &o, const std::string &name, const polyhalite_apps::Image &photograph) {
  AppCase app = polyhalite_apps::make_app_case(name, photograph,
                                               polyhalite_apps::measured_extent(name));
  const Compiled ours(o, name, true), halide(o, name, false);
  AppCase theirs = app;
  theirs.output = AnyBuffer::make_with_shape_of(app.output);
  ours(app);
  halide(theirs);
  const double apart = polyhalite_apps::difference(app.output, theirs.output);
  const double once = seconds_of([&] { ours(app); });
  const int repeats = std::max(1, static_cast<int>(std::ceil(0.02 / once)));
  std::vector<double> our_times, their_times;
  int repeated = 0;
  while (static_cast<int>(our_times.size()) < o.rounds && repeated < 20 * o.rounds) {
    if (!quiet(o.threads)) {
      repeated++;
      continue;
    }
    double times[2];
    for (const int turn : {0, 1}) {
      const bool our_turn = (turn == 0) == (our_times.size() % 2 == 0);
      times[our_turn ? 0 : 1] = seconds_of([&] {
                                  for (int i = 0; i < repeats; i++) our_turn ? ours(app) : halide(theirs);
                                }) / repeats;
    }
    if (!quiet(o.threads)) {
      repeated++;
      continue;
    }
    our_times.push_back(times[0]);
    their_times.push_back(times[1]);
  }
  if (our_times.empty()) {
    std::printf("%-16s two cores did not deliver two cores' work\n", name.c_str());
    return;
  }
  const double a = median(our_times), b = median(their_times);
  std::printf("%-16s %9.2f %9.2f %7.2f %11.2f %11.2f %s\n", name.c_str(), a * 1e3, b * 1e3, b / a,
              ours.generator_seconds, halide.generator_seconds,
              apart <= app.tolerance ? "" : "DIFFERENT RESULTS");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char **argv) {
  Options o;
  CLI::App cli("Our auto-scheduler against Halide 14's Adams2019, from one source, in one run");
  cli.add_option("--filter", o.filter, "applications that this regular expression finds");
  cli.add_option("--threads", o.threads)->check(CLI::Range(1, 2))->capture_default_str();
  cli.add_option("--rounds", o.rounds)->check(CLI::PositiveNumber)->capture_default_str();
  cli.add_option("--with", o.words, "more words for our generators: autoscheduler.beam=32 ...");
  cli.add_option("--generators", o.generators, "where the generators' programs are");
  cli.add_option("--photograph", o.photograph)->capture_default_str();
  CLI11_PARSE(cli, argc, argv);
  try {
    o.folder = (std::filesystem::temp_directory_path() / "polyhalite_bench_autosched").string();
    std::filesystem::create_directories(o.folder);
    const polyhalite_apps::Image photograph = polyhalite_apps::load_image(o.photograph);
    std::printf("%-16s %9s %9s %7s %11s %11s\n", "app", "ms", "Adams ms", "speed", "generator s",
                "Adams' s");
    const std::regex wanted(o.filter);
    for (const std::string &app : kApps) {
      if (std::regex_search(app, wanted)) bench(o, app, photograph);
    }
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "polyhalite_bench_autosched: %s\n", error.what());
    return 1;
  }
}
