// A model as a library: a C program of its own maps the weights and calls it.
#include "apps/onnx/emit_library.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/onnx/model_builder.h"
#include "test/support/program.h"

namespace polyhalite::onnx::emit_library_test {
namespace {

std::string output_of(const std::string &command) {
  std::string text;
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return "cannot run " + command;
  char buffer[512];
  while (std::fgets(buffer, sizeof buffer, pipe)) text += buffer;
  const int status = pclose(pipe);
  return status == 0 ? text : "status " + std::to_string(status) + ": " + text;
}

constexpr char kCaller[] = R"(
#include <stdio.h>
#include <stdlib.h>
#include "two_layers.h"
int main(void) {
  FILE *f = fopen("two_layers.weights", "rb");
  void *weights = aligned_alloc(64, two_layers_weights_bytes());
  void *memory = aligned_alloc(64, two_layers_memory_bytes() + 64);
  if (!f || fread(weights, 1, two_layers_weights_bytes(), f) != two_layers_weights_bytes()) return 2;
  float x[6] = {1, 1, 1, 2, 0, 1}, y[4];
  if (two_layers_run(weights, memory, x, y) != 0) return 3;
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  free(memory);
  free(weights);
  fclose(f);
  return 0;
}
)";

TEST(onnx_emit_library, runs_in_a_program_of_c) {
  if (std::system("cc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no C compiler";
  char name[] = "/tmp/polyhalite-library-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::string folder = name;
  ModelBuilder b;
  b.input("x", {2, 3}).weights("w", {3, 2}, {1, 2, 3, 4, 5, 6}).weights("c", {2}, {-20, 1});
  b.node("MatMul", {"x", "w"}, {"m"}).node("Add", {"m", "c"}, {"s"}).node("Relu", {"s"}, {"y"});
  b.node("Softmax", {"y"}, {"z"})
      .node("Sub", {"y", "z"}, {"d"})
      .node("Add", {"d", "z"}, {"o"})
      .output("o");
  CompileOptions options;
  options.engine = Engine::Interpreter;
  const LibraryFiles files =
      emit_library(Program(b.load(), options), folder, "two_layers", get_host_target());
  for (const std::string &f : {files.library, files.header, files.weights, files.report}) {
    EXPECT_TRUE(std::filesystem::exists(f)) << f;
  }
  std::ofstream(folder + "/main.c") << kCaller;
  const std::string include = std::string(POLYHALITE_TEST_DIR) + "/../../lang/abi";
  EXPECT_EQ(output_of("cd " + folder + " && cc -I" + include +
                      " main.c two_layers.a -o main -lpthread -ldl -lm" + test::kSanitizers +
                      " && ./main"),
            "0 13 0 11\n");
  std::filesystem::remove_all(folder);
}

TEST(onnx_emit_library, sizes_have_to_be_numbers) {
  ModelBuilder b;
  b.input("x", {"N", 3}).node("Relu", {"x"}, {"y"}).output("y");
  CompileOptions options;
  options.engine = Engine::Interpreter;
  EXPECT_EQ(
      error_of([&] { emit_library(Program(b.load(), options), "/tmp", "m", get_host_target()); }),
      "error: 'x' has the shape [N, 3]\n"
      "  why: a library is made for fixed sizes\n"
      "  fix: give a number for each: --shape NAME=1,3,224,224");
}

}  // namespace
}  // namespace polyhalite::onnx::emit_library_test
