// A C program that calls a compiled library with every wrong buffer; its error handler prints.
#include <gtest/gtest.h>

#include <fstream>

#include "polyhalite/polyhalite.h"
#include "test/support/program.h"

namespace polyhalite::ahead_of_time_test {
namespace {

constexpr const char *kProgram = R"(
#include <stdio.h>
#include <stdlib.h>
#include "polyhalite_runtime.h"
#include "sums.h"

static float in_data[100], out_data[100];
static polyhalite_dimension_t from, to;
static polyhalite_buffer_t a, b;
static int gain;

static void print(void *context, const char *message) { printf("%s\n", message); }
static void *nothing(void *context, size_t bytes) { return NULL; }

static void reset(void) {
  polyhalite_dimension_t dense = {0, 64, 1, 0};
  polyhalite_buffer_t good = {0};
  good.type.code = polyhalite_type_float;
  good.type.bits = 32;
  good.type.lanes = 1;
  good.dimensions = 1;
  from = to = dense;
  from.extent = 65;
  a = b = good;
  a.host = (uint8_t *)in_data;
  a.dim = &from;
  b.host = (uint8_t *)out_data;
  b.dim = &to;
  gain = 2;
}

static void call(const char *what) {
  printf("%s: ", what);
  fflush(stdout);
  int code = sums(&a, gain, &b);
  printf("%d\n", code);
  reset();
}

int main(void) {
  polyhalite_set_error_handler(print);
  reset();
  call("good");
  printf("null input: %d\n", sums(NULL, 2, &b));
  printf("null output: %d\n", sums(&a, 2, NULL));
  a.host = NULL;
  printf("a question: %d", sums(&a, 2, &b));
  printf(", input from %d with %d\n", from.min, from.extent);
  reset();
  a.dim = NULL; call("no dimensions");
  b.type.bits = 64; call("type");
  b.type.code = 77; call("unknown type");
  a.dimensions = 3; call("dimensions");
  from.extent = 20; call("small input");
  from.min = 1; call("shifted input");
  from.stride = 2; call("stride");
  to.extent = -1; call("negative extent");
  to.min = 2147483600; to.extent = 100; call("far output");
  to.extent = 0; call("empty output");
  to.extent = 2; call("output smaller than a vector");
  gain = 11; call("large parameter");
  gain = 0; call("small parameter");
  polyhalite_malloc_t before = polyhalite_set_custom_malloc(nothing);
  to.extent = 90; from.extent = 91; call("no heap");
  polyhalite_set_custom_malloc(before);
  call("good again");
  return 0;
}
)";

TEST(BadCall, every_wrong_argument_is_named_and_the_program_goes_on) {
  const test::TemporaryFolder folder;
  ImageParam in(Float(32), 1, "in");
  Param<int> gain("gain");
  gain.set_range(1, 10);
  Var x("x");
  Func doubled("doubled"), sums("sums");
  doubled(x) = in(x)*gain;
  sums(x) = doubled(x) + doubled(x + 1);
  doubled.compute_root();
  sums.vectorize(x, 4);
  const Target target("host");
  sums.compile_to_static_library(folder.path("sums"), {in, gain}, "sums", target);
  backend().emit_runtime(target, Emit::static_library, folder.path("runtime.a"));
  std::ofstream(folder.path("main.c")) << kProgram;
  const auto built =
      folder.run(std::string("cc -std=c11 -Wall -Werror -I. -I" POLYHALITE_TEST_DIR
                             "/../../lang/abi main.c sums.a runtime.a -lm -lpthread -o main") +
                 test::kSanitizers);
  ASSERT_EQ(built.second, 0) << built.first;
  const auto [text, status] = folder.run("./main");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(
      text,
      "good: 0\n"
      "sums: buffer 'in' is null; pass a pointer to a polyhalite_buffer_t\n"
      "null input: -12\n"
      "sums: buffer 'sums' is null; pass a pointer to a polyhalite_buffer_t\n"
      "null output: -12\n"
      "a question: 0, input from 0 with 65\n"
      "no dimensions: sums: buffer 'in' does not describe its dimensions (dim is null); point dim "
      "to an array of polyhalite_dimension_t\n"
      "-34\n"
      "type: sums: buffer 'sums' has elements of type float64, but the pipeline was compiled for "
      "float32; pass a buffer of float32\n"
      "-3\n"
      "unknown type: sums: buffer 'sums' has elements of type unknown type 32, but the pipeline "
      "was compiled for float32; pass a buffer of float32\n"
      "-3\n"
      "dimensions: sums: buffer 'in' has 3 dimensions, but the pipeline was compiled for 1; pass a "
      "buffer with 1\n"
      "-43\n"
      "small input: sums: buffer 'in' is accessed at 0 to 64 in dimension 0, but has only 0 to 19; "
      "pass a larger buffer, compute less of the output, or give the access a boundary condition\n"
      "-4\n"
      "shifted input: sums: buffer 'in' is accessed at 0 to 64 in dimension 0, but has only 1 to "
      "65; pass a larger buffer, compute less of the output, or give the access a boundary "
      "condition\n"
      "-4\n"
      "stride: sums: the stride of dimension 0 of buffer 'in' is 2, but the pipeline was compiled "
      "for 1; pass such a buffer, or lift the constraint of an input with dim(0).set_stride\n"
      "-8\n"
      "negative extent: sums: dimension 0 of buffer 'sums' has the negative extent -1; extents "
      "count elements, pass at least 0\n"
      "-28\n"
      "far output: sums: dimension 0 of buffer 'sums' begins at 2147483600 and has 100 elements, "
      "but indices end at 2147483646; pass a buffer with a smaller min or extent\n"
      "-28\n"
      "empty output: sums: 'sums', dimension 0: a split of 'x' with tail ShiftInwards needs an "
      "extent of at least its factor (GuardWithIf needs no such thing): found 0, needed 4; change "
      "the size of the output, or the schedule\n"
      "-4\n"
      "output smaller than a vector: sums: 'sums', dimension 0: a split of 'x' with tail "
      "ShiftInwards needs an extent of at least its factor (GuardWithIf needs no such thing): "
      "found 2, needed 4; change the size of the output, or the schedule\n"
      "-4\n"
      "large parameter: sums: parameter 'gain' is 11, but at most 10 was promised; pass such a "
      "value, or lift the limit with set_max_value\n"
      "-10\n"
      "small parameter: sums: parameter 'gain' is 0, but at least 1 was promised; pass such a "
      "value, or lift the limit with set_min_value\n"
      "-9\n"
      "no heap: sums: there is no memory for 'doubled' (364 bytes); compute it at an inner loop so "
      "that less of it is stored, or use smaller outputs\n"
      "-11\n"
      "good again: 0\n");
}

}  // namespace
}  // namespace polyhalite::ahead_of_time_test
