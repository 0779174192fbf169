// Where loops of kernels may stand: each refusal with its message.
#include "schedule/check_kernels.h"

#include <gtest/gtest.h>

#include "schedule/build.h"

namespace polyhalite::check_kernels_test {
namespace {

const char *const kTwo = R"(f(x, y) = x + y
g(x, y) = f(x, y) + f(x + 1, y)
output g
)";

std::string verdict(const std::string &schedule, const std::string &algorithm = kTwo) {
  try {
    check_kernels(build(algorithm, schedule));
  } catch (const CompileError &e) {
    const std::string text = e.what();
    return text.substr(text.find("error: ") + 7);
  }
  return "none";
}

TEST(check_kernels, accepts_phases_and_steps) {
  EXPECT_EQ(verdict("g.split(x, xo, xi, 8, GuardWithIf)\n"
                    "g.split(xi, xs, xt, 4, GuardWithIf)\n"
                    "g.reorder(xt, xs, xo, y)\n"
                    "g.gpu_blocks(xo, y)\n"
                    "g.gpu_threads(xt)\n"
                    "f.compute_at(g, xs)\n"
                    "f.gpu_threads(x)\n"),
            "none");
}

TEST(check_kernels, threads_want_blocks) {
  EXPECT_EQ(verdict("g.gpu_threads(x)\n"),
            "cannot run loop 'x' of 'g' over threads\n"
            "  why: no loop over blocks is around it\n"
            "  fix: mark a loop around it with gpu_blocks");
}

TEST(check_kernels, nests_are_perfect) {
  EXPECT_EQ(verdict("g.split(x, xo, xi, 8, GuardWithIf)\n"
                    "g.reorder(xi, y, xo)\n"
                    "g.gpu_blocks(xi, xo)\n"),
            "cannot run loop 'xi' of 'g' over blocks\n"
            "  why: it does not stand directly inside loop 'xo' of 'g'\n"
            "  fix: reorder the loops over blocks next to each other, outermost");
  EXPECT_EQ(
      verdict("g.split(x, xo, xi, 8, GuardWithIf)\n"
              "g.split(y, yo, yi, 8, GuardWithIf)\n"
              "g.reorder(xi, xo, yi, yo)\n"
              "g.gpu_blocks(yo)\n"
              "g.gpu_threads(xi, yi)\n"),
      "cannot run loop 'xi' of 'g' over threads\n"
      "  why: it does not stand directly inside loop 'yi' of 'g'\n"
      "  fix: reorder the loops over threads next to each other, and compute at the innermost "
      "of them what is computed between them");
}

TEST(check_kernels, a_kernel_holds_no_kernel) {
  EXPECT_EQ(verdict("g.gpu_blocks(y)\n"
                    "f.compute_at(g, y)\n"
                    "f.gpu_blocks(x)\n"),
            "cannot run loop 'x' of 'f' over blocks\n"
            "  why: 'f' is computed in a kernel, in loop 'y' of 'g'\n"
            "  fix: compute it outside of that loop, or give its loops to threads of that kernel");
}

TEST(check_kernels, a_thread_runs_alone) {
  EXPECT_EQ(verdict("g.gpu_blocks(y)\n"
                    "g.gpu_threads(x)\n"
                    "f.compute_at(g, x)\n"
                    "f.gpu_threads(x)\n"),
            "cannot run loop 'x' of 'f' over threads\n"
            "  why: 'f' is computed by one thread, in loop 'x' of 'g'\n"
            "  fix: compute it at a loop over blocks, or keep its loops serial");
  EXPECT_EQ(verdict("g.gpu_blocks(y)\n"
                    "g.parallel(x)\n"),
            "cannot run loop 'x' of 'g' in parallel\n"
            "  why: it stands in a kernel, in loop 'y' of 'g'\n"
            "  fix: use gpu_threads, or keep it serial");
}

TEST(check_kernels, rings_are_filled_ahead_of_one_serial_loop) {
  EXPECT_EQ(verdict("g.gpu_blocks(y)\n"
                    "f.compute_at(g, x)\n"
                    "f.async()\n"),
            "cannot run asynchronously 'f' in a kernel\n"
            "  why: the threads of a kernel run no tasks, and there is no room for copies ahead\n"
            "  fix: give it a hoist_storage() and ring_buffer(), or drop async");
  EXPECT_EQ(verdict("g.gpu_blocks(y)\n"
                    "f.compute_at(g, x)\n"
                    "f.hoist_storage(g, y)\n"
                    "f.ring_buffer(1)\n"
                    "f.async()\n"),
            "cannot run asynchronously 'f' in a kernel\n"
            "  why: its ring has 1 places\n"
            "  fix: give ring_buffer() a number from 2 to 8");
  EXPECT_EQ(
      verdict("g.split(x, xo, xi, 8)\n"
              "g.gpu_blocks(y)\n"
              "f.compute_at(g, xi)\n"
              "f.hoist_storage(g, y)\n"
              "f.ring_buffer(2)\n"
              "f.async()\n"),
      "cannot run asynchronously 'f' in a kernel\n"
      "  why: between where its storage is hoisted to and where it is computed stands more "
      "than one serial loop\n"
      "  fix: hoist_storage() to the loop over blocks, or the serial one, that is next around "
      "the loop that it is computed at");
  EXPECT_EQ(verdict("g.gpu_blocks(y)\n"
                    "f.compute_at(g, x)\n"
                    "f.hoist_storage(g, y)\n"
                    "f.ring_buffer(3)\n"
                    "f.async()\n"),
            "none");
}

TEST(check_kernels, the_host_keeps_what_is_the_hosts) {
  EXPECT_EQ(verdict("g.gpu_blocks(y)\n"
                    "f.compute_at(g, y)\n"
                    "f.memoize()\n"),
            "cannot memoize 'f' in a kernel\n"
            "  why: what is kept is kept by the host\n"
            "  fix: drop memoize, or compute it outside of loop 'y' of 'g'");
  EXPECT_EQ(
      verdict("g.parallel(y)\n"
              "g.gpu_blocks(x)\n"),
      "cannot run loop 'x' of 'g' over blocks\n"
      "  why: kernels are launched one after the other, and iterations of loop 'y' of 'g' run "
      "at once\n"
      "  fix: keep 'y' serial");
}

}  // namespace
}  // namespace polyhalite::check_kernels_test
