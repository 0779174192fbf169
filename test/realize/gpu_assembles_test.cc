// Programs with GPU schedules, compiled to PTX and assembled for every card: nothing in local
// memory, no remarks on what ptxas had to mend.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"
#include "polyhalite/polyhalite.h"
#include "test/support/ptxas.h"

namespace polyhalite {
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

// Blocks of 32 x 16, one warp for each 16 rows, steps of 16 in memory of the block.
TEST_F(GpuAssembles, MatrixProductOfHalvesByTheMatrixUnits) {
  constexpr const char *kMma = "mma_m16n8k16_f16_f32";
  ImageParam in_a(Float(16), 2, "in_a"), in_b(Float(16), 2, "in_b");
  Func a("a"), b("b"), acc("acc"), c("c");
  Var wy("wy"), m("m"), n("n"), nt("nt"), t("t"), u("u");
  RVar ko("ko"), ki("ki");
  RDom k(0, 1024, "k");
  a(x, y) = in_a(x, y);
  b(x, y) = in_b(x, y);
  acc(x, y) = 0.0f;
  acc(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
  c(x, y) = acc(x, y);
  c.bound(x, 0, 1024).bound(y, 0, 1024);
  c.tile(x, y, xo, yo, xi, yi, 16, 32)
      .split(yi, wy, m, 16)
      .split(xi, nt, n, 8)
      .reorder(n, m, nt, wy, xo, yo)
      .gpu_blocks(xo, yo)
      .gpu_threads(wy)
      .unroll(nt)
      .tensorize(m, n, kMma);
  acc.compute_at(c, xo).store_in(MemoryType::Register);
  acc.split(y, wy, m, 16)
      .split(x, nt, n, 8)
      .reorder(n, m, nt, wy)
      .gpu_threads(wy)
      .unroll(nt)
      .tensorize(m, n, kMma);
  acc.update()
      .split(y, wy, m, 16)
      .split(x, nt, n, 8)
      .split(k.x, ko, ki, 16)
      .reorder(ki, n, m, nt, wy, ko)
      .gpu_threads(wy)
      .unroll(nt)
      .tensorize(m, n, ki, kMma);
  a.compute_at(acc, ko).fuse(x, y, t).split(t, t, u, 32).gpu_threads(u);
  b.compute_at(acc, ko).fuse(x, y, t).split(t, t, u, 32).gpu_threads(u);
  expect_assembles(c, {in_a, in_b}, {kHmma});
}

}  // namespace
}  // namespace polyhalite
