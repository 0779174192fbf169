// auto_schedule() of reductions that leave nothing to run at once: partial results.
#include <gtest/gtest.h>

#include "polyhalite/polyhalite.h"

namespace polyhalite::reductions_test {
namespace {

const Target kTarget("x86-64-linux-avx2-fma-sse41");
const std::map<std::string, std::string> kTwoThreads = {{"parallelism", "2"}};
Var x("x"), y("y");

Buffer<uint8_t, 2> noise(int width, int height) {
  Buffer<uint8_t, 2> image(width, height);
  uint32_t state = 7;
  image.for_each_value([&](uint8_t &v) {
    state = state * 1664525u + 1013904223u;  // Knuth's and Lewis's constants
    v = static_cast<uint8_t>(state >> 24);
  });
  return image;
}

TEST(FactoredReductions, HistogramsCountInParallel) {
  const Buffer<uint8_t, 2> image = noise(500, 311);
  const auto program = [&](bool automatic) {
    Func histogram("histogram");
    RDom r(0, 500, 0, 311, "r");
    histogram(x) = 0;
    histogram(cast<int>(image(r.x, r.y))) += 1;
    histogram.set_estimate(x, 0, 256);
    if (automatic) {
      const std::string text =
          auto_schedule(Pipeline(histogram), kTarget, kTwoThreads).schedule_text;
      EXPECT_NE(text.find("histogram_intm = histogram.update(0).rfactor("), std::string::npos)
          << text;
      EXPECT_NE(text.find("histogram_intm.update(0).parallel(task)"), std::string::npos) << text;
    }
    return Buffer<int, 1>(histogram.realize({256}));
  };
  const Buffer<int, 1> expected = program(false), result = program(true);
  for (int i = 0; i < 256; i++) ASSERT_EQ(result(i), expected(i)) << i;
}

TEST(FactoredReductions, DotProductsRunInVectors) {
  constexpr int n = 1 << 18;
  Buffer<float, 1> a(n), b(n);
  for (int i = 0; i < n; i++) {
    a(i) = static_cast<float>(i % 7);
    b(i) = static_cast<float>(i % 5);
  }
  const auto program = [&](bool automatic) {
    Func dot("dot");
    RDom r(0, n, "r");
    dot() += a(r) * b(r);
    if (automatic) {
      const std::string text = auto_schedule(Pipeline(dot), kTarget, kTwoThreads).schedule_text;
      EXPECT_NE(text.find("dot_intm.update(0).vectorize("), std::string::npos) << text;
      EXPECT_NE(text.find("dot_intm.update(0).parallel(task"), std::string::npos) << text;
    }
    return Buffer<float, 0>(dot.realize())();
  };
  EXPECT_EQ(program(true), program(false));  // whole numbers: every order gives the same
}

TEST(FactoredReductions, TheProgramHasTheDirectivesOfTheResult) {
  ImageParam in(Float(32), 2, "in");
  Func total("total"), out("out");
  RDom r(0, 1000, 0, 1000, "r");
  total() += in(r.x, r.y);
  out(x, y) = in(x, y) / total();
  out.set_estimates({{0, 1000}, {0, 1000}});
  const AutoSchedulerResults result = auto_schedule(Pipeline(out), kTarget, kTwoThreads);
  EXPECT_NE(result.schedule_text.find("total_intm"), std::string::npos) << result.schedule_text;
  EXPECT_EQ(out.emit_text(Emit::schedule, {in}, kTarget), result.schedule_text);
  EXPECT_NE(result.report.find("reductions are factored; whole: "), std::string::npos)
      << result.report;
}

// What the user says of an update keeps it whole.
TEST(FactoredReductions, UsersUpdatesStay) {
  ImageParam in(Float(32), 1, "in");
  Func total("total");
  RDom r(0, 1 << 20, "r");
  total() += in(r);
  RVar ro("ro"), ri("ri");
  total.update().split(r, ro, ri, 64);
  const std::string text = auto_schedule(Pipeline(total), kTarget, kTwoThreads).schedule_text;
  EXPECT_EQ(text.find("rfactor"), std::string::npos) << text;
}

// Extents that are known at run time only: chunks with guards.
TEST(FactoredReductions, SizesMayBeUnknown) {
  const Buffer<uint8_t, 2> image = noise(333, 777);
  ImageParam in(UInt(8), 2, "in");
  Func total("total");
  RDom r(0, in.width(), 0, in.height(), "r");
  total() += cast<uint32_t>(in(r.x, r.y));
  in.set_estimates({{0, 2000}, {0, 1000}});
  const std::string text = auto_schedule(Pipeline(total), kTarget, kTwoThreads).schedule_text;
  EXPECT_NE(text.find("total_intm"), std::string::npos) << text;
  uint32_t expected = 0;
  for (int j = 0; j < 777; j++) {
    for (int i = 0; i < 333; i++) expected += image(i, j);
  }
  in.set(image);
  EXPECT_EQ((Buffer<uint32_t, 0>(total.realize())()), expected);
}

}  // namespace
}  // namespace polyhalite::reductions_test
