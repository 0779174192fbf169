// async: forks in the tree.
#include <gtest/gtest.h>

#include "schedule/build.h"
#include "schedule/parse_tree.h"

namespace polyhalite::async_test {
namespace {

constexpr const char *kChain = R"(image in: uint16, 2
a(x, y) = in(x, y)
b(x, y) = a(x, y) + a(x, y + 1)
c(x, y) = b(x, y) + b(x, y + 1)
output c
)";

TEST(async, fork_stands_around_what_the_storage_encloses) {
  const LoopTree t = build(kChain, "b.store_root()\nb.compute_at(c, y)\nb.async()");
  const std::string text = to_text(t);
  EXPECT_EQ(text, R"(tree 1
allocate b
  fork b
    for c.s0.y serial
      for b.s0.y serial
        for b.s0.x serial
          b.s0
      for c.s0.x serial
        c.s0
)");
  const LoopTree back = parse_tree(text, t.algorithm);
  EXPECT_EQ(to_text(back), text);
  EXPECT_EQ(back.hash, t.hash);
}

TEST(async, fork_stands_around_what_a_ring_encloses) {
  EXPECT_EQ(tree(kChain, R"(c.split(y, yo, yi, 4, GuardWithIf)
b.compute_at(c, yo)
b.hoist_storage_root()
b.ring_buffer(2)
b.async()
)"),
            R"(hoist b ring 2
  fork b
    for c.s0.yo serial
      allocate b
        for b.s0.y serial
          for b.s0.x serial
            b.s0
        for c.s0.yi serial
          for c.s0.x serial
            c.s0: y -> yo, yi by 4 GuardWithIf
)");
}

TEST(async, producer_that_needs_what_the_task_beside_computes_is_refused) {
  EXPECT_EQ(tree(kChain, R"(a.store_root()
a.compute_at(c, y)
b.store_root()
b.compute_at(c, y)
b.async()
)"),
            "s.txt:5: error: cannot run 'b' asynchronously: it uses 'a', which is computed in the "
            "task beside it\n"
            "  why: 'a' is computed between where 'b' is stored and where 'b' is computed\n"
            "  fix: compute 'a' inside 'b' or outside of its storage, or make 'a' async too and "
            "store it outside of 'b'\n");
}

TEST(async, both_async_is_legal) {
  EXPECT_EQ(tree(kChain, R"(a.store_root()
a.compute_at(c, y)
a.async()
b.store_root()
b.compute_at(c, y)
b.async()
)"),
            R"(allocate a
  fork a
    allocate b
      fork b
        for c.s0.y serial
          for a.s0.y serial
            for a.s0.x serial
              a.s0
          for b.s0.y serial
            for b.s0.x serial
              b.s0
          for c.s0.x serial
            c.s0
)");
}

TEST(async, of_an_inlined_func_is_refused) {
  EXPECT_EQ(tree(kChain, "b.async()"),
            "s.txt:1: error: cannot run asynchronously 'b': it is computed inline\n"
            "  why: only a Func with a compute level has storage and productions of its own\n"
            "  fix: add compute_root or compute_at, or drop async\n");
}

}  // namespace
}  // namespace polyhalite::async_test
