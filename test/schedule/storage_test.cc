// Words that say how Funcs are stored and over what they are computed, as the tree holds them.
#include <gtest/gtest.h>

#include "schedule/parse_tree.h"
#include "test/schedule/build.h"

namespace polyhalite::storage_test {
namespace {

constexpr const char *kPair =
    "f(x, y, c) = x + y\ng(x, y, c) = f(x, y, c) + f(x, y + 1, c)\noutput g\n";

constexpr const char *kLoops = R"(allocate f
  for f.s0.c serial
    for f.s0.y serial
      for f.s0.x serial
        f.s0
  for g.s0.c serial
    for g.s0.y serial
      for g.s0.x serial
        g.s0
)";

std::string words(const std::string &schedule) {
  const std::string text = tree(kPair, "f.compute_root()\n" + schedule);
  const size_t at = text.find("allocate f\n");
  if (at == std::string::npos) return text;
  EXPECT_EQ(text.substr(at), kLoops);
  return text.substr(0, at);
}

TEST(storage, memoized_funcs_print_and_read_back) {
  const LoopTree plain = build(kPair, "f.compute_root()\n");
  const LoopTree kept = build(kPair, "f.compute_root()\nf.memoize()\n");
  const LoopTree keyed = build(kPair, "f.compute_root()\nf.memoize(7)\n");
  EXPECT_EQ(to_text(keyed), "tree 1\nstore f memoized evict 7\n" + std::string(kLoops));
  EXPECT_EQ(to_text(kept), "tree 1\nstore f memoized\n" + std::string(kLoops));
  for (const LoopTree *t : {&kept, &keyed}) {
    const LoopTree read = parse_tree(to_text(*t), t->algorithm);
    EXPECT_EQ(to_text(read), to_text(*t));
    EXPECT_EQ(read.hash, t->hash);
    EXPECT_NE(t->hash, plain.hash);
  }
}

TEST(storage, words_print_and_read_back) {
  const std::string schedule =
      "f.compute_root()\nf.store_in(Stack)\nf.reorder_storage(c, x)\nf.align_storage(x, 8)\n"
      "f.fold_storage(y, 4, backward)\nf.bound_storage(x, 64)\nf.bound_extent(c, 3)\n"
      "f.align_bounds(y, 4, 1)\nf.align_extent(x, 2)\ng.partition(y, Always)\n"
      "g.prefetch(f, x, y, 2, Clamp)\n";
  const LoopTree t = build(kPair, schedule);
  EXPECT_EQ(to_text(t), R"(tree 1
bound f.c extent 3
bound f.y multiple 4 of 1
bound f.x multiple 2
store f in Stack
store f order 2 1 0
store f.x align 8 bound 64
store f.y fold 4 backward
prefetch f at g.s0.x from g.s0.y by 2 Clamp
allocate f
  for f.s0.c serial
    for f.s0.y serial
      for f.s0.x serial
        f.s0
  for g.s0.c serial
    for g.s0.y serial partition Always
      for g.s0.x serial
        g.s0
)");
  const LoopTree read = parse_tree(to_text(t), t.algorithm);
  EXPECT_EQ(to_text(read), to_text(t));
  EXPECT_EQ(read.hash, t.hash);
}

TEST(storage, named_dimensions_change_places_among_themselves) {
  EXPECT_EQ(words("f.reorder_storage(c, x, y)\n"), "store f order 2 0 1\n");
  EXPECT_EQ(words("f.reorder_storage(c, y)\n"), "store f order 0 2 1\n");
  EXPECT_EQ(words("f.reorder_storage(x, y, c)\n"), "");
}

TEST(storage, packed_dimensions_print_and_read_back) {
  EXPECT_EQ(words("f.pack(y, 4)\nf.pack(x, 8)\nf.align_storage(x, 12)\n"),
            "store f pack 1 by 4, 0 by 8\nstore f.x align 12\n");
  const LoopTree t = build(kPair, "f.compute_root()\nf.pack(y, 4)\nf.pack(x, 8)\n");
  EXPECT_EQ(t.storage[0].dims[0].multiple(), 8);
  const LoopTree read = parse_tree(to_text(t), t.algorithm);
  EXPECT_EQ(to_text(read), to_text(t));
  EXPECT_EQ(read.hash, t.hash);
  for (const char *other : {"f.pack(x, 8)\nf.pack(y, 4)\n", "f.pack(y, 4)\nf.pack(x, 4)\n", ""}) {
    EXPECT_NE(build(kPair, std::string("f.compute_root()\n") + other).hash, t.hash) << other;
  }
}

TEST(storage, packed_memory_that_somebody_else_has) {
  EXPECT_EQ(words("g.pack(x, 8)\n"),
            "s.txt:2: error: cannot pack 'g'\n"
            "  why: it is an output, and the caller's buffer has no blocks\n"
            "  fix: pack a Func that the output is computed from\n");
  EXPECT_EQ(words("f.pack(x, 8)\nf.debug_to_file(\"f.npy\")\n"),
            "s.txt:2: error: cannot pack 'f'\n"
            "  why: debug_to_file writes its memory as it is\n"
            "  fix: drop one of both\n");
}

TEST(storage, prefetches_from_loops_of_consumers) {
  const std::string inside = "g.split(x, strip, x, 8)\nf.compute_at(g, x)\n";
  const std::string text = tree(kPair, inside +
                                           "g.reorder(x, y, strip, c)\n"
                                           "f.prefetch(in, y, strip, 1, NonFaulting)\n"
                                           "f.prefetch(in, y, y, 2, Clamp)\n");
  EXPECT_EQ(text.substr(0, text.find("for ")),
            "prefetch in at f.s0.y from g.s0.strip by 1 NonFaulting\n"
            "prefetch in at f.s0.y from f.s0.y by 2 Clamp\n");
  EXPECT_EQ(tree(kPair, inside + "f.prefetch(in, y, z, 1, Clamp)\n"),
            "s.txt:3: error: cannot prefetch 'in' in 'f': it has no loop 'z'\n"
            "  fix: its loops are, outermost first: c, y, strip, x, c, y\n");
  // Of a Func that stands beside it.
  EXPECT_EQ(tree(kPair,
                 "f.compute_root()\ng.split(x, strip, x, 8)\n"
                 "f.prefetch(in, y, strip, 1, Clamp)\n"),
            "s.txt:3: error: cannot prefetch 'in' in 'f': it has no loop 'strip'\n"
            "  fix: its loops are, outermost first: c, y\n");
}

TEST(storage, mistakes) {
  EXPECT_EQ(words("f.pack(z, 8)\n"),
            "s.txt:2: error: cannot pack 'z' of 'f': it is no dimension of it\n"
            "  fix: its dimensions are: x, y, c\n");
  EXPECT_EQ(words("f.pack(x, 0)\n"),
            "s.txt:2: error: cannot pack 'x' of 'f': the factor is 0\n"
            "  fix: give at least 1\n");
  EXPECT_EQ(words("f.pack(x, 8)\nf.pack(y, 2)\nf.pack(x, 4)\n"),
            "s.txt:4: error: cannot pack 'x' of 'f' into blocks of 4, and of 8\n"
            "  why: its cells are in blocks already\n"
            "  fix: keep one of both\n");

  EXPECT_EQ(words("f.reorder_storage(x, z)\n"),
            "s.txt:2: error: cannot reorder the storage of 'z' of 'f': it is no dimension of it\n"
            "  fix: its dimensions are: x, y, c\n");
  EXPECT_EQ(words("f.reorder_storage(x, y, x)\n"),
            "s.txt:2: error: cannot reorder the storage of 'f': 'x' is named twice\n"
            "  fix: name each dimension once, innermost first\n");
  EXPECT_EQ(words("f.align_storage(x, 0)\n"),
            "s.txt:2: error: cannot align the storage of 'x' of 'f': the alignment is 0\n"
            "  fix: give at least 1\n");
  EXPECT_EQ(words("g.prefetch(f, x, z, 1, Clamp)\n"),
            "s.txt:2: error: cannot prefetch 'f' in 'g': it has no loop 'z'\n"
            "  fix: its loops are, outermost first: c, y, x\n");
  EXPECT_EQ(words("g.prefetch(f, y, x, 1, Clamp)\n"),
            "s.txt:2: error: cannot prefetch 'f' in 'g' at 'y' from 'x'\n"
            "  why: loop 'x' is inside 'y', so that it has no iteration there\n"
            "  fix: name a loop 'from' that is loop 'at', or around it\n");
  EXPECT_EQ(words("f.store_in(VTCM)\n"),
            "s.txt:3: error: unknown option 'VTCM'\n"
            "  fix: options are: Auto, Heap, Stack, Register, GPUShared\n");
}

}  // namespace
}  // namespace polyhalite::storage_test
