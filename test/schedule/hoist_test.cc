// hoist_storage and ring_buffer: where the memory of a storage stands in the tree.
#include <gtest/gtest.h>

#include "schedule/build.h"
#include "schedule/parse_tree.h"

namespace polyhalite::hoist_test {
namespace {

constexpr const char *kTiles = R"(image in: uint16, 2
bx(x, y) = in(x, y) + in(x + 1, y)
by(x, y) = bx(x, y) + bx(x, y + 1)
output by
)";

TEST(hoist, memory_stands_outside_of_the_storage) {
  const std::string schedule = R"(by.split(y, yo, yi, 8, GuardWithIf)
bx.compute_at(by, yi)
bx.hoist_storage(by, yo)
)";
  EXPECT_EQ(tree(kTiles, schedule), R"(for by.s0.yo serial
  hoist bx
    for by.s0.yi serial
      allocate bx
        for bx.s0.y serial
          for bx.s0.x serial
            bx.s0
        for by.s0.x serial
          by.s0: y -> yo, yi by 8 GuardWithIf
)");
}

TEST(hoist, at_root_with_a_ring_and_back_from_text) {
  const LoopTree t = build(kTiles, R"(bx.compute_at(by, y)
bx.hoist_storage_root()
bx.ring_buffer(3)
)");
  const std::string text = to_text(t);
  EXPECT_EQ(text, R"(tree 1
hoist bx ring 3
  for by.s0.y serial
    allocate bx
      for bx.s0.y serial
        for bx.s0.x serial
          bx.s0
      for by.s0.x serial
        by.s0
)");
  const LoopTree back = parse_tree(text, t.algorithm);
  EXPECT_EQ(to_text(back), text);
  EXPECT_EQ(back.hash, t.hash);
}

TEST(hoist, outermost_is_around_all_loops_of_the_consumer) {
  EXPECT_EQ(tree(kTiles, "bx.compute_at(by, __outermost)\nbx.hoist_storage(by, __outermost)"),
            R"(hoist bx
  allocate bx
    for bx.s0.y serial
      for bx.s0.x serial
        bx.s0
    for by.s0.y serial
      for by.s0.x serial
        by.s0
)");
}

TEST(hoist, inside_of_the_storage_is_refused) {
  EXPECT_EQ(tree(kTiles, "bx.compute_root()\nbx.hoist_storage(by, y)"),
            "s.txt:2: error: cannot hoist 'bx' at loop 'y' of 'by': that loop does not enclose "
            "where it is stored\n"
            "  fix: hoist it at one of: root\n");
}

TEST(hoist, of_an_inlined_func_is_refused) {
  EXPECT_EQ(tree(kTiles, "bx.hoist_storage_root()"),
            "s.txt:1: error: cannot hoist 'bx': it is computed inline\n"
            "  why: only a Func with a compute level has storage and productions of its own\n"
            "  fix: add compute_root or compute_at, or drop hoist_storage_root\n");
}

TEST(hoist, ring_without_hoisted_memory_is_refused) {
  EXPECT_EQ(tree(kTiles, "bx.compute_at(by, y)\nbx.ring_buffer(2)"),
            "s.txt:2: error: cannot ring-buffer 'bx': its storage is not hoisted\n"
            "  why: a ring holds the storages of several iterations of a loop, so its memory lives "
            "outside of that loop\n"
            "  fix: add hoist_storage at a loop outside of its storage, or hoist_storage_root\n");
}

}  // namespace
}  // namespace polyhalite::hoist_test
