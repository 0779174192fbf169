// auto_schedule() with `measure`: what measured code does harms nobody.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "halide/Halide.h"
#include "support/program.h"

// What measured programs call: it behaves until a test says otherwise.
namespace {
enum class Conduct { Good, Crashes, Hangs };
Conduct conduct = Conduct::Good;
}  // namespace

extern "C" int ph_test_planted(int v) {
  if (conduct == Conduct::Crashes) {
    signal(SIGSEGV, SIG_DFL);  // sanitizers would make an exit of it
    raise(SIGSEGV);
  }
  while (conduct == Conduct::Hangs) pause();
  return v + 1;
}

namespace polyhalite::measure_test {
namespace {

HalideExtern_1(int, ph_test_planted, int);

Var x("x"), y("y");

struct Planted {
  Func out{"out"};
  Planted() {
    out(x, y) = ph_test_planted(x + y);
    out.set_estimates({{0, 64}, {0, 64}});
  }
  std::string report(const std::map<std::string, std::string> &options) {
    return auto_schedule(Pipeline(out), get_jit_target_from_environment(), options).report;
  }
  void expect_right_results() {
    const Buffer<int, 2> result = out.realize({64, 64});
    for (int j = 0; j < 64; j++) {
      for (int i = 0; i < 64; i++) ASSERT_EQ(result(i, j), i + j + 1);
    }
  }
};

class Measure : public testing::Test {
 protected:
  void TearDown() override { conduct = Conduct::Good; }
};

TEST_F(Measure, ACrashEndsTheRunnerOnly) {
  Planted p;
  conduct = Conduct::Crashes;
  const std::string report = p.report({{"parallelism", "2"}, {"measure", "2"}});
  conduct = Conduct::Good;
  EXPECT_NE(report.find("plan 1: the process that ran it ended by signal 11, Segmentation fault\n"),
            std::string::npos)
      << report;
  p.expect_right_results();
}

TEST_F(Measure, ARunnerThatHangsIsEnded) {
  Planted p;
  conduct = Conduct::Hangs;
  const std::string report =
      p.report({{"parallelism", "2"}, {"measure", "1"}, {"measure_limit", "2s"}});
  conduct = Conduct::Good;
  EXPECT_NE(report.find("plan 1: it took longer than 2000 ms\n"), std::string::npos) << report;
  p.expect_right_results();
}

// What failed once is not tried again.
TEST_F(Measure, FailuresAreRecorded) {
  const test::TemporaryFolder folder;
  const std::map<std::string, std::string> options = {
      {"parallelism", "2"}, {"measure", "1"}, {"records", folder.path("times.db")}};
  Planted first, second;
  conduct = Conduct::Crashes;
  const std::string failure = "plan 1: the process that ran it ended by signal 11";
  EXPECT_NE(first.report(options).find(failure), std::string::npos);
  conduct = Conduct::Good;
  EXPECT_NE(second.report(options).find(failure), std::string::npos);
}

}  // namespace
}  // namespace polyhalite::measure_test
