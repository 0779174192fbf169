// The backend behind the language: realized pipelines, files, texts, and what it refuses.
#include "polyhalite/backend.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "polyhalite/polyhalite.h"

namespace polyhalite::backend_test {
namespace {

struct Blur {
  ImageParam input{UInt(16), 2, "input"};
  Var x{"x"}, y{"y"};
  Func blur_x{"blur_x"}, blur_y{"blur_y"};

  Blur() {
    blur_x(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
    blur_y(x, y) = (blur_x(x, y) + blur_x(x, y + 1) + blur_x(x, y + 2)) / 3;
  }
};

constexpr int kWidth = 100, kHeight = 40;

Buffer<uint16_t> picture() {
  Buffer<uint16_t> b(kWidth + 2, kHeight + 2);
  for (int y = 0; y < kHeight + 2; y++) {
    for (int x = 0; x < kWidth + 2; x++) b(x, y) = static_cast<uint16_t>((x * 37 + y * 101) % 1000);
  }
  return b;
}

uint16_t expected(const Buffer<uint16_t> &in, int x, int y) {
  auto row = [&](int v) { return (in(x, v) + in(x + 1, v) + in(x + 2, v)) / 3; };
  return static_cast<uint16_t>((row(y) + row(y + 1) + row(y + 2)) / 3);
}

TEST(Realize, computes_the_algorithm_under_a_schedule) {
  Blur b;
  Var yi("yi");
  b.blur_y.split(b.y, b.y, yi, 8).parallel(b.y).vectorize(b.x, 16);
  b.blur_x.compute_at(b.blur_y, b.y).vectorize(b.x, 16);
  const Buffer<uint16_t> in = picture();
  b.input.set(in);
  Buffer<uint16_t> out = b.blur_y.realize({kWidth, kHeight});
  for (int y = 0; y < kHeight; y++) {
    for (int x = 0; x < kWidth; x++) ASSERT_EQ(out(x, y), expected(in, x, y)) << x << ", " << y;
  }
  const CompileTimes t = b.blur_y.compile_times();
  EXPECT_GT(t.schedule, 0);
  EXPECT_GT(t.survey, 0);
  EXPECT_GT(t.judge, 0);
  EXPECT_GT(t.lower, 0);
  EXPECT_GT(t.llvm, 0);
}

TEST(Realize, an_input_that_is_too_small_is_named_with_both_ranges) {
  Blur b;
  Buffer<uint16_t> small(kWidth, kHeight);
  small.fill(0);
  b.input.set(small);
  try {
    b.blur_y.realize({kWidth, kHeight});
    FAIL();
  } catch (const RuntimeError &e) {
    EXPECT_NE(std::string(e.what()).find("buffer 'input' is accessed at 0 to 101 in dimension 0, "
                                         "but has only 0 to 99"),
              std::string::npos)
        << e.what();
  }
}

class EmittedFiles : public testing::Test {
 protected:
  EmittedFiles() {
    char name[] = "/tmp/polyhalite_backend_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~EmittedFiles() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string &name) const { return folder_ + "/" + name; }
  std::string read(const std::string &name) const {
    std::ostringstream text;
    text << std::ifstream(path(name), std::ios::binary).rdbuf();
    return text.str();
  }

  std::string folder_;
  Target target_{"x86-64-linux-avx2"};
};

TEST_F(EmittedFiles, log_lists_what_is_proven_a_second_time) {
  const char *before = std::getenv("PH_VERIFY");
  const std::string wish = before ? before : "";
  setenv("PH_VERIFY", "full", 1);
  Blur b;
  b.blur_x.compute_root();
  b.blur_y.compile_to({{Emit::compiler_log, path("blur.log")}}, {b.input}, "blur", target_);
  before ? setenv("PH_VERIFY", wish.c_str(), 1) : unsetenv("PH_VERIFY");
  const std::string lines =
      "\"proven_again\": [\"proven again: 'blur_x'\", \"proven again: 'blur_y'\"]";
  EXPECT_NE(read("blur.log").find(lines), std::string::npos) << read("blur.log");
}

TEST_F(EmittedFiles, have_every_form) {
  Blur b;
  std::map<Emit, std::string> files;
  for (Emit e : {Emit::object, Emit::static_library, Emit::c_header, Emit::assembly,
                 Emit::llvm_assembly, Emit::stmt, Emit::schedule, Emit::algorithm, Emit::tree}) {
    files[e] = path(std::string("blur") + emit_extension(e, target_));
  }
  b.blur_y.compute_root();
  b.blur_x.compute_root();
  b.blur_y.compile_to(files, {b.input}, "blur", target_);
  EXPECT_EQ(read("blur.o").substr(0, 4), std::string("\x7f"
                                                     "ELF"));
  EXPECT_EQ(read("blur.a").substr(0, 8), "!<arch>\n");
  EXPECT_NE(read("blur.a").find(read("blur.o")), std::string::npos);
  EXPECT_NE(read("blur.h").find("int blur(struct polyhalite_buffer_t *input_buffer, struct "
                                "polyhalite_buffer_t *blur_y_buffer);"),
            std::string::npos)
      << read("blur.h");
  EXPECT_NE(read("blur.s").find("blur_argv:"), std::string::npos);
  EXPECT_NE(read("blur.ll").find("define i32 @blur(ptr %input, ptr %blur_y)"), std::string::npos);
  EXPECT_EQ(read("blur.stmt").find("func blur(input: input uint16[2], blur_y: output uint16[2])"),
            0u);
  EXPECT_NE(read("blur.schedule").find("blur_x.compute_root()"), std::string::npos);
  EXPECT_NE(read("blur.algorithm").find("blur_y(x, y) = "), std::string::npos);
  EXPECT_NE(read("blur.tree").find("blur_x"), std::string::npos);
}

TEST_F(EmittedFiles, cannot_be_written_everywhere) {
  Blur b;
  try {
    b.blur_y.compile_to({{Emit::c_header, "/dev/null/blur.h"}}, {b.input}, "blur", target_);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_EQ(e.diagnostic().to_string(),
              "error: cannot write the C header '/dev/null/blur.h'\n  why: Not a directory\n"
              "  fix: choose a folder that exists and may be written to");
  }
}

TEST_F(EmittedFiles, hold_functions_with_c_names) {
  Blur b;
  try {
    b.blur_y.compile_to({{Emit::object, path("blur.o")}}, {b.input}, "my-blur", target_);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_EQ(e.diagnostic().to_string(),
              "error: 'my-blur' cannot name a compiled function\n  why: a C symbol has letters, "
              "digits and underscores, and does not begin with a digit\n  fix: give the function "
              "another name");
  }
  EXPECT_FALSE(std::filesystem::exists(path("blur.o")));
}

TEST_F(EmittedFiles, runtime_is_there_for_this_machine_only) {
  const Target host = get_host_target();
  backend().emit_runtime(host, Emit::static_library, path("runtime.a"));
  EXPECT_NE(read("runtime.a").find("polyhalite_do_par_for"), std::string::npos);
  backend().emit_runtime(host, Emit::object, path("runtime.o"));
  EXPECT_EQ(read("runtime.o").substr(0, 4), std::string("\x7f"
                                                        "ELF"));
  const Target other(host.arch == Target::ARM ? "x86-64-linux" : "arm-64-linux");
  EXPECT_THROW(backend().emit_runtime(other, Emit::object, path("other.o")), CompileError);
  try {
    backend().emit_runtime(host, Emit::stmt, path("runtime.stmt"));
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_EQ(e.diagnostic().what, "the runtime cannot be written as stmt");
  }
}

TEST(JitTarget, must_be_this_machine) {
  const Target host = get_host_target();
  Blur b;
  const Buffer<uint16_t> in = picture();
  b.input.set(in);
  const Target other(host.arch == Target::ARM ? "x86-64-linux" : "arm-64-linux");
  try {
    b.blur_y.realize({kWidth, kHeight}, other);
    FAIL();
  } catch (const CompileError &e) {
    EXPECT_NE(e.diagnostic().what.find("cannot run on this machine"), std::string::npos)
        << e.what();
    EXPECT_EQ(e.diagnostic().why, "this machine is '" + host.to_string() + "'");
  }
}

}  // namespace
}  // namespace polyhalite::backend_test
