// Kernels on the CPU: schedules with blocks and threads against the interpreter, and planted
// faults.
#include <gtest/gtest.h>

#include "codegen/passes/place_barriers.h"
#include "codegen/passes/prove_barriers.h"
#include "test/codegen/kernel_run.h"

namespace polyhalite::kernels_test {
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

TEST_F(Kernels, CopiesToTheDeviceAreMadeWhereTheyAreNeeded) {
  Blur b = blur();
  b.bx.compute_root();
  b.bx.in(b.by).compute_root().copy_to_device();
  b.by.gpu_tile(x, y, xi, yi, 16, 4);
  EXPECT_EQ(run_kernels(b.by, {50, 37}), "");
  Blur c = blur();
  c.bx.compute_root().copy_to_device();
  c.by.gpu_tile(x, y, xi, yi, 16, 4);
  const std::string why = run_kernels(c.by, {50, 37});
  EXPECT_NE(why.find("error: cannot copy_to_device 'bx'\n"
                     "  why: it is no copy of another Func\n"
                     "  fix: define it as one, as in g(x, y) = f(x, y), or call copy_to_device on "
                     "bx.in()"),
            std::string::npos)
      << why;
}

TEST_F(Kernels, HarrisHasSeveralStagesInABlock) {
  Func in = clamped(), ix("ix"), iy("iy"), xx("xx"), corner("corner");
  ix(x, y) = (in(x + 1, y - 1) - in(x - 1, y - 1)) + 2.0f * (in(x + 1, y) - in(x - 1, y)) +
             (in(x + 1, y + 1) - in(x - 1, y + 1));
  iy(x, y) = (in(x - 1, y + 1) - in(x - 1, y - 1)) + 2.0f * (in(x, y + 1) - in(x, y - 1)) +
             (in(x + 1, y + 1) - in(x + 1, y - 1));
  xx(x, y) = ix(x, y) * iy(x, y);
  RDom r(-1, 3, -1, 3, "r");
  Func sum("sum");
  sum(x, y) += xx(x + r.x, y + r.y);
  corner(x, y) = sum(x, y) * 0.5f - ix(x, y) * iy(x, y);
  corner.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
  ix.compute_at(corner, x).gpu_threads(x, y);
  iy.compute_at(corner, x).gpu_threads(x, y).store_in(MemoryType::GPUShared);
  xx.compute_at(corner, x).gpu_threads(x, y);
  sum.compute_at(corner, xi);
  const Function f = with_kernels(corner);
  EXPECT_EQ(run_kernels(corner, f, {33, 21}), "");
}

TEST_F(Kernels, HistogramsAreAtomic) {
  Func in = clamped(), global("global"), local("local");
  RDom r(0, 64, 0, 48, "r");
  global(x) = 0;
  global(clamp(cast<int>(in(r.x, r.y)) / 16, 0, 15)) += 1;
  RVar ro("ro"), ri("ri");
  global.gpu_tile(x, xi, 16);
  global.update()
      .atomic()
      .split(r.x, ro, ri, 16)
      .reorder(ri, r.y, ro)
      .gpu_blocks(ro)
      .gpu_threads(ri);
  EXPECT_EQ(run_kernels(global, {16}), "");
}

TEST_F(Kernels, HistogramsOfBlocksInSharedMemory) {
  Func in = clamped(), local("local"), all("all");
  RDom r(0, 64, "r");
  local(x, y) = 0;
  local(clamp(cast<int>(in(r, y)) / 16, 0, 15), y) += 1;
  all(x, y) = local(x, y);
  all.gpu_blocks(y).gpu_threads(x).bound(x, 0, 16);
  local.compute_at(all, y).gpu_threads(x);
  RVar ro("ro"), ri("ri");
  local.update().atomic().split(r, ro, ri, 16).reorder(ro, ri).gpu_threads(ri);
  const Function f = with_kernels(all);
  EXPECT_NE(kernel_text(f).find("atomic {"), std::string::npos);
  EXPECT_EQ(run_kernels(all, f, {16, 48}), "");
}

// One row a block: largest value, sum of powers, quotient.
TEST_F(Kernels, SoftmaxHasTwoReductionsInABlock) {
  Func in = clamped(), largest("largest"), power("power"), total("total"), softmax("softmax");
  RDom r(0, 64, "r");
  largest(y) = in(0, y);
  largest(y) = max(largest(y), in(r, y));
  power(x, y) = in(x, y) - largest(y);
  total(y) = 0.0f;
  total(y) += power(r, y);
  softmax(x, y) = power(x, y) / total(y);
  softmax.bound(x, 0, 64).gpu_blocks(y).gpu_threads(x);
  power.compute_at(softmax, y).gpu_threads(x);
  largest.compute_at(softmax, y);
  total.compute_at(softmax, y);
  EXPECT_EQ(run_kernels(softmax, {64, 9}), "");
}

struct Matmul : Kernels {
  Func a{"a"}, b{"b"}, acc{"acc"}, c{"c"};
  RVar ko{"ko"}, ki{"ki"};
  Var xo{"xo"}, yo{"yo"}, xu{"xu"}, yu{"yu"};

  // Tiles of 16x16 by 4x4 threads, staged in steps of 8.
  void schedule(MemoryType memory) {
    RDom k(0, 16, "k");
    a(x, y) = image(clamp(x, 0, 63), clamp(y, 0, 47)) + 1.0f;
    b(x, y) = image(clamp(y, 0, 63), clamp(x, 0, 47)) - 2.0f;
    acc(x, y) = 0.0f;
    acc(x, y) += a(k, y) * b(x, k);
    c(x, y) = acc(x, y);
    c.tile(x, y, xo, yo, xi, yi, 16, 16)
        .tile(xi, yi, tx, ty, xu, yu, 4, 4)
        .gpu_blocks(xo, yo)
        .gpu_threads(tx, ty);
    acc.compute_at(c, xo).store_in(memory);
    acc.tile(x, y, tx, ty, xu, yu, 4, 4).unroll(xu).unroll(yu).gpu_threads(tx, ty);
    acc.update()
        .tile(x, y, tx, ty, xu, yu, 4, 4)
        .split(k, ko, ki, 8)
        .reorder(xu, yu, ki, tx, ty, ko)
        .unroll(xu)
        .unroll(yu)
        .gpu_threads(tx, ty);
    a.compute_at(acc, ko).gpu_threads(x, y);
    b.compute_at(acc, ko).gpu_threads(x, y);
  }
};

TEST_F(Matmul, TilesAreStagedAndSumsStayInRegisters) {
  schedule(MemoryType::Register);
  const Function f = with_kernels(c);
  EXPECT_NE(kernel_text(f).find("allocate acc: float32[16i64] thread\n"), std::string::npos)
      << kernel_text(f);
  EXPECT_EQ(run_kernels(c, f, {20, 17}), "");
}

TEST_F(Matmul, SumsMayLieInSharedMemory) {
  schedule(MemoryType::GPUShared);
  EXPECT_EQ(run_kernels(c, {20, 17}), "");
}

TEST_F(Kernels, RegistersBelongToOneThread) {
  Blur b = blur();
  b.by.gpu_tile(x, y, xi, yi, 16, 4);
  b.bx.compute_at(b.by, x).gpu_threads(x, y).store_in(MemoryType::Register);
  const std::string why = run_kernels(b.by, {50, 37});
  EXPECT_EQ(why.find("error: cannot keep 'bx' in registers of the threads of kernel 'by.s0'\n"
                     "  why: threads ("),
            0u)
      << why;
  EXPECT_NE(why.find("and a thread does not see another one's registers\n"
                     "  fix: use store_in(MemoryType::GPUShared), or loops over threads in which "
                     "each element of 'bx' is one thread's"),
            std::string::npos)
      << why;
}

// The kernel without its barrier number `which`.
class WithoutBarrier : public StmtRewriter {
 public:
  explicit WithoutBarrier(int which) : left_(which) {}
  static int count(const Function &f) {
    int n = 0;
    for_each_stmt(f.body, [&](const Stmt &s) { n += s->kind == StmtKind::Barrier; });
    return n;
  }

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Barrier && left_-- == 0) return make_block({});
    return rewrite_children(s);
  }

 private:
  int left_;
};

Function without_barrier(Function f, int which) {
  f.body = WithoutBarrier(which)(f.body);
  return f;
}

TEST_F(Matmul, EachMissingBarrierIsFoundTwice) {
  schedule(MemoryType::GPUShared);
  const Function placed = with_kernels(c, "place_barriers"), all = with_kernels(c);
  const int barriers = WithoutBarrier::count(placed);
  EXPECT_GE(barriers, 2);
  EXPECT_EQ(WithoutBarrier::count(all), barriers);
  EXPECT_FALSE(missing_barrier(placed));
  for (int i = 0; i < barriers; i++) {
    const auto proof = missing_barrier(without_barrier(placed, i));
    ASSERT_TRUE(proof) << i;
    EXPECT_NE(proof->find("no barrier is between"), std::string::npos) << *proof;
    const std::string run = run_kernels(c, without_barrier(all, i), {20, 17});
    EXPECT_EQ(run.find("error: race in kernel 'c.s0': element "), 0u) << i << ": " << run;
  }
}

}  // namespace
}  // namespace polyhalite::kernels_test
