// What compiled code tells a memory sanitizer and a fuzzer.
#include "test/codegen/driver/ahead_of_time.h"

namespace polyhalite::sanitizers_test {
namespace {

using Sanitizers = AheadOfTime;

// The program's own hooks are called in an order that a sanitizer needs.
TEST_F(Sanitizers, TellsAMemorySanitizer) {
  ImageParam in(UInt(8), 1, "in");
  Func rows("rows"), stage("stage"), f("f");
  Var x("x");
  rows(x) = in(x) + cast<uint8_t>(1);
  stage.define_extern("ph_copy", {rows}, UInt(8), {x});
  f(x) = cast<int>(stage(x));
  rows.compute_root();
  stage.compute_root();
  f.compile_to({{Emit::object, path("f.o")}, {Emit::c_header, path("f.h")}}, {in}, "f",
               host_.with_feature(Target::MSAN));
  EXPECT_EQ(
      output_of(R"(
#include "f.h"
#include "lang/abi/polyhalite_runtime.h"
void tell(const char *what, uint64_t bytes) {
  const char *kind = bytes == sizeof(polyhalite_buffer_t) ? "buffer"
                     : bytes == sizeof(polyhalite_dimension_t) ? "shape" : "bytes";
  if (*kind == 'b' && kind[1] == 'y') std::printf("%s %d\n", what, (int)bytes);
  else std::printf("%s %s\n", what, kind);
}
extern "C" int polyhalite_msan_check_memory_is_initialized(void *, const void *, uint64_t n,
                                                           const char *name) {
  std::printf("%s: ", name);
  tell("check", n);
  return 0;
}
extern "C" int polyhalite_msan_annotate_memory_is_initialized(void *, const void *, uint64_t n) {
  tell("written", n);
  return 0;
}
extern "C" int ph_copy(polyhalite_buffer_t *a, polyhalite_buffer_t *b) {
  if (a->is_bounds_query()) { a->dim[0] = b->dim[0]; std::puts("asked"); return 0; }
  std::puts("called");
  for (int i = 0; i < b->dim[0].extent; i++) b->host[i] = a->host[i];
  return 0;
}
)",
                "  if (f(&in, &out) != 0) return 1;\n  std::printf(\"%d\\n\", to[7]);\n", "f.o"),
      "in: check buffer\nin: check shape\nin: check 8\n"
      "written buffer\nwritten shape\nwritten buffer\nwritten shape\nasked\n"
      "written buffer\nwritten shape\nwritten buffer\nwritten shape\nasked\n"
      "written buffer\nwritten shape\nwritten buffer\nwritten shape\n"
      "written 8\ncalled\nstage: check buffer\nstage: check shape\nstage: check 8\n"
      "written 32\n9\n");
}

// A fuzzer's functions hear of edges and of comparisons; in process nothing is told.
TEST_F(Sanitizers, TellsAFuzzer) {
  ImageParam in(UInt(8), 1, "in");
  Func f("f");
  Var x("x");
  f(x) = cast<int>(in(x)) + 1;
  const Target covered = host_.with_feature(Target::SanitizerCoverage);
  f.compile_to({{Emit::object, path("f.o")}, {Emit::c_header, path("f.h")}}, {in}, "f", covered);
  EXPECT_EQ(output_of(R"(
#include <cstdint>
#include "f.h"
__attribute__((tls_model("initial-exec"))) thread_local uintptr_t __sancov_lowest_stack;
static uint8_t *first, *last;
static int places, compared;
extern "C" {
void __sanitizer_cov_8bit_counters_init(uint8_t *from, uint8_t *to) { first = from; last = to; }
void __sanitizer_cov_pcs_init(const uintptr_t *from, const uintptr_t *to) {
  places = static_cast<int>(to - from) / 2;
}
#define COMPARED(bytes, T)                                    \
  void __sanitizer_cov_trace_cmp##bytes(T, T) { compared++; } \
  void __sanitizer_cov_trace_const_cmp##bytes(T, T) { compared++; }
COMPARED(1, uint8_t)
COMPARED(2, uint16_t)
COMPARED(4, uint32_t)
COMPARED(8, uint64_t)
void __sanitizer_cov_trace_switch(uint64_t, uint64_t *) {}
void __sanitizer_cov_trace_pc_indir(uintptr_t) {}
}
)",
                      R"(
  auto taken = [&] { int n = 0; for (uint8_t *c = first; c < last; c++) n += *c != 0; return n; };
  const int before = taken();
  if (f(&in, &out) != 0) return 1;
  const int after = taken();
  std::printf("%d %d %d %d %d\n", to[7], before, after > 3, last - first == places, compared > 3);
)",
                      "f.o"),
            "9 0 1 1 1\n");
  Buffer<uint8_t> bytes(8);
  bytes.fill(4);
  in.set(bytes);
  EXPECT_EQ(Buffer<int32_t>(f.realize({8}, covered))(7), 5);
}

}  // namespace
}  // namespace polyhalite::sanitizers_test
