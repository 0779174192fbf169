// Kernels on the CPU: schedules with blocks and threads against the interpreter, and planted
// faults.
#include <gtest/gtest.h>

#include "codegen/passes/place_barriers.h"
#include "codegen/passes/prove_barriers.h"
#include "test/codegen/kernel_run.h"

namespace polyhalite {
namespace {

struct Kernels : testing::Test {
  Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, tx{"tx"}, ty{"ty"};
  Buffer<float> image = picture();

  static Buffer<float> picture() {
    Buffer<float> b({64, 48}, "picture");
    uint32_t state = 1;
    b.for_each_element([&](int i, int j) {
      state = state * 1664525u + 1013904223u;
      b(i, j) = static_cast<float>(state >> 20) / 16.0f;
    });
    return b;
  }
  Func clamped() {
    Func c("in");
    c(x, y) = image(clamp(x, 0, 63), clamp(y, 0, 47));
    return c;
  }
  struct Blur {
    Func bx{"bx"}, by{"by"};
  };
  Blur blur() {
    Blur b;
    Func in = clamped();
    b.bx(x, y) = in(x - 1, y) + in(x, y) + in(x + 1, y);
    b.by(x, y) = b.bx(x, y - 1) + b.bx(x, y) + b.bx(x, y + 1);
    return b;
  }
};

TEST_F(Kernels, InlinedBlurRunsInTiles) {
  Blur b = blur();
  b.by.gpu_tile(x, y, xi, yi, 16, 4);
  EXPECT_EQ(run_kernels(b.by, {50, 37}), "");
}

TEST_F(Kernels, GuardedTiles) {
  Blur b = blur();
  b.by.gpu_tile(x, y, xi, yi, 16, 4, TailStrategy::GuardWithIf);
  EXPECT_EQ(run_kernels(b.by, {50, 37}), "");
}

TEST_F(Kernels, TilesInSharedMemoryNeedABarrier) {
  Blur b = blur();
  b.by.gpu_tile(x, y, xi, yi, 16, 4);
  b.bx.compute_at(b.by, x).gpu_threads(x, y);
  const Function f = with_kernels(b.by);
  const std::string text = kernel_text(f);
  EXPECT_NE(text.find("block\n"), std::string::npos) << text;
  EXPECT_NE(text.find("barrier\n"), std::string::npos) << text;
  EXPECT_EQ(run_kernels(b.by, f, {50, 37}), "");
}

TEST_F(Kernels, StagesBetweenKernelsStayOnTheDevice) {
  Blur b = blur();
  b.bx.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
  b.by.gpu_tile(x, y, xi, yi, 16, 4);
  const Function f = with_kernels(b.by);
  EXPECT_NE(to_text(f).find("] device\n"), std::string::npos) << to_text(f);
  EXPECT_EQ(run_kernels(b.by, f, {50, 37}), "");
}

TEST_F(Kernels, HostAndDeviceTakeTurns) {
  Blur b = blur();
  b.bx.compute_root();
  b.by.gpu_tile(x, y, xi, yi, 16, 4);
  const Function f = with_kernels(b.by);
  EXPECT_NE(to_text(f).find("] mirrored\n"), std::string::npos) << to_text(f);
  EXPECT_EQ(run_kernels(b.by, f, {50, 37}), "");
  Blur c = blur();
  c.bx.compute_root().gpu_tile(x, y, xi, yi, 16, 4);
  EXPECT_EQ(run_kernels(c.by, {50, 37}), "");
}

}  // namespace
}  // namespace polyhalite
