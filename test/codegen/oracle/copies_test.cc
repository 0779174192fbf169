// Asynchronous copies into rings of shared memory, and matrices loaded from it: kernels on the CPU
// against the interpreter, and planted faults.
#include <gtest/gtest.h>

#include "codegen/passes/prove_barriers.h"
#include "test/codegen/kernel_run.h"
#include "test/support/half_product.h"

namespace polyhalite::copies_test {
namespace {

int count(const Function &f, StmtKind kind) {
  int n = 0;
  for_each_stmt(f.body, [&](const Stmt &s) { n += s->kind == kind; });
  return n;
}

int count_instruction(const Function &f, const std::string &name) {
  int n = 0;
  for_each_stmt(f.body,
                [&](const Stmt &s) { n += s->kind == StmtKind::Collective && s->name == name; });
  return n;
}

// The function without its statement number `which` of this kind.
class Without : public StmtRewriter {
 public:
  Without(StmtKind kind, int which) : kind_(kind), left_(which) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == kind_ && left_-- == 0) return make_block({});
    return rewrite_children(s);
  }

 private:
  const StmtKind kind_;
  int left_;
};

Function without(Function f, StmtKind kind, int which) {
  f.body = Without(kind, which)(f.body);
  return f;
}

struct Copies : testing::Test {
  Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
  RVar ro{"ro"}, ri{"ri"};
  Func t{"t"}, sum{"sum"}, out{"out"};
  Buffer<float> image = picture();

  static Buffer<float> picture() {
    Buffer<float> b({40, 64}, "picture");
    b.for_each_element([&](int i, int j) { b(i, j) = static_cast<float>((i * 7 + j * 3) % 11); });
    return b;
  }

  // Each block sums 8 rows; steps of 4 columns are staged, all threads of a row read them.
  void schedule(int stages, int columns = 40) {
    RDom r(0, columns, "r");
    t(x, y) = image(x, y);
    sum(x, y) = 0.0f;
    sum(x, y) += t(r, y) * cast<float>(x + 1);
    out(x, y) = sum(x, y);
    out.bound(x, 0, 4);
    out.split(y, y, yi, 8).reorder(x, yi, y).gpu_blocks(y).gpu_threads(x, yi);
    sum.compute_at(out, y).store_in(MemoryType::Register).gpu_threads(x, y);
    sum.update().split(r.x, ro, ri, 4).reorder(ri, x, y, ro).gpu_threads(x, y);
    t.compute_at(sum, ro).hoist_storage(out, y).async().ring_buffer(stages).gpu_threads(x, y);
  }
};

TEST_F(Copies, StepsAreCopiedAhead) {
  schedule(3);
  const Function f = with_kernels(out, "pipeline_copies");
  const std::string text = kernel_text(f);
  EXPECT_NE(text.find("allocate t: float32(0, 4, 0, 8, 0, 3) block\n"), std::string::npos) << text;
  EXPECT_NE(text.find("wait_copies 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("async t("), std::string::npos) << text;
  EXPECT_EQ(run_kernels(out, {4, 16}), "");
}

TEST_F(Copies, OneBarrierAnIteration) {
  schedule(3);
  // What the loop begins with, and no more.
  EXPECT_EQ(count(with_kernels(out), StmtKind::Barrier), 1) << kernel_text(with_kernels(out));
}

// A tail that is shifted inwards copies some rows twice, by two threads.
TEST_F(Copies, RowsMayBeCopiedTwice) {
  schedule(3);
  Var yo("yo"), ys("ys");
  t.split(y, yo, ys, 3).serial(ys).reorder(x, yo, ys);
  EXPECT_EQ(run_kernels(out, {4, 16}), "");
}

// The place of what is read is no sum of coordinates; whether an iteration meets the copy of
// another one is not decided.
TEST_F(Copies, WhatIsNotProvenToBeWaitedForIsRefused) {
  Var xo("xo"), xio("xio"), xii("xii"), yo("yo");
  Func s("s"), f("f");
  s(x, y) = image(x, y);
  f(x, y) = s(clamp(x + 1, 0, 8), x - 2);
  f.split(x, xo, xi, 1, TailStrategy::GuardWithIf)
      .split(xi, xio, xii, 3)
      .split(y, yo, yi, 5)
      .reorder(xio, yi, xii, xo, yo)
      .gpu_blocks(xo, yo)
      .gpu_threads(xio, yi);
  s.compute_at(f, xii).hoist_storage(f, xo).ring_buffer(2).async();
  s.reorder(y, x).gpu_threads(x).vectorize(y);
  std::string said;
  try {
    with_kernels(f);
  } catch (const CompileError &e) {
    said = e.what();
  }
  EXPECT_EQ(
      said,
      "error: cannot produce 's' asynchronously in kernel 'f.s0'\n"
      "  why: it is not proven that all wait for it: two threads may access one element of s, "
      "the first by a copy that nobody has waited for\n"
      "  fix: stage what is read at sums of coordinates, or drop async");
}

struct Rings : Copies, testing::WithParamInterface<int> {};

TEST_P(Rings, OfAnyDepth) {
  schedule(GetParam());
  EXPECT_EQ(run_kernels(out, {4, 16}), "");
}

// More places than steps, and a last step that is not whole.
TEST_P(Rings, LongerThanTheLoop) {
  schedule(GetParam(), 6);
  EXPECT_EQ(run_kernels(out, {4, 16}), "");
}

INSTANTIATE_TEST_SUITE_P(Copies, Rings, testing::Values(2, 3, 4, 8));

// Each wait, commit and barrier is needed; the proof and the race check both say so.
TEST_F(Copies, MissingWaitsAreFoundTwice) {
  schedule(3);
  const Function placed = with_kernels(out, "place_barriers"), all = with_kernels(out);
  EXPECT_FALSE(missing_barrier(placed)) << *missing_barrier(placed);
  const struct {
    StmtKind kind;
    int which;
    const char *proof, *run;
  } kFaults[] = {
      {StmtKind::WaitCopies, 0, "the first by a copy that nobody has waited for",
       "and nobody has waited for the copy"},
      {StmtKind::CommitCopies, 1, "the first by a copy that nobody has waited for",
       "and nobody has waited for the copy"},
      {StmtKind::Barrier, 0, "no barrier is between", "no barrier is between"},
  };
  for (const auto &fault : kFaults) {
    const auto proof = missing_barrier(without(placed, fault.kind, fault.which));
    ASSERT_TRUE(proof);
    EXPECT_NE(proof->find(fault.proof), std::string::npos) << *proof;
    const std::string run = run_kernels(out, without(all, fault.kind, fault.which), {4, 16});
    EXPECT_EQ(run.find("error: race in kernel 'out.s0': element "), 0u) << run;
    EXPECT_NE(run.find(fault.run), std::string::npos) << run;
  }
}

// Where a tail overlaps, two threads copy one element.
TEST(CopiesOfOneElement, MayBringOneValueOnly) {
  auto run = [](const std::string &value) -> std::string {
    const Function f = parse_function(R"(func f(in: input float32[1], out: output float32[1]) {
  copy_to_device in
  copy_to_device out
  kernel f threads (4, 1, 1) {
    for b in (0, 1) gpu_block {
      allocate t: float32(0, 2) block
      for x in (0, 4) gpu_thread {
        async t(x/2) = )" + value + R"(
      }
      commit_copies
      wait_copies 0
      barrier
      for x in (0, 2) gpu_thread {
        out(x) = t(x)
      }
    }
  }
  device_dirty out
}
)");
    TestBuffer in(Float(32), {{0, 4}}), out(Float(32), {{0, 2}});
    for (int i = 0; i < 4; i++) in.elements<float>()[i] = static_cast<float>(i + 1);
    IrArguments args;
    args.buffers = {{"in", in.raw()}, {"out", out.raw()}};
    try {
      interpret_ir(f, args, {});
    } catch (const Error &e) {
      return e.what();
    }
    return std::to_string(out.elements<float>()[1]);
  };
  EXPECT_EQ(run("in(x/2)"), std::to_string(2.0f));
  EXPECT_NE(run("in(x)").find("race in kernel 'f': element 0 of 't' is copied by thread (0, 0, 0)"),
            std::string::npos)
      << run("in(x)");
}

TEST_F(Copies, OnlyCopiesAreAsynchronous) {
  schedule(3);
  Func u("u");
  std::string why;
  try {
    RDom r(0, 8, "r");
    Func v("v"), w("w");
    v(x, y) = image(x, y) + 1.0f;
    w(x, y) = 0.0f;
    w(x, y) += v(r, y);
    u(x, y) = w(x, y);
    u.split(y, y, yi, 8).reorder(x, yi, y).gpu_blocks(y).gpu_threads(x, yi).bound(x, 0, 4);
    w.compute_at(u, y).store_in(MemoryType::Register).gpu_threads(x, y);
    w.update().reorder(x, y, r.x).gpu_threads(x, y);
    v.compute_at(w, r.x).hoist_storage(u, y).async().ring_buffer(2).gpu_threads(x, y);
    with_kernels(u);
  } catch (const CompileError &e) {
    why = e.what();
  }
  EXPECT_NE(why.find("cannot produce 'v' asynchronously in kernel 'u.s0'\n"
                     "  why: asynchronous copies move elements of buffers of the device as they "
                     "are, and it computes picture("),
            std::string::npos)
      << why;
}

struct HalfProducts : testing::Test {
  static HalfProduct product(const ProductTiles &tiles, bool b_by_rows = true) {
    // Small numbers, which float16 and sums of products of them hold exactly.
    Buffer<float16_t> a({64, 32}, "left"), b({b_by_rows ? 32 : 64, b_by_rows ? 64 : 32}, "right");
    a.for_each_element(
        [&](int k, int m) { a(k, m) = float16_t(static_cast<float>((k * 3 + m * 5) % 7 - 3)); });
    b.for_each_element(
        [&](int i, int j) { b(i, j) = float16_t(static_cast<float>((i * 2 + j * 3) % 5 - 2)); });
    HalfProduct p([a](const Expr &k, const Expr &m) { return a(k, m); },
                  [b](const Expr &n, const Expr &k) { return b(n, k); }, 64);
    p.schedule(32, 32, tiles);
    return p;
  }
  static constexpr ProductTiles kSmall = {32, 32, 32, 16, 16, 1, 8};
};

TEST_F(HalfProducts, FragmentsAreLoadedByInstructions) {
  HalfProduct p = product(kSmall);
  const Function f = with_kernels(p.c);
  EXPECT_GT(count_instruction(f, "ldmatrix_x4"), 0) << kernel_text(f);
  EXPECT_GT(count_instruction(f, "ldmatrix_x2_trans"), 0);
  EXPECT_EQ(run_kernels(p.c, f, {32, 32}), "");
}

TEST_F(HalfProducts, RowsThatAreNotAlignedAreLoadedByElement) {
  ProductTiles tiles = kSmall;
  tiles.pad = 1;
  HalfProduct p = product(tiles);
  const Function f = with_kernels(p.c);
  EXPECT_EQ(count_instruction(f, "ldmatrix_x4"), 0) << kernel_text(f);
  EXPECT_EQ(run_kernels(p.c, f, {32, 32}), "");
}

TEST_F(HalfProducts, StagesAreCopiedAhead) {
  ProductTiles tiles = kSmall;
  tiles.k = 16;
  tiles.stages = 3;
  HalfProduct p = product(tiles);
  const Function f = with_kernels(p.c);
  EXPECT_GT(count_instruction(f, "ldmatrix_x4"), 0) << kernel_text(f);
  EXPECT_EQ(count(f, StmtKind::Barrier), 1) << kernel_text(f);
  EXPECT_EQ(run_kernels(p.c, f, {32, 32}), "");
}

// Lanes that give each other's rows bring other sums.
class SwapRows : public StmtRewriter {
 public:
  int swapped = 0;

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind != StmtKind::Collective || s->name != "ldmatrix_x4") return rewrite_children(s);
    swapped++;
    const Expr lane = make_variable(Int(32), VariableKind::Loop, "c.s0.lane");
    const Expr other = make_select(make_binary(Op::Eq, lane, Expr(4)), Expr(5),
                                   make_select(make_binary(Op::Eq, lane, Expr(5)), Expr(4), lane));
    return substitute("c.s0.lane", other, s);
  }
};

TEST_F(HalfProducts, SwappedRowsAreFound) {
  HalfProduct p = product(kSmall);
  Function f = with_kernels(p.c);
  SwapRows swap;
  f.body = swap(f.body);
  ASSERT_GT(swap.swapped, 0) << kernel_text(f);
  EXPECT_EQ(run_kernels(p.c, f, {32, 32}).find("differs at element "), 0u);
}

}  // namespace
}  // namespace polyhalite::copies_test
