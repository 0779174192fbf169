// Code for machines other than this one: which there are, the form of their objects, and where the
// fields of structs lie there.
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <cstddef>

#include "codegen/ir/text.h"
#include "codegen/llvm/abi_layout.h"
#include "codegen/llvm/c_header.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/object.h"
#include "lang/abi/polyhalite_profiler.h"
#include "polyhalite/error.h"

namespace polyhalite::targets_test {
namespace {

AbiLayout layout_of(const Target &target) {
  static llvm::LLVMContext context;
  llvm::Module module("layout", context);
  module.setDataLayout(make_machine(target)->createDataLayout());
  return AbiLayout(module);
}

const char *const kCopy = R"(func copy(in: input uint8[1], out: output uint8[1]) {
  for x in (0, out.extent.0) {
    out[int64(x)] = in[int64(x)]
  }
}
)";

std::string compiled(const std::string &text, const std::string &target, CodeForm form) {
  const Function f = parse_function(text);
  return compile(f, filter_of(f, Target(target)), form);
}

std::string first_bytes(const std::string &target, size_t count) {
  return compiled(kCopy, target, CodeForm::Object).substr(0, count);
}

TEST(Targets, LayoutsAreThoseOfTheCHeader) {
  const AbiLayout here = layout_of(get_host_target());
  EXPECT_EQ(here.pointer_bytes, sizeof(void *));
  EXPECT_EQ(here.size_type->getBitWidth(), 8 * sizeof(size_t));
  EXPECT_EQ(here.buffer.host, offsetof(polyhalite_buffer_t, host));
  EXPECT_EQ(here.buffer.type, offsetof(polyhalite_buffer_t, type));
  EXPECT_EQ(here.buffer.dimensions, offsetof(polyhalite_buffer_t, dimensions));
  EXPECT_EQ(here.buffer.dim, offsetof(polyhalite_buffer_t, dim));
  EXPECT_EQ(here.buffer.bytes, sizeof(polyhalite_buffer_t));
  EXPECT_EQ(here.profiler_thread.instance, offsetof(polyhalite_profiler_thread, instance));
  EXPECT_EQ(here.profiler_thread.bytes, sizeof(polyhalite_profiler_thread));
  EXPECT_EQ(here.profiler_instance_bytes, sizeof(polyhalite_profiler_instance_state));
  EXPECT_EQ(here.profiler_func_stats_bytes, sizeof(polyhalite_profiler_func_stats));
}

TEST(Targets, BuffersOf32BitsHaveNarrowPointers) {
  for (const char *name : {"x86-32-linux", "arm-32-linux", "arm-32-android", "x86-32-windows",
                           "arm-32-ios", "arm-32-windows"}) {
    const AbiLayout layout = layout_of(Target(name));
    EXPECT_EQ(layout.pointer_bytes, 4u) << name;
    EXPECT_EQ(layout.size_type->getBitWidth(), 32u) << name;
    // device 8, interface 4, host, flags 8, type 4, dimensions 4, dim 4, padding 4
    EXPECT_EQ(layout.buffer.host, 12u) << name;
    EXPECT_EQ(layout.buffer.type, 24u) << name;
    EXPECT_EQ(layout.buffer.dimensions, 28u) << name;
    EXPECT_EQ(layout.buffer.dim, 32u) << name;
    EXPECT_EQ(layout.buffer.bytes, 40u) << name;
  }
  // Numbers of 64 bits lie at multiples of 8 on ARM, of 4 on x86.
  EXPECT_EQ(layout_of(Target("x86-32-linux")).profiler_thread.bytes, 24u);
  EXPECT_EQ(layout_of(Target("x86-32-linux")).profiler_func_stats_bytes, 80u);
  EXPECT_EQ(layout_of(Target("arm-32-linux")).profiler_func_stats_bytes, 80u);
  EXPECT_EQ(layout_of(Target("x86-32-linux")).profiler_instance_bytes, 96u);
}

TEST(Targets, ObjectsAreOfTheirSystems) {
  const std::string elf32(
      "\x7f"
      "ELF\1\1\1",
      7),
      elf64(
          "\x7f"
          "ELF\2\1\1",
          7);
  EXPECT_EQ(first_bytes("x86-32-linux", 7), elf32);
  EXPECT_EQ(first_bytes("arm-32-linux", 7), elf32);
  EXPECT_EQ(first_bytes("arm-32-android", 7), elf32);
  EXPECT_EQ(first_bytes("arm-64-android", 7), elf64);
  EXPECT_EQ(first_bytes("x86-64-fuchsia", 7), elf64);
  EXPECT_EQ(first_bytes("arm-32-noos", 7), elf32);
  EXPECT_EQ(first_bytes("x86-32-windows", 2), "\x4c\1");
  EXPECT_EQ(first_bytes("x86-64-windows", 2), "\x64\x86");
  EXPECT_EQ(first_bytes("arm-64-osx", 4), "\xcf\xfa\xed\xfe");
  const std::string ios = first_bytes("arm-32-ios-armv7s", 16);
  EXPECT_EQ(ios, std::string("\xce\xfa\xed\xfe"
                             "\x0c\0\0\0"
                             "\x0b\0\0\0"
                             "\1\0\0\0",
                             16));
}

TEST(Targets, WhatIsSupportedIsCompiled) {
  for (Target::Arch arch : {Target::X86, Target::ARM, Target::Hexagon, Target::RISCV}) {
    for (int bits : {32, 64}) {
      for (int os = Target::Linux; os <= Target::WebAssemblyRuntime; os++) {
        const Target target(static_cast<Target::OS>(os), arch, bits);
        const Function f = parse_function(kCopy);
        const Filter filter = filter_of(f, target);
        if (target.supported()) {
          EXPECT_FALSE(compile(f, filter, CodeForm::Object).empty()) << target.to_string();
        } else {
          EXPECT_THROW(compile(f, filter, CodeForm::Object), CompileError) << target.to_string();
        }
      }
    }
  }
}

// Bytes that are looked up in a table of 256 are two permutations, where the processor has them and
// the table is known to be that long.
TEST(Targets, TablesOfBytesAreLookedUpByPermutations) {
  const auto permutations = [](int size, const std::string &target) {
    const std::string text =
        "func f(at: input uint8[1], out: output uint8[1]) {\n  allocate t: uint8[" +
        std::to_string(size) + R"(i64] stack
  for x in (0, 200) {
    t[int64(x)] = uint8(x*x)
  }
  out[ramp(0i64, 1i64, 64)] = t[int64x64(at[ramp(0i64, 1i64, 64)])]
}
)";
    const std::string assembly = compiled(text, target, CodeForm::Assembly);
    int n = 0;
    for (const char *name : {"vpermi2b", "vpermt2b"}) {
      for (size_t at = assembly.find(name); at != std::string::npos;
           at = assembly.find(name, at + 1))
        n++;
    }
    return n;
  };
  const std::string zen4 = "x86-64-linux-avx512_skylake-avx512_cannonlake";
  EXPECT_EQ(permutations(256, zen4), 2);
  EXPECT_EQ(permutations(200, zen4), 0);
  EXPECT_EQ(permutations(256, "x86-64-linux-avx2"), 0);
}

TEST(Targets, ArchivesAreOfTheirSystems) {
  EXPECT_NE(make_archive({{"a", "x"}}, Target::Linux).find("a.o"), std::string::npos);
  EXPECT_NE(make_archive({{"a", "x"}}, Target::Windows).find("a.obj"), std::string::npos);
}

// A size beyond what size_t holds is a request that fails, and not a small one.
TEST(Targets, SizesOf32BitsAreLimited) {
  const std::string text = R"(func f(n: int32, out: output uint8[1]) {
  allocate t: int64[int64(n)*int64(n)] heap
  t[int64(0)] = int64(n)
  out[int64(0)] = uint8(t[int64(0)])
}
)";
  const std::string narrow = compiled(text, "x86-32-linux", CodeForm::LlvmAssembly);
  EXPECT_NE(narrow.find("@llvm.umin.i64"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("4294967295"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("declare ptr @polyhalite_malloc(ptr, i32)"), std::string::npos) << narrow;
  const std::string wide = compiled(text, "x86-64-linux", CodeForm::LlvmAssembly);
  EXPECT_NE(wide.find("declare ptr @polyhalite_malloc(ptr, i64)"), std::string::npos) << wide;
}

TEST(Targets, FloatsGoWhereTheConventionsSay) {
  const std::string text = R"(func f(a: float32, out: output float32[1]) {
  out[int64(0)] = a*2.0f
}
)";
  // The convention without registers for floats passes them in those of integers.
  const std::string moved = "vmov\ts0, r0";
  EXPECT_EQ(compiled(text, "arm-32-linux", CodeForm::Assembly).find(moved), std::string::npos);
  EXPECT_NE(compiled(text, "arm-32-linux-soft_float_abi", CodeForm::Assembly).find(moved),
            std::string::npos);
}

// A Zen 3 takes ten times as long for AVX2's stores under a mask; AVX-512 has masks of its own.
TEST(Targets, Avx2StoresEndsOfRowsInParts) {
  const std::string text = R"(func f(n: int32, in: input float32[1], out: output float32[1]) {
  out[ramp(0i64, 1i64, 8) if ramp(0, 1, 8) < broadcast(n, 8)] = in[ramp(0i64, 1i64, 8)]
}
)";
  const auto assembly = [&](const std::string &target) {
    return compiled(text, target, CodeForm::Assembly);
  };
  const std::string avx2 = assembly("x86-64-linux-sse41-avx-avx2-fma-f16c");
  EXPECT_EQ(avx2.find("vmaskmov"), std::string::npos) << avx2;
  EXPECT_NE(avx2.find("vmovss"), std::string::npos) << avx2;
  const std::string wide = assembly("x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake");
  EXPECT_NE(wide.find("{%k1}"), std::string::npos) << wide;
}

}  // namespace
}  // namespace polyhalite::targets_test
