// What no kernel can be formed of is refused, with what a launch would have to know.
#include "codegen/passes/form_kernels.h"

#include <gtest/gtest.h>

#include <string>

#include "codegen/ir/text.h"
#include "polyhalite/error.h"

namespace polyhalite {
namespace {

std::string refused(const std::string &lanes) {
  try {
    form_kernels(
        parse_function("func f(n: int32, out: output int32[2]) { for y in (0, n) gpu_block "
                       "{ for x in (0, " +
                       lanes + ") gpu_lane { out(x, y) = 1 } } }"));
  } catch (const CompileError &e) {
    return e.what();
  }
  return "";
}

TEST(FormKernels, LanesAreOfOneWarp) {
  EXPECT_EQ(refused("32"), "");
  EXPECT_EQ(refused("5"), "");
  EXPECT_EQ(refused("33"),
            "error: kernel 'y' has 33 lanes in its loop 'x'\n"
            "  why: lanes are of one warp, which has 32\n"
            "  fix: split the loop by at most 32, and give the inner part to lanes; or use "
            "gpu_threads");
  EXPECT_EQ(refused("n").substr(0, 45), "error: kernel 'y' has n lanes in its loop 'x'");
}

}  // namespace
}  // namespace polyhalite
