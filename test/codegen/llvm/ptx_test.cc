// Kernels of loop IR as PTX: what stands in the text, and what ptxas makes of it on every card.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "codegen/ir/text.h"
#include "codegen/ir/verify.h"
#include "codegen/llvm/device_code.h"
#include "polyhalite/error.h"
#include "test/support/ptxas.h"

namespace polyhalite::ptx_test {
namespace {

const Target kPortable("x86-64-linux-cuda-cuda_capability_80");

Function parsed(const std::string &text) {
  Function f = parse_function(text);
  const auto wrong = verify(f, IrLevel::Emittable);
  EXPECT_FALSE(wrong) << wrong->to_string();
  return f;
}

// Lines that multiply what two registers make by a constant: ptxas mixes such constants up.
std::string constants_outside_of_products(const std::string &ptx) {
  std::set<std::string> products;
  std::string found;
  static const std::regex kProduct("\\s*mul\\.lo\\.s\\d+\\s+(%\\w+), %\\w+, %\\w+;"),
      kMultiple(
          "\\s*(?:shl\\.b(?:16|32)|m(?:ul|ad)\\.lo\\.s(?:16|32))\\s+%\\w+, (%\\w+), -?\\d+[,;].*");
  std::istringstream lines(ptx);
  std::smatch at;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, at, kProduct)) products.insert(at[1]);
    if (std::regex_match(line, at, kMultiple) && products.count(at[1])) found += line + "\n";
  }
  return found;
}

std::string ptx_of(const std::string &text, const Target &target = kPortable) {
  const std::string ptx = ptx_text(parsed(text), target);
  EXPECT_EQ(constants_outside_of_products(ptx), "") << ptx;
  return ptx;
}

// Instructions of the text from the entry on, without registers and labels: "ld.global.nc.f32".
std::vector<std::string> mnemonics(const std::string &ptx) {
  std::vector<std::string> list;
  static const std::regex kInstruction(
      "\n\\s+(?:@!?%p\\d+ )?([a-z][a-z0-9_]*(?:[.:][a-z0-9_:]+)*)[ ;]");
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), kInstruction), end; at != end; ++at) {
    list.push_back((*at)[1]);
  }
  return list;
}

int count_of(const std::string &ptx, const std::string &mnemonic) {
  int n = 0;
  for (const std::string &m : mnemonics(ptx)) n += m == mnemonic;
  return n;
}

// Assembled for every card, with nothing in local memory and no remark of ptxas's on what it had
// to mend.
void expect_assembles(const std::string &text, const std::map<int, bool> &opcodes = {}) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or under /usr/local/cuda*";
  const std::string portable = ptx_of(text);
  const std::string hopper = ptx_of(text, kPortable.with_feature(Target::SM90a));
  for (const char *architecture : {"sm_80", "sm_89", "sm_90", "sm_90a"}) {
    const bool is_specific = std::string(architecture) == "sm_90a";
    const Assembled a = assemble(is_specific ? hopper : portable, architecture);
    ASSERT_TRUE(a.is_assembled) << architecture << "\n" << a.log << portable;
    EXPECT_EQ(a.total("bytes stack frame"), 0) << architecture << "\n" << a.log;
    EXPECT_EQ(a.total("bytes spill stores"), 0) << architecture << "\n" << a.log;
    EXPECT_EQ(a.count(kStl), 0) << architecture;
    EXPECT_EQ(a.log.find("C75"), std::string::npos) << a.log;
    for (const auto &[opcode, is_there] : opcodes) {
      EXPECT_EQ(a.count(opcode) > 0, is_there) << architecture << " " << std::hex << opcode;
    }
  }
}

const char *const kBlur = R"(func blur(in: input float32[2], out: output float32[2]) {
  copy_to_device in
  copy_to_device out
  kernel blur threads (32, 8, 1) {
    for by in (0, (out.extent.1 + 7)/8) gpu_block {
      for bx in (0, (out.extent.0 + 31)/32) gpu_block {
        allocate t: float32[340i64] block
        for ty in (0, 8) gpu_thread {
          for tx in (0, 32) gpu_thread {
            for i in (0, 2) {
              if tx + i*32 < 34 {
                t[int64(ty)*34i64 + int64(tx) + int64(i)*32i64] = in[int64(bx)*32i64 + int64(by)*8i64*int64(in.stride.1) + int64(tx) + int64(i)*32i64 + int64(ty)*int64(in.stride.1)]
              }
            }
          }
        }
        barrier
        for ty in (0, 6) gpu_thread {
          for tx in (0, 32) gpu_thread {
            out[int64(bx)*32i64 + int64(tx) + (int64(by)*8i64 + int64(ty))*int64(out.stride.1)] = (t[int64(ty)*34i64 + int64(tx)] + t[int64(ty)*34i64 + int64(tx) + 34i64] + t[int64(ty)*34i64 + int64(tx) + 68i64])*0.5f
          }
        }
      }
    }
  }
  device_dirty out
}
)";

TEST(Ptx, BlocksThreadsAndBarriers) {
  const std::string ptx = ptx_of(kBlur);
  EXPECT_NE(ptx.find(".target sm_80"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find(".version 8.3"), std::string::npos);
  EXPECT_NE(ptx.find(".visible .entry kernel_blur("), std::string::npos);
  EXPECT_NE(ptx.find(".maxntid 32, 8, 1"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find(".shared .align 1024 .b8 kernel_blur_block_memory[1408]"), std::string::npos)
      << ptx;
  EXPECT_EQ(count_of(ptx, "bar.sync"), 1) << ptx;
  EXPECT_GE(count_of(ptx, "ld.global.nc.f32"), 1) << ptx;
  EXPECT_EQ(count_of(ptx, "ld.shared.f32"), 3) << ptx;
  EXPECT_EQ(count_of(ptx, "st.global.f32"), 1) << ptx;
  // Whoever leaves a phase out comes to the barrier all the same.
  EXPECT_EQ(ptx.find("ret;", ptx.find("bar.sync")), ptx.find("ret;")) << ptx;
}

TEST(Ptx, BlocksThreadsAndBarriersAreAssembled) { expect_assembles(kBlur, {{kBar, true}}); }

// The card holds a launch against the product of the limits: 8 x 4 threads are fine.
TEST(Ptx, ThreadsThatNobodyCountsBeforeTheLaunch) {
  const std::string text = R"(func f(n: int32, out: output int32[1]) {
  kernel f threads (n, 4, 1) {
    for b in (0, n) gpu_block {
      for y in (0, 4) gpu_thread {
        for x in (0, n) gpu_thread {
          out[int64(b)*32i64 + int64(y)*8i64 + int64(x)] = y
        }
      }
    }
  }
}
)";
  const std::string ptx = ptx_of(text);
  EXPECT_NE(ptx.find(".maxntid 1024, 1, 1"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find("%tid.y"), std::string::npos) << ptx;
  expect_assembles(text);
}

// There is one thread, and perhaps no iteration for it.
TEST(Ptx, PhasesWithoutIterationsAreLeftOut) {
  const std::string ptx = ptx_of(R"(func f(n: int32, out: output int32[1]) {
  kernel f threads (1, 1, 1) {
    for b in (0, 1) gpu_block {
      for x in (0, min(n, 1)) gpu_thread {
        out[0i64] = 7
      }
    }
  }
}
)");
  EXPECT_NE(ptx.find("setp."), std::string::npos) << ptx;
}

// One entry for each kernel, for sm_90a only where it is asked for.
TEST(Ptx, VariantsOfAFunction) {
  const Function f = parsed(kBlur);
  const DeviceCode portable = compile_kernels(f, kPortable);
  EXPECT_EQ(portable.capability, 80);
  EXPECT_EQ(portable.sm_90a, "");
  ASSERT_EQ(portable.kernels.size(), 1u);
  EXPECT_EQ(portable.kernels[0].symbol, "kernel_blur");
  const DeviceCode both = compile_kernels(f, kPortable.with_feature(Target::SM90a));
  EXPECT_EQ(both.portable, portable.portable);
  EXPECT_NE(both.sm_90a.find(".target sm_90a"), std::string::npos);
  EXPECT_EQ(compile_kernels(f, Target("x86-64-linux-cuda")).capability, 80);
  EXPECT_EQ(compile_kernels(f, Target("x86-64-linux-cuda-cuda_capability_90")).capability, 90);
}

TEST(Ptx, WithoutKernelsThereIsNone) {
  const Function f = parse_function("func f(out: output int32[0]) { out[0i64] = 1 }");
  try {
    ptx_text(f, kPortable);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_STREQ(e.what(),
                 "error: 'f' has no PTX\n"
                 "  why: no stage of it runs on a GPU\n"
                 "  fix: schedule a stage with gpu_blocks and gpu_threads, or gpu_tile");
  }
}

// In one block of 32 threads: out[t] = EXPRESSION over a[t].
std::string pointwise(const std::string &expression, const std::string &in,
                      const std::string &out) {
  return "func f(a: input " + in + "[1], out: output " + out +
         "[1]) {\n  kernel f threads (32, 1, 1) { for b in (0, (out.extent.0 + 31)/32) gpu_block "
         "{ for t in (0, 32) gpu_thread {\n if b*32 + t < out.extent.0 { let i = int64(b)*32i64 + "
         "int64(t) out[i] = " +
         expression + " } } } }\n}\n";
}

TEST(Ptx, ProductsAndSumsFuse) {
  const std::string ptx = ptx_of(pointwise("a[i]*a[i] + 1.0f", "float32", "float32"));
  EXPECT_EQ(count_of(ptx, "fma.rn.f32"), 1) << ptx;
}

TEST(Ptx, IndicesHave32Bits) {
  const std::string text = pointwise("a[i]", "uint8", "uint8");
  const std::string narrow = ptx_of(text);
  const std::string wide = ptx_of(text, kPortable.with_feature(Target::LargeBuffers));
  EXPECT_LE(count_of(narrow, "add.s64"), 2) << narrow;
  EXPECT_NE(narrow, wide);
}

// With shifts by k of two of them, ptxas 12.4 to 13.5 takes x << k for x*k in the third.
TEST(Ptx, ConstantsStandAtFactors) {
  EXPECT_NE(constants_outside_of_products("\tmul.lo.s32 \t%r4, %r1, %r2;\n"
                                          "\tshl.b32 \t%r5, %r4, 2;\n"),
            "");
  const std::string ptx = ptx_of(R"(func f(n: int32, m: int32, out: output int32[2]) {
  kernel f threads (1, 1, 1) {
    for b in (0, n) gpu_block {
      for t in (0, 1) gpu_thread {
        out[int64(b)*int64(n)*4i64 + int64(b)*int64(out.stride.1)*-3i64 + int64(m)] = b*m*2
        out[int64(b)] = b*n*m*8 + m
        out[int64(n)] = b*4*m*n
        out[ramp(int64(b)*2i64, 1i64, 2)] = broadcast(b, 2)*ramp(n, m, 2)*ramp(2, 3, 2)
        out[int64(m)] = int32(int16(b)*int16(n)*4i16)
      }
    }
  }
}
)");
  EXPECT_NE(ptx.find("mul.lo.s32 %r3, %r4, 4;"), std::string::npos) << ptx;
}

// Sums of two at once, which capability 9.0 has, lose their constants in ptxas 12.4 to 13.0 where
// one of the two is not wanted.
TEST(Ptx, SumsOf16BitsAreMadeOneByOne) {
  const std::string text = R"(func f(in: input int16[1], out: output int16[1]) {
  kernel f threads (32, 1, 1) {
    for b in (0, 1) gpu_block {
      for t in (0, 32) gpu_thread {
        out[ramp(int64(t)*3i64, 1i64, 3)] = min(in[ramp(int64(t)*3i64, 1i64, 3)] + broadcast(9i16, 3), broadcast(99i16, 3))
      }
    }
  }
}
)";
  for (const Target &target : {kPortable, Target("x86-64-linux-cuda-cuda_capability_90"),
                               kPortable.with_feature(Target::SM90a)}) {
    const std::string ptx = ptx_of(text, target);
    EXPECT_EQ(ptx.find("16x2"), std::string::npos) << ptx;
    EXPECT_EQ(count_of(ptx, "add.s16"), 2 * 3) << ptx;
    EXPECT_EQ(ptx.find(".target sm_90a") != std::string::npos, target.has_feature(Target::SM90a));
  }
}

TEST(Ptx, MathematicsIsAssembled) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or under /usr/local/cuda*";
  std::string sum = "a[i]";
  for (const char *f : {"exp",          "log",
                        "sin",          "cos",
                        "tan",          "asin",
                        "acos",         "atan",
                        "sinh",         "cosh",
                        "tanh",         "asinh",
                        "acosh",        "atanh",
                        "erf",          "sqrt",
                        "floor",        "ceil",
                        "round",        "trunc",
                        "fast_exp",     "fast_log",
                        "fast_sin",     "fast_cos",
                        "fast_inverse", "fast_inverse_sqrt"}) {
    sum += std::string(" + ") + f + "(a[i])";
  }
  const std::string text =
      pointwise(sum + " + pow(a[i], a[i]) + atan2(a[i], 2.0f)", "float32", "float32");
  const std::string ptx = ptx_of(text);
  for (const char *unit : {"ex2.approx.ftz.f32", "lg2.approx.ftz.f32", "sin.approx.ftz.f32",
                           "cos.approx.ftz.f32", "rcp.approx.ftz.f32", "rsqrt.approx.ftz.f32"}) {
    EXPECT_EQ(count_of(ptx, unit), 1) << unit;
  }
  const Assembled a = assemble(ptx, "sm_80");
  EXPECT_TRUE(a.is_assembled) << a.log;
  EXPECT_EQ(a.total("bytes spill stores"), 0) << a.log;
}

const char *const kCopies = R"(func f(in: input float32[2], out: output float32[1]) {
  kernel f threads (32, 1, 1) {
    for y in (0, out.extent.0/128) gpu_block {
      allocate t: float32[256i64] block
      for i in (0, 2) {
        for x in (0, 32) gpu_thread {
          async t[ramp(int64(i)*128i64 + int64(x)*4i64, 1i64, 4)] = in[ramp(int64(y)*int64(in.stride.1) + int64(x)*4i64 + int64(i)*128i64, 1i64, 4)]
        }
        commit_copies
      }
      wait_copies 1
      barrier
      for x in (0, 32) gpu_thread {
        out[int64(y)*32i64 + int64(x)] = t[127i64 + int64(x)*-4i64]
      }
    }
  }
}
)";

// Of 16 bytes where rows begin at multiples of them, else of 4.
TEST(Ptx, AsynchronousCopies) {
  const std::string ptx = ptx_of(kCopies);
  EXPECT_GE(count_of(ptx, "cp.async.cg.shared.global"), 1) << ptx;
  EXPECT_GE(count_of(ptx, "cp.async.ca.shared.global"), 4) << ptx;
  EXPECT_GE(count_of(ptx, "cp.async.commit_group"), 2) << ptx;
  EXPECT_NE(ptx.find("cp.async.wait_group 1;"), std::string::npos) << ptx;
  expect_assembles(kCopies, {{kLdgsts, true}});
}

TEST(Ptx, CopiesHaveASize) {
  std::string text = kCopies;
  for (size_t at; (at = text.find("float32")) != std::string::npos;) text.replace(at, 7, "uint8");
  const std::string wide = ", 1i64, 4)";
  for (size_t at; (at = text.find(wide)) != std::string::npos;) {
    text.replace(at, wide.size(), ", 1i64, 2)");
  }
  try {
    ptx_of(text);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_STREQ(e.what(),
                 "error: cannot produce 't' asynchronously in kernel 'f'\n"
                 "  why: a thread copies 2 bytes at once, and instructions copy 4, 8 or 16\n"
                 "  fix: vectorize its innermost dimension");
  }
}

// Without a library: the code is straight arithmetic in registers.
TEST(Ptx, MathematicsOfFloat64) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or under /usr/local/cuda*";
  for (const std::string f : {"exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
                              "cosh", "tanh", "asinh", "acosh", "atanh", "erf"}) {
    const std::string ptx = ptx_of(pointwise(f + "(a[i])", "float64", "float64"));
    EXPECT_EQ(ptx.find("call"), std::string::npos) << ptx;
    const Assembled a = assemble(ptx, "sm_80");
    EXPECT_TRUE(a.is_assembled) << f << "\n" << a.log;
    EXPECT_EQ(a.total("bytes spill stores") + a.total("bytes stack frame"), 0) << f << a.log;
  }
  for (const std::string f : {"pow", "atan2"}) {
    const std::string ptx = ptx_of(pointwise(f + "(a[i], a[i] + 1.0)", "float64", "float64"));
    EXPECT_TRUE(assemble(ptx, "sm_80").is_assembled) << f;
  }
}

TEST(Ptx, HalvesAreConvertedByTheMachine) {
  const std::string ptx =
      ptx_of(pointwise("float16(float32(a[i])*2.0f + 1.0f)", "float16", "float16"));
  EXPECT_EQ(count_of(ptx, "cvt.f32.f16"), 1) << ptx;
  EXPECT_EQ(count_of(ptx, "cvt.rn.f16.f32"), 1) << ptx;
}

// histogram: out[bin] += 1, maximum of floats, and an update without an instruction of its own.
std::string atomic(const std::string &update, const std::string &type) {
  return "func f(a: input int32[1], out: output " + type +
         "[1]) {\n  kernel f threads (32, 1, 1) { for b in (0, (a.extent.0 + 31)/32) gpu_block { "
         "for t in (0, 32) gpu_thread {\n let i = int64(a[int64(b)*32i64 + int64(t)])\n atomic { "
         "out[i] = " +
         update + " } } } }\n}\n";
}

TEST(Ptx, AtomicUpdates) {
  const std::string sum = ptx_of(atomic("out[i] + 1", "int32"));
  EXPECT_EQ(count_of(sum, "atom.global.add.u32") + count_of(sum, "red.global.add.u32"), 1) << sum;
  const std::string real = ptx_of(atomic("out[i] + 1.5f", "float32"));
  EXPECT_EQ(count_of(real, "atom.global.add.f32") + count_of(real, "red.global.add.f32"), 1)
      << real;
  const std::string product = ptx_of(atomic("out[i]*3", "int32"));
  EXPECT_EQ(count_of(product, "atom.global.cas.b32") +
                count_of(product, "atom.relaxed.sys.global.cas.b32"),
            1)
      << product;
  expect_assembles(atomic("out[i]*3", "int32"));
  expect_assembles(atomic("max(out[i], 1.5f)", "float32"));
}

// One warp multiplies 16 x 16 by 16 x 8 from block memory.
const char *const kMatrix =
    R"(func mma(a: input float16[2], b: input float16[2], out: output float32[2]) {
  kernel mma threads (32, 1, 1) {
    for bx in (0, 1) gpu_block {
      allocate s: float16[256i64] block
      allocate r: float16[128i64] block
      for t in (0, 32) gpu_lane {
        for i in (0, 8) {
          s[int64(i)*32i64 + int64(t)] = a[int64(i)*32i64 + int64(t)]
        }
        for i in (0, 4) {
          r[int64(i)*32i64 + int64(t)] = b[int64(i)*32i64 + int64(t)]
        }
      }
      barrier
      for t in (0, 32) gpu_lane {
        allocate fa: float16[8i64] thread
        allocate fb: float16[4i64] thread
        allocate fd: float32[4i64] thread
        fd[0i64] = 0.0f
        fd[1i64] = 0.0f
        fd[2i64] = 0.0f
        fd[3i64] = 0.0f
        collective ldmatrix_x4 (fa[0i64], s[int64(t % 16)*16i64 + int64(t/16)*8i64])
        collective ldmatrix_x2_trans (fb[0i64], r[int64(t % 16)*8i64])
        collective mma_m16n8k16_f16_f32 (fd[0i64], fa[0i64], fb[0i64])
        out[int64(t/4)*8i64 + int64(t % 4)*2i64] = fd[0i64]
        out[int64(t/4)*8i64 + int64(t % 4)*2i64 + 1i64] = fd[1i64]
        out[int64(t/4)*8i64 + int64(t % 4)*2i64 + 64i64] = fd[2i64]
        out[int64(t/4)*8i64 + int64(t % 4)*2i64 + 65i64] = fd[3i64]
      }
    }
  }
}
)";

// Sums of each thread's own go on from phase to phase; block memory is read four at a time.
const char *const kSums = R"(func sums(a: input float32[1], n: int32, out: output float32[1]) {
  kernel sums threads (32, 1, 1) {
    for bx in (0, 4) gpu_block {
      allocate s: float32[128i64] block
      allocate acc: float32[4i64] thread
      for t in (0, 32) gpu_thread {
        acc[ramp(0i64, 1i64, 4)] = broadcast(0.0f, 4)
      }
      for k in (0, n) {
        for t in (0, 32) gpu_thread {
          for i in (0, 4) {
            s[int64(i)*32i64 + int64(t)] = a[int64(k)*128i64 + int64(i)*32i64 + int64(t)]
          }
        }
        barrier
        for t in (0, 32) gpu_thread {
          acc[ramp(0i64, 1i64, 4)] = acc[ramp(0i64, 1i64, 4)] + s[ramp(int64((t + 1) % 32)*4i64, 1i64, 4)]
        }
        barrier
      }
      for t in (0, 32) gpu_thread {
        out[ramp(int64(bx)*128i64 + int64(t)*4i64, 1i64, 4)] = acc[ramp(0i64, 1i64, 4)]
      }
    }
  }
}
)";

TEST(Ptx, RegistersHoldWhatIsAThreadsOwn) {
  const std::string ptx = ptx_of(kSums);
  EXPECT_EQ(count_of(ptx, "ld.shared.v4.f32"), 2) << "in both kernels\n" << ptx;
  EXPECT_EQ(ptx.find(".local"), std::string::npos) << ptx;
  EXPECT_EQ(count_of(ptx, "bar.sync"), 4) << ptx;
  expect_assembles(kSums);
}

// Rows of vectors: where strides and addresses allow it, 16 bytes at once.
TEST(Ptx, AlignedOperandsHaveAKernelOfTheirOwn) {
  const std::string text = R"(func copy(a: input float32[2], out: output float32[2]) {
  kernel copy threads (32, 1, 1) {
    for y in (0, out.extent.1) gpu_block {
      for t in (0, 32) gpu_thread {
        out[ramp(int64(t)*4i64 + int64(y)*int64(out.stride.1), 1i64, 4)] = a[ramp(int64(t)*4i64 - int64(a.min.0) + int64(y)*int64(a.stride.1), 1i64, 4)]
      }
    }
  }
}
)";
  const DeviceCode code = compile_kernels(parsed(text), kPortable);
  ASSERT_EQ(code.kernels.size(), 2u);
  EXPECT_EQ(code.kernels[0].aligned, 1);
  EXPECT_EQ(code.kernels[1].symbol, "kernel_copy_aligned");
  const size_t second = code.portable.find(".entry kernel_copy_aligned");
  const std::string plain = code.portable.substr(0, second), aligned = code.portable.substr(second);
  EXPECT_EQ(count_of(plain, "ld.global.nc.f32"), 4) << plain;
  EXPECT_EQ(count_of(aligned, "ld.global.nc.v4.f32"), 1) << aligned;
  EXPECT_EQ(count_of(aligned, "st.global.v4.f32"), 1) << aligned;
  expect_assembles(text);
}

TEST(Ptx, MatrixInstructions) {
  const std::string ptx = ptx_of(kMatrix);
  EXPECT_EQ(count_of(ptx, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), 1) << ptx;
  EXPECT_EQ(count_of(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 1) << ptx;
  expect_assembles(kMatrix, {{kHmma, true}, {kLdsm, true}});
}

TEST(Ptx, InstructionsNeedTheirCard) {
  try {
    ptx_of(kMatrix, Target("x86-64-linux-cuda-cuda_capability_75"));
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_STREQ(e.what(),
                 "error: the kernel 'mma' uses the instruction 'ldmatrix_x4'\n"
                 "  why: it needs compute capability 8.0\n"
                 "  fix: compile for a target with cuda_capability_80");
  }
}

// Beyond 48 KiB the launch says how much block memory there is.
TEST(Ptx, MuchBlockMemoryIsTheLaunchs) {
  const std::string text = R"(func f(a: input float32[1], out: output float32[1]) {
  kernel f threads (32, 1, 1) {
    for b in (0, 1) gpu_block {
      allocate s: float32[20000i64] block
      for t in (0, 32) gpu_thread {
        s[int64(t)*625i64] = a[int64(t)]
      }
      barrier
      for t in (0, 32) gpu_thread {
        out[int64(t)] = s[19375i64 - int64(t)*625i64]
      }
    }
  }
}
)";
  const std::string ptx = ptx_of(text);
  EXPECT_NE(ptx.find(".extern .shared .align 1024 .b8 dynamic_block_memory[]"), std::string::npos)
      << ptx;
  EXPECT_EQ(compile_kernels(parsed(text), kPortable).kernels[0].dynamic_bytes, 80000);
  expect_assembles(text);
}

}  // namespace
}  // namespace polyhalite::ptx_test
