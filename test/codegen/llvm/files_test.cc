// Objects, libraries and headers, used as a C program does: compiled, linked and run on their own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "codegen/driver/embedded_runtime.h"
#include "codegen/ir/text.h"
#include "codegen/llvm/c_header.h"
#include "codegen/llvm/object.h"
#include "lang/output_file.h"
#include "polyhalite/error.h"
#include "test/support/program.h"

namespace polyhalite::files_test {
namespace {

constexpr const char *kScale =
    R"(func scale(in: input float32[1], gain: float32, shift: int8, on: bool, out: output float32[1]) {
  assert out.extent.0 <= in.extent.0 else extern<int32>(polyhalite_error_access_out_of_bounds, "scale", "in", 0, 0, out.extent.0 - 1, 0, in.extent.0 - 1)
  allocate t: float32[int64(out.extent.0)]
  for x in (0, out.extent.0) parallel {
    t[int64(x)] = in[int64(x)]*gain
  }
  for x2 in (0, out.extent.0) {
    out[int64(x2)] = t[int64(x2)] + float32(shift) + sin(select(on, 0.0f, 1.0f))
  }
}
)";

constexpr const char *kProgram = R"(
#include <stdio.h>
#include <stdlib.h>
#include "lang/abi/polyhalite_runtime.h"
#include "scale.h"
MORE
int main(void) {
  float in[100], out[100];
  for (int i = 0; i < 100; i++) in[i] = (float)i;
  polyhalite_dimension_t from = {0, 100, 1, 0}, to = {0, 100, 1, 0};
  polyhalite_buffer_t a = {0}, b = {0};
  a.host = (uint8_t *)in; a.type.code = polyhalite_type_float; a.type.bits = 32; a.type.lanes = 1;
  a.dimensions = 1; a.dim = &from;
  b = a; b.host = (uint8_t *)out; b.dim = &to;
  if (scale(&a, 2.0f, -3, true, &b) != 0) return 1;
  printf("%g %g\n", out[0], out[99]);
  float gain = 4.0f; int8_t shift = 1; bool on = true;
  void *args[] = {&a, &gain, &shift, &on, &b};
  if (scale_argv(args) != 0) return 1;
  printf("%g\n", out[99]);
  from.extent = 50;
  int code = scale(&a, 2.0f, 0, true, &b);
  printf("%d\n", code);
  return 0;
}
)";

size_t times_in(const std::string &text, const std::string &what) {
  size_t times = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at++) times++;
  return times;
}

class Files : public testing::Test {
 protected:
  void write(const std::string &name, const std::string &bytes) {
    write_file(folder_.path(name), bytes, "the test's file");
  }

  std::pair<std::string, int> run(const std::string &command) { return folder_.run(command); }

  // Compiles the program with `more` declarations, links it with `libraries` and runs it.
  std::pair<std::string, int> run_program(const std::string &more, const std::string &libraries) {
    std::string program = kProgram;
    program.replace(program.find("MORE"), 4, more);
    write("main.c", program);
    auto built = run("cc -std=c11 -Wall -Werror -I. -I" POLYHALITE_TEST_DIR "/../.. main.c " +
                     libraries + " -lm -lpthread -o main" + test::kSanitizers);
    EXPECT_EQ(built.second, 0) << built.first;
    return run("./main");
  }

  const test::TemporaryFolder folder_;
  Function function_ = parse_function(kScale);
  Target host_ = get_host_target();
};

TEST_F(Files, static_library_and_header_serve_a_c_program) {
  write("scale.h", c_header(filter_of(function_, host_)));
  write("libscale.a",
        make_archive({{"scale", compile(function_, filter_of(function_, host_), CodeForm::Object)}},
                     host_.os));
  write("libruntime.a", make_archive({{"polyhalite_runtime", runtime_object(host_)}}, host_.os));
  const auto [text, status] = run_program(
      "static void quiet(void *context, const char *message) { printf(\"%s\\n\", message); }\n"
      "__attribute__((constructor)) static void setup(void) { polyhalite_set_error_handler(quiet); "
      "}",
      "libscale.a libruntime.a");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(
      text,
      "-3 195\n397\n"
      "scale: buffer 'in' is accessed at 0 to 99 in dimension 0, but has only 0 to 49; pass a "
      "larger buffer, compute less of the output, or give the access a boundary condition\n"
      "-4\n");
}

TEST_F(Files, programs_replace_the_runtime_by_defining_it) {
  write("scale.h", c_header(filter_of(function_, host_)));
  write("scale.o", compile(function_, filter_of(function_, host_), CodeForm::Object));
  write("runtime.o", runtime_object(host_));
  const auto [text, status] = run_program(
      "void *polyhalite_malloc(void *context, size_t bytes) { printf(\"malloc %zu\\n\", bytes); "
      "return aligned_alloc(64, 1024); }\n"
      "void polyhalite_free(void *context, void *p) { printf(\"free\\n\"); free(p); }\n"
      "void polyhalite_error(void *context, const char *message) { printf(\"mine\\n\"); }",
      "scale.o runtime.o");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text, "malloc 400\nfree\n-3 195\nmalloc 400\nfree\n397\nmine\n-4\n");
}

TEST_F(Files, errors_end_the_program_where_nobody_handles_them) {
  write("scale.h", c_header(filter_of(function_, host_)));
  write("scale.o", compile(function_, filter_of(function_, host_), CodeForm::Object));
  write("runtime.o", runtime_object(host_));
  const auto [text, status] = run_program("", "scale.o runtime.o");
  EXPECT_NE(status, 0);
  EXPECT_NE(text.find("error: scale: buffer 'in' is accessed at 0 to 99"), std::string::npos)
      << text;
}

TEST_F(Files, header_says_what_the_arguments_are) {
  EXPECT_EQ(c_header(filter_of(function_, Target("x86-64-linux-user_context"))),
            R"(/* scale, compiled by Polyhalite for x86-64-linux-user_context.
 *
 * Link the pipeline's object or library and the runtime (Polyhalite::Runtime, or what the
 * generator writes with -r): the former holds this pipeline only. Outputs must not overlap
 * inputs or each other. Calls may come from many threads.
 *
 *   __user_context: handed to every function of the runtime
 *   in: input, buffer of float32, 1 dimension
 *   gain: input, float
 *   shift: input, int8_t
 *   on: input, bool
 *   out: output, buffer of float32, 1 dimension
 *
 * Returns 0, or the code of an error that polyhalite_error was told of. */
#ifndef POLYHALITE_GENERATED_SCALE_H
#define POLYHALITE_GENERATED_SCALE_H

#include <stdbool.h>
#include <stdint.h>

struct polyhalite_buffer_t;
struct polyhalite_filter_metadata_t;

#ifdef __cplusplus
extern "C" {
#endif

int scale(void const *__user_context, struct polyhalite_buffer_t *in_buffer, float gain, int8_t shift, bool on, struct polyhalite_buffer_t *out_buffer);

/* The same arguments: buffers themselves, all else by address. */
int scale_argv(void **args);

/* Names, types, defaults and estimates of the arguments (polyhalite_metadata.h). */
const struct polyhalite_filter_metadata_t *scale_metadata(void);

#ifdef __cplusplus
}
#endif

#endif
)");
}

TEST_F(Files, arm_objects_are_made_on_any_machine) {
  const Target arm("arm-64-linux");
  const std::string object = compile(function_, filter_of(function_, arm), CodeForm::Object);
  // ELF, 64 bits, little-endian, for machine 183 (AArch64).
  ASSERT_GT(object.size(), 20u);
  EXPECT_EQ(object.substr(0, 6), std::string("\x7f"
                                             "ELF\x02\x01"));
  EXPECT_EQ(static_cast<unsigned char>(object[18]), 183);
  const std::string assembly = compile(function_, filter_of(function_, arm), CodeForm::Assembly);
  EXPECT_NE(assembly.find("bl\tpolyhalite_do_par_for"), std::string::npos) << assembly;
}

// Machines divide floats in vectors, and integers one by one.
TEST_F(Files, vectors_of_integers_are_divided_as_floats) {
  auto assembly = [&](const std::string &type, const char *target) {
    const Function f = parse_function("func f(in: input " + type + "[1], out: output " + type +
                                      "[1]) {\n  out[ramp(0i64, 1i64, 8)] = in[ramp(0i64, 1i64, "
                                      "8)]/in[ramp(8i64, 1i64, 8)]\n}\n");
    return compile(f, filter_of(f, Target(target)), CodeForm::Assembly);
  };
  const char *avx2 = "x86-64-linux-avx-avx2-fma";
  const char *avx512 = "x86-64-linux-avx-avx2-fma-avx512-avx512_skylake";
  for (const auto &[type, target, divides] :
       {std::tuple("int32", avx2, "vdivpd"), std::tuple("int32", avx512, "vdivpd"),
        std::tuple("uint32", avx512, "vdivpd"), std::tuple("int16", avx2, "vdivps")}) {
    const std::string text = assembly(type, target);
    EXPECT_NE(text.find(divides), std::string::npos) << type << " of " << target << "\n" << text;
    EXPECT_EQ(text.find("\tdivl"), std::string::npos) << type << " of " << target << "\n" << text;
    EXPECT_EQ(text.find("\tidivl"), std::string::npos) << type << " of " << target << "\n" << text;
  }
}

// LLVM's generic x86 has no model, and spills sums. Files are the same wherever they are made.
TEST_F(Files, code_is_scheduled_for_a_processor_with_a_model) {
  const Function f = parse_function(
      "func f(in: input float32[1], out: output float32[1]) {\n  out[0i64] = in[0i64]\n}\n");
  for (const auto &[target, tuned] :
       {std::pair("x86-64-linux-avx-avx2-fma", "haswell"),
        std::pair("x86-64-linux-tune_znver3-avx-avx2-fma", "znver3"),
        std::pair("x86-64-linux-avx-avx2-fma-avx512-avx512_skylake", "skylake-avx512"),
        std::pair("x86-64-linux", "generic"), std::pair("arm-64-linux", "generic")}) {
    const std::string text = compile(f, filter_of(f, Target(target)), CodeForm::LlvmAssembly);
    EXPECT_NE(text.find(std::string("\"tune-cpu\"=\"") + tuned + "\""), std::string::npos)
        << target << "\n"
        << text;
  }
}

TEST_F(Files, instructions_are_those_of_the_target) {
  const Function f = parse_function(R"(func f(in: input float32[1], out: output float32[1]) {
  out[ramp(0i64, 1i64, 8)] = in[ramp(0i64, 1i64, 8)]*in[ramp(8i64, 1i64, 8)] + in[ramp(16i64, 1i64, 8)]
}
)");
  auto assembly = [&](const char *target) {
    return compile(f, filter_of(f, Target(target)), CodeForm::Assembly);
  };
  const std::string plain = assembly("x86-64-linux"), avx = assembly("x86-64-linux-avx"),
                    fused = assembly("x86-64-linux-avx-avx2-fma"), arm = assembly("arm-64-linux");
  EXPECT_EQ(plain.find("ymm"), std::string::npos);
  EXPECT_NE(plain.find("mulps"), std::string::npos);
  EXPECT_NE(avx.find("vmulps"), std::string::npos);
  EXPECT_EQ(avx.find("vfmadd"), std::string::npos);
  EXPECT_NE(fused.find("vfmadd"), std::string::npos);
  EXPECT_NE(arm.find("fmla"), std::string::npos);
  EXPECT_EQ(assembly("x86-64-linux-avx-avx2-fma-strict_float").find("vfmadd"), std::string::npos);
}

// LLVM shares registers by how often loops run, and takes those that it knows nothing about for
// equal.
TEST_F(Files, loops_say_how_often_they_run) {
  const Function f = parse_function(R"(func f(in: input float32[1], out: output float32[1]) {
  for x in (0, 100) {
    out[int64(x)] = in[int64(x)]
  }
  for y in (0, out.extent.0) {
    out[int64(y)] = out[int64(y)] + 1.0f
  }
}
)");
  const std::string code = compile(f, filter_of(f, Target("x86-64-linux")), CodeForm::LlvmAssembly);
  EXPECT_NE(code.find("!\"branch_weights\", i32 99, i32 1}"), std::string::npos) << code;
  EXPECT_EQ(code.find("!\"branch_weights\"", code.find("i32 99, i32 1}")), std::string::npos);
}

// Aligned storage is known to be so; of a caller's buffer it is asked, and what begins at 16 bytes
// goes in pieces. Not so rows of a square, behind each of which another one comes.
TEST_F(Files, streams_go_past_the_caches) {
  const Function f = parse_function(R"(func f(in: input float32[1], out: output float32[1]) {
  allocate t: float32[64i64]
  for x in (0, 8) {
    stream t[ramp(int64(x)*8i64, 1i64, 8)] = stream(in[ramp(int64(x)*8i64, 1i64, 8)])
  }
  for x in (0, 8) {
    stream out[ramp(int64(x)*8i64, 1i64, 8)] = stream(t[ramp(int64(x)*8i64, 1i64, 8)])
  }
  evaluate intrinsic<bool>(stream_fence)
}
)");
  const Function square = parse_function(R"(func f(out: output float32[1]) {
  for x in (0, 8) {
    stream out[ramp(ramp(int64(x)*8i64, 1i64, 8), broadcast(100i64, 8), 2)] = broadcast(float32(x), 16)
  }
}
)");
  auto count_in = [&](const Function &f, const char *target, const std::string &word) {
    const std::string text = compile(f, filter_of(f, Target(target)), CodeForm::Assembly);
    int n = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) n++;
    return n;
  };
  auto count = [&](const char *target, const std::string &word) {
    return count_in(f, target, word);
  };
  EXPECT_EQ(count("x86-64-linux-sse41", "movntdq\t"), 4);  // two registers each
  EXPECT_EQ(count("x86-64-linux-avx-avx2", "vmovntdq\t"), 4);
  EXPECT_EQ(count_in(square, "x86-64-linux-avx-avx2", "vmovnt"), 2);
  EXPECT_EQ(count("x86-64-linux-avx-avx2", "vmovntdqa"), 1);
  EXPECT_EQ(count("x86-64-linux-avx-avx2", "sfence"), 1);
  EXPECT_EQ(count("arm-64-linux", "stnp"), 2);
  EXPECT_EQ(count("arm-64-linux", "sfence"), 0);
}

// What the iteration before stored is in a register, through branches too.
TEST_F(Files, recurrences_load_nothing_that_they_stored) {
  const Function f = parse_function(R"(func f(out: output float32[1]) {
  for x in (0, 100) {
    out[int64(x) + 1i64] = sin(out[int64(x)])
  }
}
)");
  const Target target("x86-64-linux-sse41-avx-avx2");
  const std::string text = compile(f, filter_of(f, target), CodeForm::LlvmAssembly);
  const size_t loop = text.find("\nx:");
  ASSERT_NE(loop, std::string::npos) << text;
  EXPECT_EQ(times_in(text.substr(loop), "load float"), 0u) << text;
}

// What is read in between cannot be what was stored: buffers are apart.
TEST_F(Files, stores_that_are_overwritten_are_left_out) {
  const Function f = parse_function(R"(func f(in: input float32[1], out: output float32[1]) {
  for x in (0, 8) {
    out[int64(x)] = out[int64(x)] + in[int64(x)]
    out[int64(x)] = out[int64(x)] + in[int64(x) + 8i64]
    out[int64(x)] = out[int64(x)] + in[int64(x) + 16i64]
  }
}
)");
  const Target target("x86-64-linux-sse41-avx-avx2");
  const std::string text = compile(f, filter_of(f, target), CodeForm::LlvmAssembly);
  EXPECT_EQ(times_in(text, "store float"), 1u) << text;
}

// Twelve floats fit into a register of 64 bytes, but are known to begin at multiples of 16 at most.
TEST_F(Files, streams_of_vectors_that_are_no_power_of_two) {
  const Function f = parse_function(R"(func f(out: output float32[1]) {
  for x in (0, 8) {
    stream out[ramp(int64(x)*12i64, 1i64, 12)] = broadcast(float32(x), 12)
  }
  evaluate intrinsic<bool>(stream_fence)
}
)");
  const Target target("x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake");
  const std::string text = compile(f, filter_of(f, target), CodeForm::LlvmAssembly);
  const size_t streamed = text.find("!nontemporal"), line = text.rfind('\n', streamed);
  ASSERT_NE(streamed, std::string::npos) << text;
  EXPECT_NE(text.substr(line, streamed - line).find("align 16,"), std::string::npos) << text;
  EXPECT_NE(compile(f, filter_of(f, target), CodeForm::Assembly).find("sfence"), std::string::npos);
}

// Both rows are of two dense pieces, and a mean of bytes is one instruction, chosen between or not.
TEST_F(Files, strided_loads_side_by_side_have_the_same_pieces) {
  const Function f = parse_function(R"(func f(in: input uint8[1], out: output uint8[1]) {
  for x in (0, 8) {
    out[ramp(int64(x)*32i64, 1i64, 16)] = in[ramp(int64(x)*32i64, 2i64, 16)]
    out[ramp(int64(x)*32i64 + 16i64, 1i64, 16)] = in[ramp(int64(x)*32i64 + 1i64, 2i64, 16)]
  }
}
)");
  const Target target("x86-64-linux-sse41-avx-avx2");
  const std::string text = compile(f, filter_of(f, target), CodeForm::LlvmAssembly);
  EXPECT_EQ(times_in(text, "load <16 x i8>"), 2u) << text;
}

// Neighbours' elements are loaded once: two pieces, wherever the first of them begins.
TEST_F(Files, elements_that_neighbours_share_are_two_pieces) {
  const Function f = parse_function(R"(func f(in: input float32[1], out: output float32[1]) {
  for x in (0, 8) {
    out[ramp(int64(x)*16i64, 1i64, 16)] = in[int64x16(ramp(x, 1, 16)/broadcast(2, 16))]
  }
}
)");
  const Target target("x86-64-linux-sse41-avx-avx2");
  const std::string text = compile(f, filter_of(f, target), CodeForm::LlvmAssembly);
  EXPECT_EQ(times_in(text, "load <8 x float>"), 2u) << text;
  EXPECT_EQ(text.find("load float"), std::string::npos) << text;
}

TEST_F(Files, means_that_are_chosen_between_stay_narrow) {
  const std::string mean =
      "uint8x32((uint16x32($a[I]) + uint16x32($b[I]) + broadcast(1u16, 32))/broadcast(2u16, 32))";
  auto of = [&](const std::string &a, const std::string &b) {
    std::string text = mean;
    text.replace(text.find("$a"), 2, a);
    text.replace(text.find("$b"), 2, b);
    return text;
  };
  std::string text =
      "func f(a: input uint8[1], b: input uint8[1], c: input uint8[1], out: output uint8[1]) {\n"
      "  out[I] = select(a[I] < b[I], " +
      of("a", "b") + ", " + of("b", "c") + ")\n}\n";
  for (size_t at; (at = text.find("[I]")) != std::string::npos;) {
    text.replace(at, 3, "[ramp(0i64, 1i64, 32)]");
  }
  const Function f = parse_function(text);
  const Target target("x86-64-linux-sse41-avx-avx2");
  const std::string code = compile(f, filter_of(f, target), CodeForm::Assembly);
  EXPECT_NE(code.find("vpavgb"), std::string::npos) << code;
}

TEST_F(Files, bytes_are_the_same_in_every_run) {
  for (CodeForm form : {CodeForm::Object, CodeForm::Assembly, CodeForm::LlvmAssembly}) {
    const Filter filter = filter_of(function_, host_);
    EXPECT_EQ(compile(function_, filter, form), compile(parse_function(kScale), filter, form));
  }
  EXPECT_EQ(make_archive({{"a", "x"}}, host_.os), make_archive({{"a", "x"}}, host_.os));
}

TEST_F(Files, targets_without_a_code_generator_are_refused) {
  try {
    compile(function_, filter_of(function_, Target()), CodeForm::Object);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_EQ(
        std::string(e.what()),
        "error: there is no code generator for target '" + Target().to_string() +
            "'\n"
            "  why: code is made for x86 and ARM with 32 and 64 bits, and for linux, android, "
            "windows, osx, ios, fuchsia and noos\n"
            "  fix: use such as x86-64-linux-avx2-fma or arm-32-android");
  }
}

TEST_F(Files, unwritable_paths_are_named) {
  try {
    write_file(folder_.path("none/scale.o"), "", "the object");
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_EQ(e.diagnostic().what, "cannot write the object '" + folder_.path("none/scale.o'"));
    EXPECT_EQ(e.diagnostic().why, "No such file or directory");
    EXPECT_EQ(e.diagnostic().fix, "choose a folder that exists and may be written to");
  }
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_THROW(write_file("/dev/full", "text", "the object"), CompileError);
  }
}

}  // namespace
}  // namespace polyhalite::files_test
