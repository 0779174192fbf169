// Kernels in loop IR: their text, their shape, and what they use of the function around them.
#include "codegen/ir/kernel.h"

#include <gtest/gtest.h>

#include "codegen/ir/text.h"
#include "codegen/ir/verify.h"

namespace polyhalite::kernel_test {
namespace {

Function around(const std::string &body) {
  return parse_function("func f(in: input float32[2], k: int32, out: output float32[2]) {\n" +
                        body + "\n}\n");
}

std::string problem(const std::string &body, IrLevel level = IrLevel::Flat) {
  const auto d = verify(around(body), level);
  return d ? d->what : "none";
}

// In a kernel of 8 threads with one loop over blocks.
std::string in_block(const std::string &body) {
  return problem("kernel f threads (8, 1, 1) { for b in (0, k) gpu_block {\n" + body + "\n} }");
}

TEST(KernelText, ReadsBack) {
  const std::string text = R"(func f(in: input float32[2], k: int32, out: output float32[2]) {
  allocate g: float32[int64(k)] mirrored
  copy_to_device in
  copy_to_device g
  kernel f threads (32, 2, 1) {
    for by in (0, k) gpu_block {
      for bx in (0, out.extent.0) gpu_block {
        let x0 = bx*32
        allocate t: float32[64i64] block
        allocate r: float32[4i64] thread
        for ty in (0, 2) gpu_thread {
          for tx in (0, 32) gpu_lane {
            t[int64(ty)*32i64 + int64(tx)] = in[int64(x0) + int64(tx)]
          }
        }
        barrier
        for ty in (0, 2) gpu_thread {
          for tx in (0, 32) gpu_lane {
            collective mma (r[0i64], t[int64(tx)])
            g[int64(bx)] = t[int64(ty)] + r[0i64]
          }
        }
      }
    }
  }
  device_dirty g
  copy_to_host g
  host_dirty out
  out[0i64] = g[0i64]
}
)";
  const Function f = parse_function(text);
  EXPECT_EQ(to_text(f), text);
  EXPECT_FALSE(verify(f, IrLevel::Emittable));
}

TEST(KernelText, WordsAreNamesInBackquotes) {
  const std::string text = R"(func `kernel`(`barrier`: int32, out: output int32[1]) {
  `collective`[0i64] = barrier
}
)";
  EXPECT_EQ(
      to_text(Function{"kernel",
                       {{"barrier", false, false, Int(32), 0}, {"out", true, true, Int(32), 1}},
                       {},
                       INT64_MAX,
                       make_store("collective", make_int(Int(64), 0),
                                  make_variable(Int(32), VariableKind::Param, "barrier"))}),
      text);
}

TEST(KernelShape, LoopsStandInKernels) {
  EXPECT_EQ(problem("for t in (0, 8) gpu_thread { }"),
            "loop IR breaks 'kernel': the gpu_thread loop 't' stands in no kernel");
  EXPECT_EQ(problem("for t in (k, 8) gpu_block { }", IrLevel::Lowered), "none");
  EXPECT_EQ(problem("barrier"), "loop IR breaks 'kernel': a barrier outside of kernels");
  EXPECT_EQ(problem("kernel f threads (1, 1, 1) { for x in (0, k) { } }"),
            "loop IR breaks 'kernel': kernel 'f' has no loop over blocks");
  EXPECT_EQ(in_block("for c in (0, 3) gpu_block { }"), "none");
  EXPECT_EQ(in_block("let n = k for c in (0, 3) gpu_block { }"),
            "loop IR breaks 'kernel': the gpu_block loop 'c' stands in a block");
  EXPECT_EQ(in_block("for c in (0, b) gpu_block { }"),
            "loop IR breaks 'kernel': the extent of 'c' uses 'b', which the kernel binds");
  EXPECT_EQ(in_block("for t in (0, 8) gpu_thread { for x in (0, 8) parallel { } }"),
            "loop IR breaks 'kernel': the parallel loop 'x' stands in a phase");
}

TEST(KernelShape, NothingIsWrittenOutsideOfPhases) {
  EXPECT_EQ(in_block("out[int64(b)] = 1.0f"),
            "loop IR breaks 'kernel': a statement that a block may not have");
  EXPECT_EQ(in_block("for t in (0, 8) gpu_thread { out[int64(t)] = 1.0f }"), "none");
}

TEST(KernelShape, BarriersStandAtBlockLevel) {
  EXPECT_EQ(in_block("for t in (0, 8) gpu_thread { barrier }"),
            "loop IR breaks 'kernel': a statement that a phase may not have");
  EXPECT_EQ(in_block("for i in (0, 8) { if i < 4 { barrier } }"), "none");
}

TEST(KernelShape, LanesAreInnermostAndFew) {
  EXPECT_EQ(in_block("for t in (0, 33) gpu_lane { }"),
            "loop IR breaks 'kernel': the loop over lanes 't' may have more than 32");
  EXPECT_EQ(in_block("for t in (0, 32) gpu_lane { for u in (0, 2) gpu_thread { } }"),
            "loop IR breaks 'kernel': the loop over lanes 't' is not the innermost");
}

TEST(KernelShape, HomesAreWhereTheyCanBe) {
  EXPECT_EQ(in_block("allocate t: float32[8i64] stack"),
            "loop IR breaks 'kernel': 't' has its home outside of kernels");
  EXPECT_EQ(problem("allocate t: float32[8i64] block"),
            "loop IR breaks 'kernel': 't' has its home in kernels");
  EXPECT_EQ(in_block("allocate t: float32[int64(k)] block"),
            "loop IR breaks 'constants': the allocation 't' has no constant size");
  EXPECT_EQ(in_block("allocate t: float32[60000i64] block"),
            "loop IR breaks 'kernel': 'f' takes 240000 bytes for a block");
  EXPECT_EQ(in_block("for t in (0, 8) gpu_thread { allocate a: float32[8i64] block }"),
            "loop IR breaks 'kernel': 'a' in a phase is no thread's own");
}

TEST(KernelShape, HostAndDeviceMemory) {
  EXPECT_EQ(problem("allocate g: float32[8i64] copy_to_device g"),
            "loop IR breaks 'device': 'g' has no memory on both sides here");
  EXPECT_EQ(problem("allocate g: float32[8i64] device g[0i64] = 1.0f"),
            "loop IR breaks 'device': 'g' is accessed on the host, where it has no memory");
  EXPECT_EQ(
      problem("allocate g: float32[8i64] kernel f threads (8, 1, 1) { for b in (0, 1) gpu_block "
              "{ for t in (0, 8) gpu_thread { g[0i64] = 1.0f } } }"),
      "loop IR breaks 'device': a kernel accesses 'g', which has no memory on the device");
}

TEST(KernelOperands, AreWhatTheKernelDoesNotBind) {
  const Function f = around(R"(
    let n = k*2
    allocate g: float32[int64(k)] device
    kernel f threads (8, 1, 1) {
      for b in (0, k) gpu_block {
        allocate s: float32[8i64] block
        for t in (0, 8) gpu_thread {
          s[int64(t)] = in[int64(b)*int64(in.stride.1) + int64(t)]
          g[int64(n)] = g[int64(t)] + s[int64(t)]
        }
      }
    })");
  const Stmt kernel = f.body->body[0]->body[0];
  ASSERT_EQ(kernel->kind, StmtKind::Kernel);
  const KernelOperands operands = kernel_operands(kernel);
  std::string text;
  for (const Expr &e : operands.scalars) text += as_variable(e)->name + " ";
  for (const KernelBuffer &b : operands.buffers) {
    text += b.name + (b.is_read ? " read" : "") + (b.is_written ? " written" : "") + ", ";
  }
  EXPECT_EQ(text, "in.stride.1 k n g read written, in read, ");
  EXPECT_EQ(block_bytes(kernel), 128);
}

}  // namespace
}  // namespace polyhalite::kernel_test
