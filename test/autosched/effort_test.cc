// What the search may cost: seconds of the processor, which other work on the machine does not
// change.
#include <gtest/gtest.h>

#include <ctime>

#include "polyhalite/polyhalite.h"

namespace polyhalite::effort_test {
namespace {

const Target kTarget("x86-64-linux-avx2-fma-sse41");
Var x("x"), y("y");

double cpu_seconds_of(const std::function<void()> &work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Effort, AHundredStencilsAreScheduledInSeconds) {
  constexpr double kMostSeconds = 60;
  ImageParam in(UInt(16), 2, "in");
  std::vector<Func> stages{BoundaryConditions::repeat_edge(in)};
  for (int s = 0; s < 100; s++) {
    Expr sum = cast<uint16_t>(0);
    for (int dy = -2; dy <= 2; dy++) {
      for (int dx = -2; dx <= 2; dx++) {
        sum += cast<uint16_t>((dx + 4) * (dy + 4)) * stages.back()(x + dx, y + dy);
      }
    }
    Func stage("stage" + std::to_string(s));
    stage(x, y) = sum;
    stages.push_back(stage);
  }
  in.set_estimates({{0, 1536}, {0, 2560}});
  stages.back().set_estimates({{0, 1536}, {0, 2560}});
  std::string report;
  const double seconds = cpu_seconds_of([&] {
    report =
        auto_schedule(Pipeline(stages.back()), kTarget, {{"parallelism", "2"}, {"budget", "60s"}})
            .report;
  });
  EXPECT_LT(seconds, kMostSeconds);
  // The search came to its end by itself.
  EXPECT_EQ(report.find("until the budget's end"), std::string::npos) << report;
}

}  // namespace
}  // namespace polyhalite::effort_test
