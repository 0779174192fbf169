// polyhalite_bench_autosched: applications scheduled by our auto-scheduler and by Halide 14's
// Adams2019, from one source, in one run: seconds of the generator's run, search and code included,
// and times of the code. Both run their generators here, so that the figures belong together.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/bench/found_schedule.h"
#include "apps/bench/interleave.h"

namespace {

using polyhalite_apps::AnyBuffer;
using polyhalite_apps::AppCase;
using polyhalite_apps::FoundSchedule;
using polyhalite_apps::SearchOptions;

const std::vector<std::string> kApps = {"blur", "unsharp", "harris",       "local_laplacian",
                                        "hist", "matmul",  "stencil_chain"};

struct Options {
  std::string filter = ".", words, json;
  std::string photograph = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg";
  int threads = 0;  // 0: one and two
  int rounds = 15;
  bool show = false;
  SearchOptions search;
};

double least(const std::vector<double> &v) { return *std::min_element(v.begin(), v.end()); }

// What Adams2019 finds first of what runs: Halide 14's code for some of its schedules crashes.
FoundSchedule halides_schedule(SearchOptions search, const std::string &name, AppCase &app) {
  for (const int beam : {0, 2, 4, 8}) {
    search.beam = beam;
    const FoundSchedule found(search, name, false);
    found.make_room(&app);
    if (found.survives(app)) return found;
  }
  throw std::runtime_error("Halide 14's code crashes with each of four schedules of Adams2019");
}

// One application with one number of threads.
nlohmann::json bench(const SearchOptions &search, const std::string &name,
                     const polyhalite_apps::Image &photograph, const Options &o) {
  nlohmann::json row = {{"app", name}, {"threads", search.threads}};
  AppCase app =
      polyhalite_apps::make_app_case(name, photograph, polyhalite_apps::measured_extent(name));
  const FoundSchedule ours(search, name, true);
  // Found schedules may read a few pixels more than the algorithm does.
  ours.make_room(&app);
  const FoundSchedule halide = halides_schedule(search, name, app);
  row["generator_s"] = ours.generator_seconds;
  row["generator_cpu_s"] = ours.generator_cpu_seconds;
  row["adams2019_generator_s"] = halide.generator_seconds;
  row["adams2019_generator_cpu_s"] = halide.generator_cpu_seconds;
  if (o.show) std::printf("%s\n%s\n", ours.schedule.c_str(), halide.schedule.c_str());
  AppCase theirs = app;
  theirs.output = AnyBuffer::make_with_shape_of(app.output);
  ours(app);
  halide(theirs);
  const double apart = polyhalite_apps::difference(app.output, theirs.output);
  if (!(apart <= app.tolerance)) {
    throw std::runtime_error("the two outputs differ by " + std::to_string(apart));
  }
  const polyhalite_apps::Rounds r = polyhalite_apps::interleave(
      {[&] { ours(app); }, [&] { halide(theirs); }}, search.threads, o.rounds);
  row["repeated_rounds"] = r.repeated;
  if (!r.failure.empty()) throw std::runtime_error(r.failure);
  row["ms"] = 1e3 * r.of(0);
  row["adams2019_ms"] = 1e3 * r.of(1);
  row["speed"] = r.of(1) / r.of(0);
  row["least_ms"] = 1e3 * least(r.seconds[0]);
  row["adams2019_least_ms"] = 1e3 * least(r.seconds[1]);
  row["least_speed"] = least(r.seconds[1]) / least(r.seconds[0]);
  return row;
}

void print_header() {
  std::printf("%-16s %7s | %9s %9s %6s | %9s %9s %6s | %7s %7s %9s | %8s\n", "app", "threads", "ms",
              "Adams ms", "speed", "least ms", "Adams ms", "speed", "gen. s", "CPU s", "Adams' s",
              "repeated");
}

void print(const nlohmann::json &row) {
  const auto number = [&](const char *key) { return row.value(key, 0.0); };
  std::printf("%-16s %7d | ", row["app"].get<std::string>().c_str(), row["threads"].get<int>());
  if (row.contains("failure")) {
    std::printf("%s\n", row["failure"].get<std::string>().c_str());
  } else {
    std::printf("%9.2f %9.2f %6.2f | %9.2f %9.2f %6.2f | %7.2f %7.2f %9.2f | %8d\n", number("ms"),
                number("adams2019_ms"), number("speed"), number("least_ms"),
                number("adams2019_least_ms"), number("least_speed"), number("generator_s"),
                number("generator_cpu_s"), number("adams2019_generator_s"),
                row["repeated_rounds"].get<int>());
  }
  std::fflush(stdout);
}

void print_summary(const std::vector<nlohmann::json> &rows, int threads) {
  int even = 0, measured = 0;
  double worst = 0;
  for (const nlohmann::json &row : rows) {
    if (row["threads"] != threads || !row.contains("speed")) continue;
    const double speed = row["speed"];
    even += speed >= 0.98;
    worst = measured == 0 ? speed : std::min(worst, speed);
    measured++;
  }
  if (measured == 0) return;
  std::printf("%d thread%s: at least as fast as Adams2019 in %d of %d, the slowest %.2f\n", threads,
              threads == 1 ? "" : "s", even, measured, worst);
}

}  // namespace

int main(int argc, char **argv) {
  Options o;
  o.search.generators = POLYHALITE_GENERATOR_FOLDER;
  CLI::App cli("Our auto-scheduler against Halide 14's Adams2019, from one source, in one run");
  cli.add_option("--filter", o.filter, "applications that this regular expression finds");
  cli.add_option("--threads", o.threads, "1 or 2; both if not given")->check(CLI::Range(1, 2));
  cli.add_option("--rounds", o.rounds, "rounds per figure, of which the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  cli.add_option("--json", o.json, "write the table to this file too");
  cli.add_flag("--show", o.show, "print the schedules");
  cli.add_option("--with", o.words, "more words for our generators: autoscheduler.beam=32 ...");
  cli.add_option("--generators", o.search.generators, "where the generators' programs are");
  cli.add_option("--photograph", o.photograph)->capture_default_str();
  CLI11_PARSE(cli, argc, argv);
  std::istringstream words(o.words);
  for (std::string w; words >> w;) o.search.words.push_back(w);
  std::vector<nlohmann::json> rows;
  bool failed = false;
  try {
    o.search.folder =
        (std::filesystem::temp_directory_path() / "polyhalite_bench_autosched").string();
    std::filesystem::create_directories(o.search.folder);
    const polyhalite_apps::Image photograph = polyhalite_apps::load_image(o.photograph);
    const std::regex wanted(o.filter);
    print_header();
    for (const std::string &app : kApps) {
      if (!std::regex_search(app, wanted)) continue;
      for (const int threads : {1, 2}) {
        if (o.threads != 0 && threads != o.threads) continue;
        o.search.threads = threads;
        try {
          rows.push_back(bench(o.search, app, photograph, o));
        } catch (const std::runtime_error &error) {
          rows.push_back({{"app", app}, {"threads", threads}, {"failure", error.what()}});
          failed = true;
        }
        print(rows.back());
      }
    }
    for (const int threads : {1, 2}) print_summary(rows, threads);
    if (!o.json.empty()) std::ofstream(o.json) << nlohmann::json(rows).dump(2) << "\n";
  } catch (const std::exception &error) {
    std::fprintf(stderr, "polyhalite_bench_autosched: %s\n", error.what());
    return 1;
  }
  return failed ? 1 : 0;
}
