// Hoisted memory: its size, its slots, and loops that run at once.
#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite::hoist_test {
namespace {

constexpr const char *kTiles = R"(image in: uint16, 2
bx(x, y) = in(x, y) + in(x + 1, y)
by(x, y) = bx(x, y) + bx(x, y + 1)
output by
)";

std::string survey_of(const std::string &schedule) {
  const LoopTree t = build_tree(algorithm_of(kTiles), directives(schedule));
  return to_text(t, survey(t));
}

TEST(hoist, memory_holds_the_largest_storage) {
  EXPECT_EQ(
      survey_of("bx.compute_at(by, y)\nbx.hoist_storage_root()\nbx.ring_buffer(2)"),
      R"(needs by [by.min.0, by.extent.0 + by.min.0 - 1] [by.min.1, by.extent.1 + by.min.1 - 1]
needs in [by.min.0, by.extent.0 + by.min.0] [by.min.1, by.extent.1 + by.min.1]
let bx.hoisted.0 = max(by.extent.0, 0)
hoist bx [bx.hoisted.0, 2] ring 2 at (by.s0.y - by.min.1)%2
  serial by.s0.y from by.min.1 extent by.extent.1
    allocate bx [by.min.0, by.extent.0 + by.min.0 - 1] [by.s0.y, by.s0.y + 1]
      serial bx.s0.y from by.s0.y extent 2
        serial bx.s0.x from by.min.0 extent by.extent.0
          'bx' x=bx.s0.x y=bx.s0.y
      serial by.s0.x from by.min.0 extent by.extent.0
        'by' x=by.s0.x y=by.s0.y
)");
}

TEST(hoist, out_of_serial_loops_is_legal) {
  const Judgement j = judgement(kTiles, R"(by.split(y, yo, yi, 8, GuardWithIf)
by.parallel(yo)
bx.compute_at(by, yi)
bx.hoist_storage(by, yo))");
  EXPECT_TRUE(j.legal());
  EXPECT_EQ(proof_of(j, 'd', "hoisted storage of 'bx'"),
            "structural: storages in one memory live one after the other");
}

TEST(hoist, out_of_a_parallel_loop_is_refused) {
  EXPECT_EQ(verdict(kTiles, "by.parallel(y)\nbx.compute_at(by, y)\nbx.hoist_storage_root()"),
            "test:3: error: cannot hoist the storage of 'bx' out of the parallel loop 'y' of 'by'\n"
            "  why: iterations y=0 and y=1 run at once, and each needs storage of its own (with "
            "by.extent.1=2)\n"
            "  fix: hoist it to loop 'y' or inside it, or keep 'y' serial");
}

// Only iterations that have one place of the ring have one memory.
TEST(hoist, rings_out_of_parallel_loops) {
  const std::string ring =
      "by.parallel(y)\nbx.compute_at(by, y)\nbx.hoist_storage_root()\n"
      "bx.ring_buffer(3)";
  EXPECT_EQ(
      verdict(kTiles, ring),
      "test:3: error: cannot hoist the storage of 'bx' out of the parallel loop 'y' of 'by'\n"
      "  why: iterations y=0 and y=3 run at once, and each needs storage of its own; a ring's "
      "storages are taken in turn (with by.extent.1=4)\n"
      "  fix: hoist it to loop 'y' or inside it, or keep 'y' serial");
  EXPECT_EQ(verdict(kTiles, ring + "\nby.bound_extent(y, 3)"), "legal");
}

// The inner window passes over its ring before the outer one comes back to it.
TEST(slide, two_windows_share_no_ring) {
  const LoopTree t = build_tree(algorithm_of(R"(f(x, y) = x + y
g(x, y) = f(x, y) + f(x + 1, y + 1)
output g
)"),
                                directives("f.store_root()\nf.compute_at(g, x)"));
  const Survey s = survey(t);
  const FuncSurvey &f = s.funcs[0];
  EXPECT_TRUE(f.slides[0] && f.slides[1]);
  EXPECT_EQ(f.fold, (std::vector<int64_t>{0, 2}));
  const LoopTree u = build_tree(algorithm_of(R"(f(x, y) = x + y
g(x, y) = f(x, y) + f(x + 1, y + 1)
output g
)"),
                                directives("g.reorder(y, x)\nf.store_root()\nf.compute_at(g, y)"));
  EXPECT_EQ(survey(u).funcs[0].fold, (std::vector<int64_t>{2, 0}));
}

}  // namespace
}  // namespace polyhalite::hoist_test
