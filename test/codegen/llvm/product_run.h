// What the tests of processors' products share: factors, and programs for other machines.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "codegen/driver/compile.h"
#include "codegen/oracle/interpret_ir.h"
#include "lang/ir/freeze.h"
#include "lang/output_file.h"
#include "polyhalite/polyhalite.h"
#include "test/support/program.h"

namespace polyhalite::test {

/// All values of a type, the extremes more often than others: what saturates shows.
template <typename T>
Buffer<T, 2> noise(int columns, int rows, uint32_t seed) {
  Buffer<T, 2> b(columns, rows);
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> any(std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max());
  b.for_each_value([&](T &v) {
    const int kind = static_cast<int>(engine() % 4);
    v = static_cast<T>(kind == 0   ? std::numeric_limits<T>::min()
                       : kind == 1 ? std::numeric_limits<T>::max()
                                   : any(engine));
  });
  return b;
}

/// This machine has the target's features.
inline bool runs_here(const Target &target) {
  const Target here = get_jit_target_from_environment();
  if (target.arch != here.arch || target.bits != here.bits) return false;
  for (int f = 0; f < Target::FeatureEnd; f++) {
    const auto feature = static_cast<Target::Feature>(f);
    if (target.has_feature(feature) && !here.has_feature(feature)) return false;
  }
  return true;
}

/// The message that compiling `f` for the target ends with, from "error: " on.
inline std::string refused(Func f, const std::vector<Argument> &inputs, const Target &target) {
  try {
    f.emit_text(Emit::assembly, inputs, target);
  } catch (const CompileError &e) {
    const std::string text = e.what();
    return text.substr(text.find("error: "));
  }
  return "none";
}

/// f(n, m) = the sum over k of a(k, m)*b(k, n).
struct Product {
  Func f;
  ImageParam a, b;
  int columns, rows, depth;
};

/// As machine code where this machine is one that can run it, else as the loops that it is made of.
inline void run_product(Product &p, Buffer<void> a, Buffer<void> b, Buffer<void> f,
                        const Target &target) {
  p.a.set(a);
  p.b.set(b);
  if (runs_here(target)) {
    p.f.realize(f, target);
    return;
  }
  const Function loops = lower_pipeline(freeze({p.f.function()}), "f", target).function;
  interpret_ir(loops, {{{"a", a.raw_buffer()}, {"b", b.raw_buffer()}, {"f", f.raw_buffer()}}, {}});
}

/// Of integers, against plain loops.
template <typename A, typename B>
void expect_exact(Product p, const Target &target) {
  auto a = noise<A>(p.depth, p.rows, 1);
  auto b = noise<B>(p.depth, p.columns, 2);
  Buffer<int32_t, 2> f(p.columns, p.rows);
  run_product(p, a, b, f, target);
  for (int m = 0; m < p.rows; m++) {
    for (int n = 0; n < p.columns; n++) {
      int64_t sum = 0;
      for (int k = 0; k < p.depth; k++) sum += int64_t{a(k, m)} * b(k, n);
      ASSERT_EQ(f(n, m), sum) << n << " " << m;
    }
  }
}

/// Of bfloat16 that are small integers, whose sums are exact in any order.
inline void expect_exact_brain(Product p, const Target &target) {
  Buffer<bfloat16_t, 2> a(p.depth, p.rows), b(p.depth, p.columns);
  a.for_each_element([&](int k, int m) { a(k, m) = bfloat16_t((k * 5 + m * 3) % 13 - 6); });
  b.for_each_element([&](int k, int n) { b(k, n) = bfloat16_t((k * 7 + n * 2) % 11 - 5); });
  Buffer<float, 2> f(p.columns, p.rows);
  run_product(p, a, b, f, target);
  for (int m = 0; m < p.rows; m++) {
    for (int n = 0; n < p.columns; n++) {
      float sum = 0;
      for (int k = 0; k < p.depth; k++) sum += float(a(k, m)) * float(b(k, n));
      ASSERT_EQ(f(n, m), sum) << n << " " << m;
    }
  }
}

/// Builds a program around `products.h` and `code`, both of p, and runs it: it compares with plain
/// loops. Factors are bytes or bfloat16.
inline void expect_exact_program(const TemporaryFolder &folder, const std::string &compiler,
                                 const std::string &emulator, const Product &p,
                                 const std::string &code) {
  static const char *const kProgram = R"(
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "polyhalite/runtime_buffer.h"
#include "products.h"

// Of bytes, and of bits of bfloat16, which are small numbers.
template <typename T>
static SUM value(T v) {
  if (!BRAIN) return v;
  const uint32_t bits = uint32_t{static_cast<uint16_t>(v)} << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return static_cast<SUM>(f);
}

static uint16_t brain(int i) {
  const float f = static_cast<float>(i);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits >> 16;
}

template <typename A, typename B, typename F>
static int wrong(const F &products) {
  using polyhalite::runtime::Buffer;
  Buffer<A, 2> a(DEPTH, ROWS);
  Buffer<B, 2> b(DEPTH, COLUMNS);
  Buffer<SUM, 2> f(COLUMNS, ROWS);
  unsigned seed = 1;
  auto next = [&] { return (seed = seed * 1664525u + 1013904223u) >> 24; };
  auto fill = [&](auto &v, unsigned most) {
    v = BRAIN ? brain(static_cast<int>(next() % 17) - 8) : next() % 3 ? next() : most;
  };
  a.for_each_value([&](A &v) { fill(v, 255); });
  b.for_each_value([&](B &v) { fill(v, 128); });
  if (BRAIN) a.raw_buffer()->type.code = b.raw_buffer()->type.code = polyhalite_type_bfloat;
  if (products(a.raw_buffer(), b.raw_buffer(), f.raw_buffer()) != 0) return -1;
  int count = 0;
  f.for_each_element([&](int n, int m) {
    SUM sum = 0;
    for (int k = 0; k < DEPTH; k++) sum += value(a(k, m)) * value(b(k, n));
    count += f(n, m) != sum;
  });
  return count;
}

int main() {
  std::printf("%d\n", wrong<LEFT, RIGHT>(products));
  return 0;
}
)";
  write_file(folder.path("main.cc"), kProgram, "the test's program");
  const bool brain = p.a.type() == BFloat(16);
  auto bits = [&](Type t) { return brain ? "uint16_t" : t == UInt(8) ? "uint8_t" : "int8_t"; };
  const std::string types = std::string(" -DLEFT=") + bits(p.a.type()) +
                            " -DRIGHT=" + bits(p.b.type()) +
                            (brain ? " -DSUM=float -DBRAIN=1" : " -DSUM=int32_t -DBRAIN=0");
  const std::string sizes = " -DCOLUMNS=" + std::to_string(p.columns) +
                            " -DROWS=" + std::to_string(p.rows) +
                            " -DDEPTH=" + std::to_string(p.depth);
  const auto [errors, failed] =
      folder.run("(" + compiler +
                 "-O1 -fno-exceptions -fno-rtti -fno-threadsafe-statics -c " POLYHALITE_TEST_DIR
                 "/../../codegen/runtime/*.cc && " +
                 compiler + types + sizes + " main.cc *.o " + code + " -lm -lpthread -o main)");
  ASSERT_EQ(failed, 0) << errors;
  const auto [text, status] = folder.run(emulator + "./main");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text, "0\n");
}

inline const std::string kIncludes =
    " -std=c++17 -I. -I" POLYHALITE_TEST_DIR "/../.. -I" POLYHALITE_TEST_DIR
    "/../../lang/abi -I" POLYHALITE_TEST_DIR "/../../lang/include ";

/// Skips the test where programs for AArch64 cannot be built or run.
inline void expect_exact_emulated(Product p, const char *target) {
  const TemporaryFolder folder;
  const std::string compiler =
      "clang++-19 --target=aarch64-linux-gnu -fuse-ld=lld -static" + kIncludes;
  const std::string emulator = "qemu-aarch64 -cpu max ";
  write_file(folder.path("try.cc"), "int main() { return 0; }\n", "the test's file");
  const auto [why, missing] =
      folder.run("(" + compiler + "try.cc -o try && " + emulator + "./try)");
  if (missing) GTEST_SKIP() << "programs for AArch64 cannot be built or run here: " << why;
  p.f.compile_to(
      {{Emit::object, folder.path("products.o")}, {Emit::c_header, folder.path("products.h")}},
      {p.a, p.b}, "products", Target(target));
  expect_exact_program(folder, compiler, emulator, p, "");
}

}  // namespace polyhalite::test
