// Programs with GPU schedules, compiled to PTX and assembled for every card: nothing in local
// memory, no remarks on what ptxas had to mend.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"
#include "polyhalite/polyhalite.h"
#include "test/support/half_product.h"
#include "test/support/ptxas.h"

namespace polyhalite::gpu_assembles_test {
namespace {

struct GpuAssembles : testing::Test {
  Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, xo{"xo"}, yo{"yo"};

  void expect_assembles(const Func &f, const std::vector<ImageParam> &inputs,
                        const std::vector<int> &opcodes = {}) {
    if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or under /usr/local/cuda*";
    std::vector<std::shared_ptr<ParameterContents>> declared;
    for (const ImageParam &p : inputs) declared.push_back(p.parameter().contents());
    const FrozenPipeline frozen = freeze({f.function()}, declared);
    const Target target("x86-64-linux-cuda-cuda_capability_80");
    const std::string portable = backend().emit_text(frozen, "f", target, Emit::ptx);
    const std::string hopper =
        backend().emit_text(frozen, "f", target.with_feature(Target::SM90a), Emit::ptx);
    for (const char *architecture : {"sm_80", "sm_89", "sm_90", "sm_90a"}) {
      const bool is_specific = std::string(architecture) == "sm_90a";
      const Assembled a = assemble(is_specific ? hopper : portable, architecture);
      ASSERT_TRUE(a.is_assembled) << architecture << "\n" << a.log << portable;
      EXPECT_EQ(a.total("bytes stack frame"), 0) << architecture << "\n" << a.log << portable;
      EXPECT_EQ(a.total("bytes spill stores"), 0) << architecture << "\n" << a.log;
      EXPECT_EQ(a.count(kStl), 0) << architecture;
      for (int opcode : opcodes) EXPECT_GT(a.count(opcode), 0) << std::hex << opcode;
      EXPECT_EQ(a.log.find("C75"), std::string::npos) << a.log;
    }
  }
};

TEST_F(GpuAssembles, Blur) {
  ImageParam in(UInt(16), 2, "in");
  Func sum("sum"), blur("blur");
  sum(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
  blur(x, y) = cast<uint16_t>((sum(x, y) + sum(x, y + 1) + sum(x, y + 2)) / 9);
  blur.gpu_tile(x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
  sum.compute_at(blur, x).gpu_threads(x, y);
  expect_assembles(blur, {in});
}

TEST_F(GpuAssembles, Harris) {
  ImageParam in(Float(32), 2, "in");
  Func gray = BoundaryConditions::repeat_edge(in);
  Func ix("ix"), iy("iy"), ixx("ixx"), iyy("iyy"), ixy("ixy"), out("harris");
  ix(x, y) = gray(x + 1, y - 1) - gray(x - 1, y - 1) + 2 * (gray(x + 1, y) - gray(x - 1, y)) +
             gray(x + 1, y + 1) - gray(x - 1, y + 1);
  iy(x, y) = gray(x - 1, y + 1) - gray(x - 1, y - 1) + 2 * (gray(x, y + 1) - gray(x, y - 1)) +
             gray(x + 1, y + 1) - gray(x + 1, y - 1);
  auto window = [&](Func &f, Func &a, Func &b) {
    Expr s = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) s = s + a(x + dx, y + dy) * b(x + dx, y + dy);
    }
    f(x, y) = s;
  };
  window(ixx, ix, ix);
  window(iyy, iy, iy);
  window(ixy, ix, iy);
  out(x, y) = ixx(x, y) * iyy(x, y) - ixy(x, y) * ixy(x, y) -
              0.04f * (ixx(x, y) + iyy(x, y)) * (ixx(x, y) + iyy(x, y));
  out.gpu_tile(x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
  ix.compute_at(out, x).gpu_threads(x, y);
  iy.compute_at(out, x).gpu_threads(x, y);
  expect_assembles(out, {in});
}

TEST_F(GpuAssembles, Histogram) {
  ImageParam in(UInt(8), 2, "in");
  Func histogram("histogram");
  RDom r(in);
  histogram(x) = 0;
  histogram(cast<int>(in(r.x, r.y))) += 1;
  histogram.bound(x, 0, 256);
  histogram.gpu_tile(x, xi, 64);
  RVar rxo("rxo"), rxi("rxi");
  histogram.update().atomic().split(r.x, rxo, rxi, 128).gpu_blocks(rxo, r.y).gpu_threads(rxi);
  expect_assembles(histogram, {in});
}

TEST_F(GpuAssembles, Softmax) {
  ImageParam in(Float(32), 2, "in");
  Func most("most"), sum("sum"), out("softmax");
  RDom r(0, in.dim(0).extent());
  most(y) = maximum(r, in(r, y));
  sum(y) += exp(in(r, y) - most(y));
  out(x, y) = exp(in(x, y) - most(y)) / sum(y);
  out.gpu_tile(x, y, xi, yi, 128, 1, TailStrategy::GuardWithIf);
  most.compute_root().gpu_tile(y, yi, 64, TailStrategy::GuardWithIf);
  sum.compute_root().gpu_tile(y, yi, 64, TailStrategy::GuardWithIf);
  sum.update().gpu_tile(y, yi, 64, TailStrategy::GuardWithIf);
  expect_assembles(out, {in});
}

TEST_F(GpuAssembles, MatrixProductInRegisters) {
  ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
  Func product("product"), out("out");
  RDom k(0, a.dim(0).extent());
  product(x, y) += a(k, y) * b(x, k);
  out(x, y) = product(x, y);
  Var xt("xt"), yt("yt");
  out.bound(x, 0, 1024).bound(y, 0, 1024);
  out.tile(x, y, xo, yo, xi, yi, 64, 32)
      .tile(xi, yi, xt, yt, xi, yi, 4, 4)
      .gpu_blocks(xo, yo)
      .gpu_threads(xt, yt)
      .unroll(xi)
      .unroll(yi);
  product.compute_at(out, xt).unroll(x).unroll(y);
  product.update().reorder(x, y, k).unroll(x).unroll(y);
  expect_assembles(out, {a, b});
}

// Fragments by ldmatrix, steps by cp.async, nothing in local memory.
TEST_F(GpuAssembles, MatrixProductOfHalvesByTheMatrixUnits) {
  ImageParam a(Float(16), 2, "in_a"), b(Float(16), 2, "in_b");
  HalfProduct p([&](const Expr &k, const Expr &m) { return a(k, m); },
                [&](const Expr &n, const Expr &k) { return b(n, k); }, 4096);
  p.schedule(4096, 4096, ProductTiles());
  expect_assembles(p.c, {a, b}, {kHmma, kLdsm, kLdgsts});
}

TEST_F(GpuAssembles, MatrixProductOfHalvesInStepsThatWait) {
  ImageParam a(Float(16), 2, "in_a"), b(Float(16), 2, "in_b");
  HalfProduct p([&](const Expr &k, const Expr &m) { return a(k, m); },
                [&](const Expr &n, const Expr &k) { return b(n, k); }, 1024);
  p.schedule(1024, 1024, {64, 64, 32, 32, 32, 1, 8});
  expect_assembles(p.c, {a, b}, {kHmma, kLdsm});
}

}  // namespace
}  // namespace polyhalite::gpu_assembles_test
