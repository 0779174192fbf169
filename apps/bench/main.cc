// polyhalite_bench: the applications against Halide 14, compiled from one source, in one run.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "apps/bench/compile_times.h"
#include "apps/bench/copies.h"
#include "apps/bench/measure.h"
#include "apps/common/app_case.h"
#include "apps/common/compiled_apps.h"

namespace {

using polyhalite_apps::AppCase;

struct Options {
  std::string filter = ".";
  std::string photograph = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg";
  std::string json;
  int threads = 0;  // 0: one and two
  int rounds = 15;
};

// A line of the closing tables, filled in as benchmarks end.
std::vector<std::string> run_lines, copy_lines, compile_lines;

template <typename... Args>
std::string format(const char *pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

void bench_app(benchmark::State &state, AppCase *app, int threads, int rounds) {
  for (auto _ : state) {
    const auto c = polyhalite_apps::compare(*app, "good", threads, rounds);
    if (!c.failure.empty()) {
      run_lines.push_back(format("%-15s %7d  %s", app->name.c_str(), threads, c.failure.c_str()));
      state.SkipWithError(c.failure.c_str());
      return;
    }
    state.SetIterationTime(c.ours);
    const double rate = app->rate(c.ours);
    state.counters["rate"] = rate;
    state.counters["repeated_rounds"] = c.repeated;
    state.counters["peak_gflops"] = c.peak;
    std::string line = format("%-15s %7d %10.2f", app->name.c_str(), threads, c.ours * 1e3);
    if (c.halide > 0) {
      state.counters["halide_ms"] = c.halide * 1e3;
      state.counters["ratio"] = c.ours / c.halide;
      line += format(" %10.2f %7.2f", c.halide * 1e3, c.ours / c.halide);
    } else {
      line += format(" %10s %7s", "-", "-");
    }
    line += format(" %9.1f %-8s", rate, app->counts_flops() ? "GFLOP/s" : "GB/s");
    if (app->counts_flops()) {
      state.counters["percent_of_peak"] = 100 * rate / c.peak;
      line += format(" %5.0f%%", 100 * rate / c.peak);
    } else {
      line += format(" %6s", "");
    }
    run_lines.push_back(line + format(" %9d", c.repeated));
  }
}

void bench_jit(benchmark::State &state, const std::string &app, int rounds) {
  for (auto _ : state) {
    const polyhalite::CompileTimes t = polyhalite_apps::jit_times(app, rounds);
    state.SetIterationTime(t.total());
    const double share = 100 * (t.survey + t.judge) / t.total();
    state.counters["region_and_judge_percent"] = share;
    compile_lines.push_back(
        format("%-15s in process  %7.3f s   schedule %.3f, regions %.3f, judge "
               "%.3f, lowering %.3f, LLVM %.3f   regions and judge %.0f%%",
               app.c_str(), t.total(), t.schedule, t.survey, t.judge, t.lower, t.llvm, share));
  }
}

void bench_generator(benchmark::State &state, const std::string &app, int rounds) {
  for (auto _ : state) {
    const auto t = polyhalite_apps::generator_times(app, rounds);
    state.SetIterationTime(t.ours);
    std::string line = format("%-15s generator   %7.3f s", app.c_str(), t.ours);
    if (t.halide > 0) {
      state.counters["halide_s"] = t.halide;
      line += format("   Halide %.3f s, ratio %.2f", t.halide, t.ours / t.halide);
    }
    compile_lines.push_back(line);
  }
}

void bench_copies(benchmark::State &state, int rounds) {
  for (auto _ : state) {
    const auto r = polyhalite_apps::copy_rates(rounds);
    state.counters["memcpy"] = r.memcpy;
    state.counters["ordinary"] = r.ordinary;
    state.counters["streamed"] = r.streamed;
    state.SetIterationTime(1 / r.streamed);
    copy_lines.push_back(
        format("memcpy %.1f GB/s, ordinary stores %.1f (%.2f of memcpy), "
               "stream_stores %.1f (%.2f of memcpy)",
               r.memcpy / 1e9, r.ordinary / 1e9, r.ordinary / r.memcpy, r.streamed / 1e9,
               r.streamed / r.memcpy));
  }
}

// One line per benchmark as it ends; the tables follow when all have.
class Progress : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context &) override { return true; }
  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs) {
      std::fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(),
                   run.error_occurred ? run.error_message.c_str() : "done");
      failed |= run.error_occurred;
    }
  }
  bool failed = false;
};

void register_all(std::vector<AppCase> &apps, const Options &options) {
  const auto once = [](benchmark::internal::Benchmark *b) {
    b->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
  };
  for (AppCase &app : apps) {
    for (int threads : {1, 2}) {
      if (options.threads != 0 && threads != options.threads) continue;
      const std::string name = "run/" + app.name + "/threads:" + std::to_string(threads);
      once(benchmark::RegisterBenchmark(name.c_str(), bench_app, &app, threads, options.rounds));
    }
  }
  once(benchmark::RegisterBenchmark("copy", bench_copies, options.rounds));
  std::vector<std::string> compiled{"three_stages"};
  for (const AppCase &app : apps) compiled.push_back(app.name);
  for (const std::string &name : compiled) {
    once(benchmark::RegisterBenchmark(("compile/in_process/" + name).c_str(), bench_jit, name, 5));
  }
  for (const AppCase &app : apps) {
    once(benchmark::RegisterBenchmark(("compile/generator/" + app.name).c_str(), bench_generator,
                                      app.name, 3));
  }
}

}  // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App cli("Polyhalite's applications against Halide 14, from one source, in one run");
  cli.add_option("--filter", options.filter, "run what this regular expression finds")
      ->capture_default_str();
  cli.add_option("--threads", options.threads, "1 or 2; both if not given")
      ->check(CLI::Range(1, 2));
  cli.add_option("--rounds", options.rounds, "rounds per figure, of which the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  cli.add_option("--json", options.json, "write Google Benchmark's JSON to this file");
  cli.add_option("--photograph", options.photograph)->capture_default_str();
  CLI11_PARSE(cli, argc, argv);

  try {
    std::vector<AppCase> apps = polyhalite_apps::make_measured_cases(
        polyhalite_apps::app_names(), polyhalite_apps::load_image(options.photograph));
    register_all(apps, options);
    std::vector<std::string> flags{argv[0], "--benchmark_filter=" + options.filter};
    if (!options.json.empty()) {
      flags.push_back("--benchmark_out=" + options.json);
      flags.push_back("--benchmark_out_format=json");
    }
    std::vector<char *> pointers;
    for (std::string &flag : flags) pointers.push_back(flag.data());
    int count = static_cast<int>(pointers.size());
    benchmark::Initialize(&count, pointers.data());
    Progress progress;
    if (benchmark::RunSpecifiedBenchmarks(&progress) == 0) return 1;

    if (!polyhalite_apps::have_halide()) std::puts("\nHalide 14 is not installed.");
    if (!run_lines.empty()) {
      std::printf("\n%-15s %7s %10s %10s %7s %18s %6s %9s\n", "app", "threads", "ms", "Halide ms",
                  "ratio", "rate", "peak", "repeated");
    }
    for (const std::string &line : run_lines) std::puts(line.c_str());
    if (!copy_lines.empty()) std::puts("\na copy of 256 MiB, reads and writes counted");
    for (const std::string &line : copy_lines) std::puts(line.c_str());
    if (!compile_lines.empty()) std::puts("\ncompile times");
    for (const std::string &line : compile_lines) std::puts(line.c_str());
    return progress.failed ? 1 : 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "polyhalite_bench: %s\n", error.what());
    return 1;
  }
}
