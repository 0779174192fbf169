// Matrix instructions: products whose lanes hold fragments, against the interpreter.
#include <gtest/gtest.h>

#include "codegen/ir/instructions.h"
#include "test/codegen/kernel_run.h"

namespace polyhalite::tensor_test {
namespace {

constexpr const char *kMma = "mma_m16n8k16_f16_f32";

struct Tensorize : testing::Test {
  Var x{"x"}, y{"y"}, xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, wy{"wy"}, m{"m"}, n{"n"}, nt{"nt"};
  RVar ko{"ko"}, ki{"ki"};
  Func a{"a"}, b{"b"}, acc{"acc"}, c{"c"};

  // Small numbers, which float16 and sums of products of them hold exactly.
  void define(Type in = Float(16)) {
    RDom k(0, 32, "k");
    a(x, y) = cast(in, cast<float>((x * 3 + y * 5) % 7 - 3));
    b(x, y) = cast(in, cast<float>((x * 2 + y * 3) % 5 - 2));
    acc(x, y) = 0.0f;
    acc(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
    c(x, y) = acc(x, y);
    k_ = k;
  }

  // Blocks of 32x16, one warp for each 16 rows, steps of 16.
  void schedule(const char *instruction = kMma) {
    c.bound(x, 0, 32).bound(y, 0, 64);
    c.tile(x, y, xo, yo, xi, yi, 16, 32)
        .split(yi, wy, m, 16)
        .split(xi, nt, n, 8)
        .reorder(n, m, nt, wy, xo, yo)
        .gpu_blocks(xo, yo)
        .gpu_threads(wy)
        .tensorize(m, n, instruction);
    acc.compute_at(c, xo).store_in(MemoryType::Register);
    acc.split(y, wy, m, 16)
        .split(x, nt, n, 8)
        .reorder(n, m, nt, wy)
        .gpu_threads(wy)
        .tensorize(m, n, instruction);
    acc.update()
        .split(y, wy, m, 16)
        .split(x, nt, n, 8)
        .split(k_.x, ko, ki, 16)
        .reorder(ki, n, m, nt, wy, ko)
        .gpu_threads(wy)
        .tensorize(m, n, ki, instruction);
    Var t("t"), u("u");
    a.compute_at(acc, ko).fuse(x, y, t).split(t, t, u, 32).gpu_threads(u);
    b.compute_at(acc, ko).fuse(x, y, t).split(t, t, u, 32).gpu_threads(u);
  }

  std::string refused() {
    try {
      with_kernels(c);
    } catch (const CompileError &e) {
      const std::string text = e.what();
      return text.substr(text.find("error: "));
    }
    return "none";
  }

  RDom k_;
};

TEST_F(Tensorize, ProductsAreTheInterpreters) {
  define();
  schedule();
  const Function f = with_kernels(c);
  const std::string text = kernel_text(f);
  EXPECT_NE(text.find(std::string("collective ") + kMma), std::string::npos) << text;
  // 16x16 sums of a warp in 8 registers of a lane.
  EXPECT_NE(text.find("allocate acc: float32[8i64] thread\n"), std::string::npos) << text;
  EXPECT_EQ(run_kernels(c, f, {32, 64}), "");
}

// A map of lanes that has two of them swapped gives other sums: lanes hold what they are said to.
class SwapLanes : public StmtRewriter {
 public:
  int swapped = 0;

 protected:
  Stmt rewrite(const Stmt &s) override {
    // e.b[i] = ..., in front of the instruction
    const bool fragment = s->kind == StmtKind::Store && s->name == "acc.s1.m.element.b";
    if (!fragment) return rewrite_children(s);
    swapped++;
    const Expr lane = make_variable(Int(32), VariableKind::Loop, "c.s0.lane");
    const Expr other = make_select(make_binary(Op::Eq, lane, Expr(4)), Expr(5),
                                   make_select(make_binary(Op::Eq, lane, Expr(5)), Expr(4), lane));
    return substitute("c.s0.lane", other, s);
  }
};

// Rows of 17 begin anywhere, so that lanes load their elements themselves.
TEST_F(Tensorize, SwappedLanesAreFound) {
  define();
  schedule();
  b.align_storage(x, 17);
  Function f = with_kernels(c);
  SwapLanes swap;
  f.body = swap(f.body);
  ASSERT_GT(swap.swapped, 0) << kernel_text(f);
  EXPECT_EQ(run_kernels(c, f, {32, 64}).find("differs at element "), 0u);
}

TEST_F(Tensorize, OperandsAreCheckedAgainstTheInstruction) {
  define();
  schedule("mma_m16n8k16_bf16_f32");
  EXPECT_EQ(
      refused(),
      "error: cannot make 'mma_m16n8k16_bf16_f32' of the loops around 'acc.s1.m'\n"
      "  why: its factor float32(a(acc.s1.ki + acc.s1.ko*16, acc.s1.m + acc.s1.wy*16 + "
      "c.s0.yo*32)) is no bfloat16 that is cast to float32\n"
      "  fix: give tensorize an update f(n, m) += cast<float>(a(k, m)) * cast<float>(b(n, k)) "
      "over whole tiles");
}

TEST_F(Tensorize, UnknownInstructionsAreListed) {
  define();
  schedule("mma_m16n8k8_f16_f32");
  EXPECT_EQ(refused(),
            "error: cannot tensorize 'acc' by 'mma_m16n8k8_f16_f32'\n"
            "  why: no matrix instruction has this name\n"
            "  fix: instructions are: mma_m16n8k16_f16_f32, mma_m16n8k16_bf16_f32");
}

}  // namespace
}  // namespace polyhalite::tensor_test
