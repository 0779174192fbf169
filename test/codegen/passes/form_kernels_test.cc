// What no kernel can be formed of is refused, with what a launch would have to know.
#include "codegen/passes/form_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "codegen/ir/text.h"
#include "polyhalite/error.h"

namespace polyhalite::form_kernels_test {
namespace {

// What is said of a kernel with these loops around its statement; empty: nothing.
std::string refused(const std::string &loops) {
  const auto depth = static_cast<size_t>(std::count(loops.begin(), loops.end(), '{'));
  try {
    form_kernels(
        parse_function("func f(n: int32, out: output int32[2]) { for b in (0, n) gpu_block {" +
                       loops + "out(x, b) = 1" + std::string(depth, '}') + "} }"));
  } catch (const CompileError &e) {
    return e.what();
  }
  return "";
}

std::string lanes(const std::string &n) { return refused("for x in (0, " + n + ") gpu_lane {"); }

TEST(FormKernels, LanesAreOfOneWarp) {
  EXPECT_EQ(lanes("32"), "");
  EXPECT_EQ(lanes("5"), "");
  EXPECT_EQ(lanes("33"),
            "error: kernel 'b' has 33 lanes in its loop 'x'\n"
            "  why: lanes are of one warp, which has 32\n"
            "  fix: split the loop by at most 32, and give the inner part to lanes; or use "
            "gpu_threads");
  EXPECT_EQ(lanes("n").substr(0, 45), "error: kernel 'b' has n lanes in its loop 'x'");
}

std::string threads(const std::string &nx, const std::string &ny, const std::string &nz) {
  return refused("for z in (0, " + nz + ") gpu_thread { for y in (0, " + ny +
                 ") gpu_thread { for x in (0, " + nx + ") gpu_thread {");
}

TEST(FormKernels, ThreadsOfABlockAreLimited) {
  EXPECT_EQ(threads("32", "32", "1"), "");
  EXPECT_EQ(threads("1", "16", "64"), "");
  EXPECT_EQ(threads("n", "1024", "1"), "");
  EXPECT_EQ(threads("64", "17", "1"),
            "error: kernel 'b' has 64 x 17 x 1 threads in a block\n"
            "  why: a block has at most 1024, and 64 along z, the outermost loop of three\n"
            "  fix: use smaller tiles, or let each thread compute several points");
  EXPECT_EQ(threads("n", "2", "65").substr(0, 52),
            "error: kernel 'b' has n x 2 x 65 threads in a block\n");
}

}  // namespace
}  // namespace polyhalite::form_kernels_test
