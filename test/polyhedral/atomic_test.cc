// (e) for atomic updates: an operator without order, lanes that take turns, or a promise.
#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite::atomic_test {
namespace {

// Of four instances on a cell the last one's value stays.
constexpr const char *kLast = R"(f(x) = 0
over r(0, 4), c(0, 8): f(c) = f(c + 8)*2 + r
output f
)";

std::string rule(const std::string &algorithm, const std::string &schedule,
                 const std::string &loop) {
  return proof_of(judgement(algorithm, schedule), 'e', loop);
}

TEST(atomic, lanes_take_turns_in_the_algorithms_order) {
  const std::string turns = "isl: atomic, and lanes take turns in the algorithm's order";
  EXPECT_EQ(rule(kLast, "f.update(0).atomic(false)\nf.update(0).vectorize(r)",
                 "vector loop 'r' of update 0 of 'f'"),
            turns);
  // So it does where both loops are lanes of one vector.
  EXPECT_EQ(
      rule(kLast, "f.update(0).atomic(false)\nf.update(0).fuse(r, c, t)\nf.update(0).vectorize(t)",
           "vector loop 't' of update 0 of 'f'"),
      turns);
  // Loops inside run around the lanes, which does not matter where they go to other cells.
  EXPECT_EQ(
      rule(kLast, "f.update(0).atomic(false)\nf.update(0).reorder(c, r)\nf.update(0).vectorize(r)",
           "vector loop 'r' of update 0 of 'f'"),
      turns);
}

TEST(atomic, several_cells_of_an_instance_take_turns_with_it) {
  EXPECT_EQ(rule("f(x) = x\n"
                 "over r(0, 4): f(intrinsic<int32>(scatter_gather, r, r + 2)) = "
                 "intrinsic<int32>(scatter_gather, 0, min(f(r + 2), 4))\n"
                 "output f\n",
                 "f.update(0).atomic(false)\nf.update(0).vectorize(r)",
                 "vector loop 'r' of update 0 of 'f'"),
            "isl: atomic, and lanes take turns in the algorithm's order");
}

// r = 2*ro + ri: the loop over ri runs around the lanes, 0 2 1 3.
TEST(atomic, lanes_that_would_change_places_are_refused) {
  EXPECT_EQ(verdict(kLast,
                    "f.update(0).atomic(false)\nf.update(0).split(r, ro, ri, 2)\n"
                    "f.update(0).vectorize(ro)"),
            "test:3: error: cannot prove that updates of update 0 of 'f' may run atomically in any "
            "order\n"
            "  why: f at (c=0, r=0) and (c=0, r=2) both write f(0); it reads 'f' at a cell that it "
            "does not write; where lanes take turns, (0,2) "
            "would run before (0,1)\n"
            "  fix: promise it by atomic(true), or keep 'ro' serial");
  EXPECT_EQ(verdict(kLast,
                    "f.update(0).atomic(true)\nf.update(0).split(r, ro, ri, 2)\n"
                    "f.update(0).vectorize(ro)"),
            "legal");
}

TEST(atomic, lanes_of_two_loops_take_turns_together) {
  const std::string split = "f.update(0).atomic(false)\nf.update(0).split(r, ro, ri, 2)\n";
  // Lanes of ri, and in each those of ro: 0 2 1 3.
  EXPECT_EQ(
      verdict(kLast, split + "f.update(0).vectorize(ri)\nf.update(0).vectorize(ro)").substr(0, 30),
      "test:4: error: cannot prove th");
  EXPECT_EQ(verdict(kLast, split + "f.update(0).vectorize(ri)"), "legal");
}

TEST(atomic, iterations_on_threads_have_no_turns) {
  EXPECT_EQ(verdict(kLast, "f.update(0).atomic(false)\nf.update(0).parallel(r)"),
            "test:2: error: cannot prove that updates of update 0 of 'f' may run atomically in any "
            "order\n"
            "  why: f at (c=0, r=0) and (c=0, r=1) both write f(0); it reads 'f' at a cell that it "
            "does not write\n"
            "  fix: promise it by atomic(true), or keep 'r' serial");
  // Nor where threads are inside of lanes that share cells with them.
  EXPECT_NE(verdict("f(x) = 0\nover r(0, 4), c(0, 4): f(r + c) = f(r + c + 8) + r\noutput f\n",
                    "f.update(0).atomic(false)\nf.update(0).parallel(r)\nf.update(0).vectorize(c)"),
            "legal");
}

// x -> x*A(r) + B(r), one after the other: as functions they compose, in one order.
TEST(atomic, an_operator_with_an_order_is_for_lanes_only) {
  const std::string composed = R"(f(x) = {1.0f, 0.0f}
over r(0, 4): f(x) = {f(x).0*float32(r), f(x).1*float32(r) + float32(r*r)}
output f
)";
  EXPECT_EQ(rule(composed, "f.update(0).atomic(false)\nf.update(0).vectorize(r)",
                 "vector loop 'r' of update 0 of 'f'"),
            "isl: atomic, and lanes take turns in the algorithm's order");
  EXPECT_EQ(verdict(composed, "f.update(0).atomic(false)\nf.update(0).parallel(r)"),
            "test:2: error: cannot prove that updates of update 0 of 'f' may run atomically in any "
            "order\n"
            "  why: f at (x=0, r=1) reads f(0), which (x=0, r=0) writes (with f.0.extent.0=1); the "
            "operator is associative, but not commutative: operands would change places\n"
            "  fix: promise it by atomic(true), or keep 'r' serial");
}

TEST(atomic, an_operator_without_order_needs_no_turns) {
  EXPECT_EQ(rule("f(x) = 0\nover r(0, 4), c(0, 8): f(c) = f(c) + r\noutput f\n",
                 "f.update(0).atomic(false)\nf.update(0).parallel(r)",
                 "parallel loop 'r' of update 0 of 'f'"),
            "structural: atomic updates with a commutative operator");
}

}  // namespace
}  // namespace polyhalite::atomic_test
