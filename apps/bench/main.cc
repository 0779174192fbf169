// polyhalite_bench: the applications against Halide 14, compiled from one source, and the
// operators against libraries, in one run.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/bench/compile_times.h"
#include "apps/bench/copies.h"
#include "apps/bench/judging.h"
#include "apps/bench/measure.h"
#include "apps/bench/operator_case.h"
#include "apps/bench/report.h"
#include "apps/bench/row.h"
#include "apps/common/app_case.h"
#include "apps/common/compiled_apps.h"

namespace {

using polyhalite_apps::AppCase;
using polyhalite_apps::OperatorCase;
using polyhalite_apps::Row;

struct Options {
  std::string filter = ".";
  std::string photograph = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg";
  std::string json, report = "out/bench/report.html";
  std::vector<std::string> compared;
  std::vector<std::string> products;
  int threads = 0;  // 0: one and two
  int rounds = 15;
};

// Filled in as benchmarks end.
std::vector<Row> rows;
std::vector<std::string> copy_lines, compile_lines, judging_lines;

template <typename... Args>
std::string format(const char *pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

void bench_row(benchmark::State &state, const std::function<Row()> &measure) {
  for (auto _ : state) {
    rows.push_back(measure());
    const Row &row = rows.back();
    if (!row.failure.empty()) {
      state.SkipWithError(row.failure.c_str());
      return;
    }
    state.SetIterationTime(row.ours);
  }
}

void bench_jit(benchmark::State &state, const std::string &app, int rounds) {
  for (auto _ : state) {
    const polyhalite::CompileTimes t = polyhalite_apps::jit_times(app, rounds);
    state.SetIterationTime(t.total());
    const double share = 100 * (t.survey + t.judge) / t.total();
    compile_lines.push_back(
        format("%-15s in process  %7.3f s   schedule %.3f, regions %.3f, judge "
               "%.3f, lowering %.3f, LLVM %.3f   regions and judge %.0f%%",
               app.c_str(), t.total(), t.schedule, t.survey, t.judge, t.lower, t.llvm, share));
    Row row;
    row.name = "compile in process";
    row.shape = app;
    row.ours = t.total();
    rows.push_back(row);
  }
}

void bench_generator(benchmark::State &state, const std::string &app, int rounds) {
  for (auto _ : state) {
    const auto t = polyhalite_apps::generator_times(app, rounds);
    state.SetIterationTime(t.ours);
    Row row;
    row.name = "compile, generator";
    row.shape = app;
    row.ours = t.ours;
    if (t.halide > 0) row.peers.push_back({"Halide 14", t.halide});
    rows.push_back(row);
  }
}

void bench_judging(benchmark::State &state, const std::string &pipeline, int rounds) {
  for (auto _ : state) {
    const auto cost = polyhalite_apps::judging_cost(pipeline, rounds);
    state.SetIterationTime(cost.total());
    judging_lines.push_back(format(
        "%-15s %7.3f s   schedule %.3f, regions %.3f, judge %.3f   %.0f MB at most",
        pipeline.c_str(), cost.total(), cost.schedule, cost.survey, cost.judge, cost.peak_mb));
    Row row;
    row.name = "judge";
    row.shape = pipeline;
    row.ours = cost.total();
    rows.push_back(row);
  }
}

void bench_copies(benchmark::State &state, int rounds) {
  for (auto _ : state) {
    const auto r = polyhalite_apps::copy_rates(rounds);
    state.SetIterationTime(1 / r.streamed);
    copy_lines.push_back(
        format("memcpy %.1f GB/s, ordinary stores %.1f (%.2f of memcpy), "
               "stream_stores %.1f (%.2f of memcpy)",
               r.memcpy / 1e9, r.ordinary / 1e9, r.ordinary / r.memcpy, r.streamed / 1e9,
               r.streamed / r.memcpy));
  }
}

// "33x65x17".
polyhalite_apps::ProductSize product_size(const std::string &text) {
  polyhalite_apps::ProductSize s{};
  int end = 0;
  const int read = std::sscanf(text.c_str(), "%6dx%6dx%6d%n", &s.rows, &s.columns, &s.depth, &end);
  if (read != 3 || static_cast<size_t>(end) != text.size() ||
      std::min({s.rows, s.columns, s.depth}) < 1)
    throw std::runtime_error("--products " + text +
                             ": sizes are ROWSxCOLUMNSxDEPTH, each from 1 to 999999");
  return s;
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

void register_all(std::vector<AppCase> &apps, const std::vector<OperatorCase> &operators,
                  const Options &options) {
  const auto once = [](benchmark::internal::Benchmark *b) {
    b->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
  };
  const auto add = [&](const std::string &name, const std::function<Row(int)> &measure) {
    for (const int threads : {1, 2}) {
      if (options.threads != 0 && threads != options.threads) continue;
      once(benchmark::RegisterBenchmark((name + "/threads:" + std::to_string(threads)).c_str(),
                                        bench_row, [=] { return measure(threads); }));
    }
  };
  for (AppCase &app : apps) {
    add("run/" + app.name, [&app, options](int threads) {
      return polyhalite_apps::compare(app, "good", threads, options.rounds);
    });
  }
  for (const OperatorCase &o : operators) {
    add(o.group + "/" + o.name + "/" + o.type + "/" + o.shape, [&o, options](int threads) {
      return polyhalite_apps::compare(o, threads, options.rounds);
    });
  }
  once(benchmark::RegisterBenchmark("copy", bench_copies, options.rounds));
  for (const std::string &name : polyhalite_apps::judged_pipelines()) {
    once(benchmark::RegisterBenchmark(("judge/" + name).c_str(), bench_judging, name, 3));
  }
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
  CLI::App cli("Polyhalite's applications and operators beside their peers, in one run");
  cli.add_option(
         "--filter", options.filter,
         "run what this regular expression finds: run/APP/threads:N, copy, "
         "operator/NAME/TYPE/SHAPE/threads:N, math/NAME/f32/LANES/threads:N, judge/PIPELINE, "
         "compile/in_process/APP, compile/generator/APP")
      ->capture_default_str();
  cli.add_option("--threads", options.threads, "1 or 2; both if not given")
      ->check(CLI::Range(1, 2));
  cli.add_option("--rounds", options.rounds, "rounds per figure, of which the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  cli.add_option("--json", options.json, "write the rows to this file");
  cli.add_option("--report", options.report, "write a page with a plot to this file")
      ->capture_default_str();
  cli.add_option("--compare", options.compared,
                 "measure nothing: show what changed between two files that --json wrote")
      ->expected(2);
  cli.add_option("--products", options.products,
                 "products of matrices of these sizes, too, ROWSxCOLUMNSxDEPTH each: run what "
                 "--filter finds of operator/matmul/TYPE/SIZE and operator/matmul_open/f32/SIZE");
  cli.add_option("--photograph", options.photograph)->capture_default_str();
  CLI11_PARSE(cli, argc, argv);

  try {
    if (!options.compared.empty()) {
      std::fputs(polyhalite_apps::compare_files(options.compared[0], options.compared[1]).c_str(),
                 stdout);
      return 0;
    }
    std::vector<AppCase> apps = polyhalite_apps::make_measured_cases(
        polyhalite_apps::app_names(), polyhalite_apps::load_image(options.photograph));
    std::vector<polyhalite_apps::ProductSize> sizes;
    for (const std::string &text : options.products) sizes.push_back(product_size(text));
    const std::vector<OperatorCase> operators = polyhalite_apps::operator_cases(sizes);
    register_all(apps, operators, options);
    std::vector<std::string> flags{argv[0], "--benchmark_filter=" + options.filter};
    std::vector<char *> pointers;
    for (std::string &flag : flags) pointers.push_back(flag.data());
    int count = static_cast<int>(pointers.size());
    benchmark::Initialize(&count, pointers.data());
    Progress progress;
    if (benchmark::RunSpecifiedBenchmarks(&progress) == 0) return 1;

    if (!polyhalite_apps::have_halide()) std::puts("\nHalide 14 is not installed.");
    if (!rows.empty()) std::printf("\n%s", polyhalite_apps::table_of(rows).c_str());
    if (!copy_lines.empty()) std::puts("\na copy of 256 MiB, reads and writes counted");
    for (const std::string &line : copy_lines) std::puts(line.c_str());
    if (!judging_lines.empty()) std::puts("\nwhat proving a large schedule takes");
    for (const std::string &line : judging_lines) std::puts(line.c_str());
    if (!compile_lines.empty()) std::puts("\nwhat compiling in process takes");
    for (const std::string &line : compile_lines) std::puts(line.c_str());
    if (!options.json.empty()) {
      std::ofstream file(options.json);
      file << polyhalite_apps::to_json(rows).dump(2) << "\n";
      if (!file.flush()) throw std::runtime_error("cannot write " + options.json);
    }
    polyhalite_apps::write_report(options.report, rows);
    std::printf("\nplot: %s\n", options.report.c_str());
    return progress.failed ? 1 : 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "polyhalite_bench: %s\n", error.what());
    return 1;
  }
}
