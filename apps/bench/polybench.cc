// polyhalite_bench_polybench: PolyBench's stencils at its LARGE sizes, tiled in time, against plain
// loops compiled by gcc, clang and Polly, in one run, taking turns.
#include <dlfcn.h>
#include <polyhalite/polyhalite.h>
#include <polyhalite_runtime.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/bench/interleave.h"
#include "apps/bench/polybench_large.h"
#include "apps/polybench/kernel.h"

namespace {

using namespace polyhalite_apps;
using polyhalite::Buffer;
using polyhalite::Expr;

struct Peer {
  std::string name, path;
};

struct Measured {
  const char *program, *schedule, *function;
  std::vector<int> sizes;  // without the steps
  // Which array of the plain loops holds image k at first; and which of them result k is in.
  std::vector<int> images, results;
  int arrays;
};

const std::vector<Measured> kMeasured = {
    {"jacobi-2d", "time tiled", "jacobi_2d", {large::kJacobi}, {0, 1}, {0}, 2},
    {"heat-3d", "time tiled", "heat_3d", {large::kHeat}, {0, 1}, {0}, 2},
    {"fdtd-2d",
     "time tiled",
     "fdtd_2d",
     {large::kFdtdX, large::kFdtdY},
     {0, 1, 2, 3},
     {1, 0, 2},
     4},
    {"seidel-2d", "time tiled", "seidel_2d", {large::kSeidel}, {0}, {0}, 1},
    {"adi", "lines", "adi", {large::kAdi}, {0}, {0}, 4},
};

struct Seconds {
  std::vector<double> wall, cpu;
};

void time_into(Seconds *times, const std::function<void()> &run) {
  const double before = cpu_seconds();
  times->wall.push_back(seconds_of(run));
  times->cpu.push_back(cpu_seconds() - before);
}

std::vector<int> extents(const Kernel::Shape &shape, const std::vector<int> &sizes) {
  std::vector<int> result;
  for (const int k : shape) result.push_back(sizes[k]);
  return result;
}

using Plain = void (*)(int, double *const *);

Plain find_function(const Peer &peer, const char *name) {
  void *library = dlopen(peer.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, name) : nullptr;
  if (!symbol) throw std::runtime_error(peer.name + ": " + dlerror());
  return reinterpret_cast<Plain>(symbol);
}

void bench(const Measured &m, const std::vector<Peer> &peers, int steps, int rounds) {
  std::vector<int> sizes = m.sizes;
  sizes.insert(sizes.begin(), steps);
  std::vector<Expr> fixed(sizes.begin(), sizes.end());
  const auto programs = stencil_programs();
  const auto program = std::find_if(programs.begin(), programs.end(), [&](const Program &p) {
    return p.name == std::string(m.program);
  });
  Kernel kernel(fixed, m.schedule);
  program->describe(kernel);
  polyhalite::Pipeline pipeline(kernel.results());
  const double compile = seconds_of([&] { pipeline.compile_jit(); });

  std::vector<Buffer<double>> images, results;
  for (size_t k = 0; k < kernel.images().size(); k++) {
    images.emplace_back(extents(kernel.image_shapes()[k], sizes));
    double at = 0;
    images.back().for_each_value([&](double &v) { v = 0.5 + 0.5 * std::sin(at += 0.37); });
    kernel.images()[k].set(images.back());
  }
  for (const Kernel::Shape &shape : kernel.result_shapes()) {
    results.emplace_back(extents(shape, sizes));
  }
  polyhalite::Realization realization(
      std::vector<polyhalite::Buffer<>>(results.begin(), results.end()));

  const size_t largest = images[0].number_of_elements();
  std::vector<std::vector<double>> arrays(static_cast<size_t>(m.arrays));
  std::vector<double *> pointers;
  for (std::vector<double> &a : arrays) {
    a.resize(std::max(largest, static_cast<size_t>(steps)));
    pointers.push_back(a.data());
  }
  auto start_over = [&] {
    for (std::vector<double> &a : arrays) std::fill(a.begin(), a.end(), 0.0);
    for (size_t k = 0; k < m.images.size(); k++) {
      const double *from = images[k].data();
      std::copy(from, from + images[k].number_of_elements(), pointers[m.images[k]]);
    }
  };

  Seconds one, two;
  std::vector<Seconds> theirs(peers.size());
  double apart = 0;
  pipeline.realize(realization);  // pages are there from then on
  for (int round = 0; round < rounds; round++) {
    polyhalite_set_num_threads(1);
    time_into(&one, [&] { pipeline.realize(realization); });
    polyhalite_set_num_threads(2);
    time_into(&two, [&] { pipeline.realize(realization); });
    for (size_t p = 0; p < peers.size(); p++) {
      const Plain plain = find_function(peers[p], m.function);
      start_over();
      time_into(&theirs[p], [&] { plain(steps, pointers.data()); });
      for (size_t k = 0; k < results.size(); k++) {
        const double *ours = results[k].data(), *right = pointers[m.results[k]];
        for (size_t i = 0; i < results[k].number_of_elements(); i++) {
          const double error = std::abs(ours[i] - right[i]) / std::max(1.0, std::abs(right[i]));
          if (!(error <= apart)) apart = error;
        }
      }
    }
  }
  std::printf("%-10s %7.2f | %7.2f %7.2f %7.2f |", m.program, compile, median(one.cpu),
              median(two.wall), median(two.cpu));
  double best_cpu = std::numeric_limits<double>::max(), best_wall = best_cpu;
  for (size_t p = 0; p < peers.size(); p++) {
    best_cpu = std::min(best_cpu, median(theirs[p].cpu));
    best_wall = std::min(best_wall, median(theirs[p].wall));
    std::printf(" %7.2f", median(theirs[p].cpu));
  }
  std::printf(" | %6.2f %6.2f | %.1e\n", best_cpu / median(one.cpu), best_wall / median(two.wall),
              apart);
  std::fflush(stdout);
  if (!(apart < 1e-9)) throw std::runtime_error(std::string(m.program) + ": results differ");
}

}  // namespace

int main(int argc, char **argv) {
  std::string filter = ".";
  int rounds = 3, steps = large::kSteps;
  CLI::App cli("PolyBench's stencils at its LARGE sizes, tiled in time, against plain loops");
  cli.add_option("--filter", filter, "run what this regular expression finds")
      ->capture_default_str();
  cli.add_option("--rounds", rounds, "rounds per figure, of which the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  cli.add_option("--steps", steps, "steps of time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(cli, argc, argv);
  try {
    const std::vector<Peer> peers = {POLYBENCH_PEERS};
    std::printf("%d steps of time; seconds, median of %d rounds; ratios: the best peer's by ours\n",
                steps, rounds);
    std::printf("%-10s %7s | %7s %7s %7s |", "program", "compile", "CPU, 1", "wall, 2", "CPU, 2");
    for (const Peer &p : peers) std::printf(" %7s", p.name.c_str());
    std::printf(" | %6s %6s | %s\n", "CPU", "wall", "apart");
    for (const Measured &m : kMeasured) {
      if (std::regex_search(m.program, std::regex(filter))) bench(m, peers, steps, rounds);
    }
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "polyhalite_bench_polybench: %s\n", error.what());
    return 1;
  }
}
