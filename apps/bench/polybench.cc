// polyhalite_bench_polybench: PolyBench's programs, each with its schedules, against plain loops
// compiled by gcc, clang and Polly, in one run, taking turns.
#include <dlfcn.h>
#include <polyhalite/polyhalite.h>
#include <polyhalite_runtime.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/bench/interleave.h"
#include "apps/bench/parallel_share.h"
#include "apps/bench/polybench_sizes.h"
#include "apps/polybench/find_schedule.h"
#include "apps/polybench/kernel.h"
#include "apps/polybench/program_case.h"

namespace {

using namespace polyhalite_apps;
using polyhalite::Expr;

struct Peer {
  std::string name, path;
  bool parallel = false;  // takes part with two threads only
};

struct Options {
  std::string filter = ".", data = "medium", schedule = ".";
  int rounds = 5;
  bool print = false;
  bool large() const { return data == "large"; }
};

struct Sizes {
  std::string program, function;
  std::vector<int> medium, large;
};

#define SIZES_ENTRY(name, function, medium, large) \
  {name, #function, {POLYBENCH_EXTENTS medium}, {POLYBENCH_EXTENTS large}},
const std::vector<Sizes> kSizes = {POLYBENCH_SIZES(SIZES_ENTRY)};

using Plain = void (*)(const double *const *, double *const *);

Plain find_function(const Peer &peer, const std::string &name) {
  void *library = dlopen(peer.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, name.c_str()) : nullptr;
  if (!symbol) throw std::runtime_error(peer.name + ": " + dlerror());
  return reinterpret_cast<Plain>(symbol);
}

struct Seconds {
  std::vector<double> wall, cpu;
};

// A figure counts runs of at least this much, so that the clock of threads can tell them apart.
constexpr double kShortest = 0.03;

void time_into(Seconds *times, const std::function<void()> &run) {
  int runs = 0;
  const double before = cpu_seconds();
  double wall = 0, cpu = 0;
  do {
    wall += seconds_of(run);
    cpu = cpu_seconds() - before;
    runs++;
  } while (cpu < kShortest);
  times->wall.push_back(wall / runs);
  times->cpu.push_back(cpu / runs);
}

void bench(const Program &program, const Sizes &sizes, const std::string &schedule,
           const std::vector<Peer> &peers, const Options &options) {
  const std::vector<int> &extents = options.large() ? sizes.large : sizes.medium;
  Kernel kernel(std::vector<Expr>(extents.begin(), extents.end()), schedule);
  program.describe(kernel);
  polyhalite::Pipeline pipeline(kernel.results());
  if (schedule == kFound) {
    const std::string found = find_schedule(kernel, extents);
    if (options.print) std::printf("%s\n", found.c_str());
  }
  const double compile = seconds_of([&] { pipeline.compile_jit(); });
  ProgramCase c(program, kernel, extents);
  for (size_t k = 0; k < c.images.size(); k++) kernel.images()[k].set(c.images[k]);
  polyhalite::Realization realization(
      std::vector<polyhalite::Buffer<>>(c.results.begin(), c.results.end()));

  Seconds one, two;
  std::vector<Seconds> theirs(peers.size());
  double apart = 0;
  pipeline.realize(realization);  // pages are there from then on
  for (int round = 0; round < options.rounds; round++) {
    polyhalite_set_num_threads(1);
    time_into(&one, [&] { pipeline.realize(realization); });
    polyhalite_set_num_threads(2);
    time_into(&two, [&] { pipeline.realize(realization); });
    for (size_t p = 0; p < peers.size(); p++) {
      const Plain plain =
          find_function(peers[p], sizes.function + (options.large() ? "_large" : "_medium"));
      time_into(&theirs[p], [&] { c.expect(plain); });
      apart = std::max(apart, c.apart());
    }
  }
  ParallelShare share;
  pipeline.realize(&share, realization);

  std::printf("%-15s %-13s %7.2f | %9.3f %9.3f %5.2f |", program.name, schedule.c_str(), compile,
              1e3 * median(one.cpu), 1e3 * median(two.wall), share.speedup());
  double best_cpu = std::numeric_limits<double>::max(), best_wall = best_cpu;
  for (size_t p = 0; p < peers.size(); p++) {
    const double wall = median(theirs[p].wall), cpu = median(theirs[p].cpu);
    if (!peers[p].parallel) best_cpu = std::min(best_cpu, cpu);
    best_wall = std::min(best_wall, wall);
    std::printf(" %9.3f", 1e3 * (peers[p].parallel ? wall : cpu));
  }
  std::printf(" | %6.2f %6.2f | %.1e\n", best_cpu / median(one.cpu), best_wall / median(two.wall),
              apart);
  std::fflush(stdout);
  if (!(apart < 1e-9)) throw std::runtime_error(std::string(program.name) + ": results differ");
}

}  // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App cli("PolyBench's programs with their schedules against plain loops");
  cli.add_option("--filter", options.filter, "run the programs that this regular expression finds")
      ->capture_default_str();
  cli.add_option("--schedule", options.schedule, "with the schedules that this one finds")
      ->capture_default_str();
  cli.add_flag("--print", options.print, "print the schedules that the auto-scheduler finds");
  cli.add_option("--data", options.data, "PolyBench's data set")
      ->check(CLI::IsMember({"medium", "large"}))
      ->capture_default_str();
  cli.add_option("--rounds", options.rounds, "rounds per figure, of which the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(cli, argc, argv);
  try {
    const std::vector<Peer> peers = {POLYBENCH_PEERS};
    std::printf(
        "PolyBench's %s sizes; milliseconds, median of %d rounds; ratios: the best peer's by ours\n"
        "share: how much two threads gain where two cores are free, by the tasks' own times\n",
        options.data.c_str(), options.rounds);
    std::printf("%-15s %-13s %7s | %9s %9s %5s |", "program", "schedule", "compile", "CPU, 1",
                "wall, 2", "share");
    for (const Peer &p : peers) std::printf(" %9s", p.name.c_str());
    std::printf(" | %6s %6s | %s\n", "CPU", "wall", "apart");
    for (const Program &program : polybench_programs()) {
      if (!std::regex_search(program.name, std::regex(options.filter))) continue;
      const auto sizes = std::find_if(kSizes.begin(), kSizes.end(),
                                      [&](const Sizes &s) { return s.program == program.name; });
      std::vector<std::string> schedules = program.schedules;
      schedules.insert(schedules.end(), {kFound, "none"});
      for (const std::string &schedule : schedules) {
        if (!std::regex_search(schedule, std::regex(options.schedule))) continue;
        bench(program, *sizes, schedule, peers, options);
      }
    }
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "polyhalite_bench_polybench: %s\n", error.what());
    return 1;
  }
}
