// Profiles of pipelines that run in process: samples, exact counts, memory, the report's forms.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <string>
#include <thread>

#include "polyhalite/polyhalite.h"
#include "polyhalite_profiler.h"

namespace polyhalite::profile_test {
namespace {

std::string printed;

// What realize() prints for this target.
template <typename F>
std::string report_of(F &f, const std::vector<int> &sizes,
                      std::initializer_list<Target::Feature> features) {
  printed.clear();
  f.jit_handlers().custom_print = [](JITUserContext *, const char *text) { printed += text; };
  Target t = get_jit_target_from_environment();
  for (Target::Feature feature : features) t.set_feature(feature);
  f.realize(sizes, t);
  return printed;
}

// The number behind `word` in the line of a Func; -1 where there is none.
double number(const std::string &report, const std::string &func, const std::string &word) {
  std::smatch line, found;
  if (!std::regex_search(report, line, std::regex("  " + func + ": [^\n]*"))) return -1;
  const std::string text = line[0];
  if (!std::regex_search(text, found, std::regex(word + ": *([0-9.]+)"))) return -1;
  return std::stod(found[1]);
}

struct Rows {
  Var x{"x"}, y{"y"};
  Func row{"row"}, sum{"sum"};
  Rows() {
    row(x, y) = x + y;
    sum(x, y) = row(x, y) + row(x + 1, y);
    row.compute_at(sum, y);
  }
};

TEST(Profile, NothingIsReportedUnlessAsked) {
  Rows r;
  EXPECT_EQ(report_of(r.sum, {10, 10}, {}), "");
}

TEST(Profile, CountsEveryProduction) {
  Rows r;
  const std::string report = report_of(r.sum, {100, 30}, {Target::ProfileCounts});
  EXPECT_TRUE(std::regex_search(
      report, std::regex("^sum\n total time: [0-9.]+ ms  samples: 0  runs: 1  time per run: ")))
      << report;
  EXPECT_EQ(number(report, "row", "entered"), 30);
  EXPECT_EQ(number(report, "sum", "entered"), 1);
  EXPECT_GT(number(report, "row", "cycles"), 0);
}

TEST(Profile, FuncsThatAreNotProfiledCountToTheirSurroundings) {
  Rows r;
  r.row.no_profiling();
  const std::string report = report_of(r.sum, {100, 30}, {Target::ProfileCounts});
  EXPECT_EQ(report.find("row:"), std::string::npos) << report;
  EXPECT_EQ(number(report, "sum", "entered"), 1);
}

TEST(Profile, CountsAreExactInParallelLoops) {
  Rows r;
  r.sum.parallel(r.y);
  const std::string report = report_of(r.sum, {100, 64}, {Target::ProfileCounts});
  EXPECT_EQ(number(report, "row", "entered"), 64);
}

TEST(Profile, EveryReportBeginsAnew) {
  Rows r;
  for (int i = 0; i < 2; i++) {
    const std::string report = report_of(r.sum, {100, 7}, {Target::ProfileCounts});
    EXPECT_EQ(number(report, "row", "entered"), 7);
    EXPECT_NE(report.find("runs: 1 "), std::string::npos);
  }
}

TEST(Profile, CyclesGoToTheFuncThatUsesThem) {
  Var x("x");
  Func cheap("cheap"), costly("costly"), out("out");
  cheap(x) = cast<float>(x);
  Expr e = cheap(x);
  for (int i = 0; i < 100; i++) e = sin(e);
  costly(x) = e;
  out(x) = costly(x) + 1;
  cheap.compute_root();
  costly.compute_root();
  const std::string report = report_of(out, {2000}, {Target::ProfileCounts});
  const double cycles = number(report, "costly", "cycles");
  EXPECT_GT(cycles, 10 * number(report, "cheap", "cycles")) << report;
  EXPECT_GT(cycles, 10 * number(report, "out", "cycles")) << report;
}

TEST(Profile, HeapAndStackAreThoseOfTheFunc) {
  Var x("x"), y("y");
  Func big("big"), small("small"), out("out");
  big(x, y) = x + y;
  small(x, y) = big(x, y) * 2;
  out(x, y) = small(x, y) + 1;
  big.compute_root();
  small.compute_at(out, y).bound_extent(x, 64).store_in(MemoryType::Stack);
  const std::string report = report_of(out, {64, 50}, {Target::ProfileCounts});
  EXPECT_EQ(number(report, "big", "peak"), 64 * 50 * 4) << report;
  EXPECT_EQ(number(report, "big", "num"), 1);
  EXPECT_EQ(number(report, "small", "num"), -1);
  EXPECT_EQ(number(report, "small", "stack"), 64 * 4) << report;
}

// Long enough for some samples.
struct Slow {
  Var x{"x"}, y{"y"};
  Func slow{"slow"}, out{"out"};
  Slow() {
    Expr e = cast<float>(x + y);
    for (int i = 0; i < 40; i++) e = sin(e);
    slow(x, y) = e;
    out(x, y) = slow(x, y) + slow(x + 1, y);
    slow.compute_root();
  }
};

TEST(Profile, ARunWithoutSamplesTellsOfTheStack) {
  Func small("small"), f("f");
  Var x("x"), y("y");
  small(x, y) = x;
  f(x, y) = small(x % 8, y % 8);
  small.compute_root();
  const std::string report = report_of(f, {8, 8}, {Target::Profile});
  EXPECT_EQ(number(report, "small", "stack"), 64 * 4) << report;
}

TEST(Profile, SamplesFindWhereTheTimeGoes) {
  Slow s;
  for (const auto feature : {Target::Profile, Target::ProfileByTimer}) {
    const std::string report = report_of(s.out, {600, 400}, {feature});
    std::smatch found;
    ASSERT_TRUE(std::regex_search(report, found, std::regex("samples: ([0-9]+)"))) << report;
    EXPECT_GT(std::stoi(found[1]), 3) << report;
    ASSERT_TRUE(std::regex_search(report, found, std::regex("slow: +[0-9.]+ms +\\(([0-9.]+)%\\)")))
        << report;
    EXPECT_GT(std::stod(found[1]), 60) << report;
    EXPECT_EQ(number(report, "slow", "entered"), -1);
  }
}

TEST(Profile, ParallelAndAsyncPipelinesGiveTheirResults) {
  for (bool is_async : {false, true}) {
    Slow s;
    s.out.parallel(s.y);
    if (is_async) s.slow.async();
    s.slow.parallel(s.y);
    printed.clear();
    s.out.jit_handlers().custom_print = [](JITUserContext *, const char *text) { printed += text; };
    const Target t = get_jit_target_from_environment()
                         .with_feature(Target::Profile)
                         .with_feature(Target::ProfileCounts);
    const Buffer<float> profiled = s.out.realize({50, 40}, t), plain = s.out.realize({50, 40});
    for (int y = 0; y < 40; y++) {
      for (int x = 0; x < 50; x++) ASSERT_EQ(profiled(x, y), plain(x, y));
    }
    EXPECT_EQ(number(printed, "slow", "entered"), 1) << printed;
  }
}

TEST(Profile, CallsAtTheSameTimeAreAllReported) {
  static std::atomic<int> runs;
  runs = 0;
  Rows r;
  r.sum.jit_handlers().custom_print = [](JITUserContext *, const char *text) {
    const char *at = std::strstr(text, "runs: ");
    if (at) runs += std::atoi(at + 6);
  };
  const Target t = get_jit_target_from_environment().with_feature(Target::ProfileCounts);
  r.sum.compile_jit(t);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; k++) r.sum.realize({64, 16}, t);
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(runs, 80);
}

TEST(Profile, FailedCallsLeaveNothingBehind) {
  Var x("x");
  Func f("f"), g("g");
  Param<int> limit("limit");
  f(x) = require(limit > 3, x, "limit is", limit);
  g(x) = f(x);
  f.compute_root();
  limit.set(1);
  const Target t = get_jit_target_from_environment().with_feature(Target::Profile);
  EXPECT_THROW(g.realize({4}, t), RuntimeError);
  EXPECT_EQ(polyhalite_profiler_get_state()->instances, nullptr);
}

TEST(Profile, JsonIsAddedToAFile) {
  char name[] = "profile_test_XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  close(file);
  setenv("PH_PROFILE_JSON", name, 1);
  Rows r;
  for (int i = 0; i < 2; i++) report_of(r.sum, {100, 30}, {Target::ProfileCounts});
  unsetenv("PH_PROFILE_JSON");
  std::ifstream in(name);
  std::string line;
  int lines = 0;
  while (std::getline(in, line)) {
    lines++;
    EXPECT_EQ(line.rfind("{\"pipelines\": [{\"name\": \"sum\", \"time_ms\": ", 0), 0u) << line;
    EXPECT_TRUE(std::regex_search(
        line, std::regex("\"name\": \"row\", [^}]*\"entered\": 30, \"cycles\": [0-9]+}")))
        << line;
    EXPECT_EQ(line.substr(line.size() - 5), "}]}]}") << line;
  }
  EXPECT_EQ(lines, 2);
  unlink(name);
}

}  // namespace
}  // namespace polyhalite::profile_test
