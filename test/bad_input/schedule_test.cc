// Mistakes in a schedule, made through the C++ headers. Structural ones that test/schedule pins
// through the text form are not repeated.
#include <gtest/gtest.h>

#include "bad_input/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::schedule_test {
namespace {

class BadSchedule : public testing::Test {
 protected:
  Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"};
  Func f{"f"}, g{"g"};
  Param<int> n{"n", 0};
  BadSchedule() {
    f(x, y) = x + y;
    g(x, y) = f(x, y) + f(x + 1, y);
  }
};

TEST_F(BadSchedule, factors_that_vary) {
  EXPECT_EQ(text_of([&] { g.split(x, xo, xi, y); }),
            "@: error: cannot split 'x' of 'g': the factor depends on 'y'\n"
            "  why: it is fixed before the loops run\n"
            "  fix: use a constant or an expression of Params and of images' sizes");
  EXPECT_EQ(text_of([&] { g.split(x, xo, xi, f(2, 2)); }),
            "@: error: cannot split 'x' of 'g': the factor depends on 'f'\n"
            "  why: it is fixed before the loops run\n"
            "  fix: use a constant or an expression of Params and of images' sizes");
  EXPECT_EQ(text_of([&] { g.split(x, xo, xi, 2.0f); }),
            "@: error: cannot split 'x' of 'g' by a factor of type float32\n"
            "  why: factors count iterations\n"
            "  fix: give a positive integer");
  EXPECT_EQ(text_of([&] { g.split(x, xo, xi, Expr()); }),
            "@: error: cannot split 'x' of 'g' by an undefined factor\n"
            "  why: an Expr that was never given a value has no type\n"
            "  fix: give a positive integer");
}

TEST_F(BadSchedule, factors_that_are_too_large) {
  EXPECT_EQ(text_of([&] { g.split(x, xo, xi, Expr(int64_t{1} << 40)); }),
            "@: error: cannot split 'x' of 'g': the factor is 1099511627776\n"
            "  why: sizes and indices are int32, which holds -2147483648 to 2147483647\n"
            "  fix: give a number that int32 holds");
  g.split(x, xo, xi, 0x7fffffff);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot split 'x' of 'g' by 2147483647\n"
            "  why: extents rounded up to a multiple of the factor must fit int32\n"
            "  fix: use a factor of at most 1073741824");
}

// Each fits, both together do not.
TEST_F(BadSchedule, factors_of_several_splits_that_are_too_large) {
  const Var yo("yo");
  for (const TailStrategy tail : {TailStrategy::ShiftInwards, TailStrategy::RoundUp}) {
    Func f("f");
    f(x, y) = x;
    f.split(x, xo, xi, 65536, tail).split(xo, xo, yo, 65536, tail);
    EXPECT_EQ(text_of([&] { f.realize({8, 8}); }, __builtin_FILE(), __LINE__ - 1),
              "@: error: splits of 'x' make tiles of " +
                  std::string(tail == TailStrategy::RoundUp ? "4294967296" : "4294901761") +
                  " iterations\n"
                  "  why: whole tiles are computed, and extents are int32\n"
                  "  fix: use factors whose product is at most 1073741824, or "
                  "TailStrategy::GuardWithIf");
    Func h("f");
    n.set(4);
    h(x, y) = x;
    h.split(x, xo, xi, n, tail).split(xo, xo, yo, 1 << 30, tail);
    const std::string text = text_of([&] { h.realize({8, 8}); });
    EXPECT_NE(text.find("from 0, and coordinates are 32-bit integers"), std::string::npos) << text;
  }
}

TEST_F(BadSchedule, factors_that_are_not_positive_at_run_time) {
  g.split(x, xo, xi, n / 4, TailStrategy::GuardWithIf);
  EXPECT_EQ(text_of([&] { g.realize({8, 8}); }),
            "@: error: g: 'g', dimension 0: the factor n/4 of the split of 'x' must be positive: "
            "found 0, needed 1; change the size of the output, or the schedule");
  n.set(-8);
  EXPECT_EQ(text_of([&] { g.realize({8, 8}); }),
            "@: error: g: 'g', dimension 0: the factor n/4 of the split of 'x' must be positive: "
            "found -2, needed 1; change the size of the output, or the schedule");
}

TEST_F(BadSchedule, moduli_of_alignments_that_are_not_positive_at_run_time) {
  g.align_extent(x, n);
  for (const int32_t value : {0, -3}) {
    n.set(value);
    EXPECT_EQ(text_of([&] { g.realize({8, 8}); }),
              "@: error: g: 'g', dimension 0: the modulus n of the alignment of 'x' must be "
              "positive: found " +
                  std::to_string(value) +
                  ", needed 1; change the size of the output, or the schedule");
  }
}

TEST_F(BadSchedule, factors_that_are_too_large_at_run_time) {
  g.split(x, xo, xi, n, TailStrategy::GuardWithIf);
  n.set(0x7fffffff);
  EXPECT_EQ(
      text_of([&] { g.realize({8, 8}); }),
      "@: error: g: 'g', dimension 0: the factor n of the split of 'x' must be at most 1073741824: "
      "found 2147483647, needed 1073741824; change the size of the output, or the schedule");
}

TEST_F(BadSchedule, vectors_and_unrolled_loops_without_a_constant_extent) {
  g.vectorize(x);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot vectorize loop 'x' of 'g': its extent is not a constant\n"
            "  why: the extent is g.extent.0\n"
            "  fix: vectorize(x, N) splits by N first; or bound() 'x' to a constant extent");
  g.serial(x).unroll(y);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot unroll loop 'y' of 'g': its extent is not a constant\n"
            "  why: the extent is g.extent.1\n"
            "  fix: unroll(y, N) splits by N first; or bound() 'y' to a constant extent");
  g.serial(y).vectorize(x, n);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot vectorize loop 'x_v' of 'g': its extent is not a constant\n"
            "  why: the extent is n, the split's factor\n"
            "  fix: split by a constant; specialize() for each of the factors that there are");
}

// Their lists are made in a header.
TEST_F(BadSchedule, lists_of_loops_name_the_line_of_the_call) {
  EXPECT_EQ(text_of([&] { g.reorder(x, y, x); }),
            "@: error: cannot reorder 'g': 'x' is named twice\n"
            "  why: each loop has one place\n"
            "  fix: name it once");
  EXPECT_EQ(text_of([&] { g.reorder_storage(x, y, x); }),
            "@: error: cannot reorder the storage of 'g': 'x' is named twice\n"
            "  why: each dimension has one place\n"
            "  fix: name it once");
  EXPECT_EQ(text_of([&] { g.reorder_storage(x, xo); }),
            "@: error: cannot reorder the storage of 'xo' of 'g'\n"
            "  why: it is no argument of the Func\n"
            "  fix: name one of the arguments");
}

TEST_F(BadSchedule, vectors_and_unrolled_loops_that_are_too_long) {
  g.vectorize(x, 1 << 20);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot vectorize loop 'x_v' of 'g' with its 1048576 iterations\n"
            "  why: the stage's vectors would have 1048576 lanes, and at most 4096 can be compiled "
            "in reasonable time\n"
            "  fix: vectorize(x_v, N) with a small N");
}

TEST_F(BadSchedule, nested_unrolled_loops_that_are_too_long) {
  g.unroll(x, 256).unroll(y, 256);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot unroll loop 'x_u' of 'g' with its 256 iterations\n"
            "  why: the stage's code would stand there 65536 times, and at most 16384 can be "
            "compiled in reasonable time\n"
            "  fix: unroll(x_u, N) with a small N");
}

TEST_F(BadSchedule, levels) {
  f.compute_at(f, x);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot compute 'f' at loop 'x' of 'f': that loop is its own\n"
            "  fix: compute it at one of: root, g.y, g.x");
  f.compute_at(g, y).store_at(g, x);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot store 'f' at loop 'x' of 'g': that loop does not enclose where it is "
            "computed\n"
            "  fix: store it at one of: root, g.y");
  f.compute_at(LoopLevel::inlined()).store_root();
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot store 'f': it is computed inline\n"
            "  why: only a Func with a compute level has storage and productions of its own\n"
            "  fix: add compute_root or compute_at, or drop store_root");
}

TEST_F(BadSchedule, levels_of_several_funcs) {
  Func in("in"), h("h"), out("out");
  in(x, y) = x;
  h(x, y) = in(x, y) + in(x, y + 1);
  out(x, y) = g(x, y) + h(x, y);
  g.compute_root();
  // What stands where h should is not blamed for it.
  f.compute_at(g, xo), h.compute_at(out, xi), in.compute_at(h, xo);
  EXPECT_EQ(text_of([&] { out.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot compute 'h' at loop 'xi' of 'out': there is no such loop\n"
            "  fix: the loops of 'out' are, outermost first: y, x\n"
            "@: error: cannot compute 'f' at loop 'xo' of 'g': there is no such loop\n"
            "  fix: the loops of 'g' are, outermost first: y, x");
}

TEST_F(BadSchedule, extents_of_several_loops) {
  Func out("out");
  out(x, y) = g(x, y) + 1;
  f.compute_root().vectorize(x), g.compute_root().unroll(y);
  EXPECT_EQ(text_of([&] { out.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot unroll loop 'y' of 'g': its extent is not a constant\n"
            "  why: the extent is out.extent.1\n"
            "  fix: unroll(y, N) splits by N first; or bound() 'y' to a constant extent\n"
            "@: error: cannot vectorize loop 'x' of 'f': its extent is not a constant\n"
            "  why: the extent is out.extent.0 + 1\n"
            "  fix: vectorize(x, N) splits by N first; or bound() 'x' to a constant extent");
}

TEST_F(BadSchedule, loops_of_an_inlined_func) {
  f.parallel(y);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot parallelize 'y' of 'f': it is computed inline and has no loops\n"
            "  fix: add compute_root or compute_at to 'f'");
}

TEST_F(BadSchedule, loops_that_are_not_there) {
  EXPECT_EQ(text_of([&] { g.parallel(xo); }),
            "@: error: cannot parallelize 'xo': 'g' has no such loop\n"
            "  fix: its loops are, outermost first: y, x");
}

TEST_F(BadSchedule, devices) {
  g.gpu_tile(x, y, xo, xi, 8, 8);
  EXPECT_EQ(text_of([&] { g.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot gpu_blocks on 'g': a GPU is not available\n"
            "  why: code is made for the processor only\n"
            "  fix: leave the directive out");
  f.compute_root().hexagon();
  EXPECT_EQ(text_of([&] { f.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: cannot hexagon on 'f': Hexagon is not available\n"
            "  why: code is made for the processor only\n"
            "  fix: leave the directive out");
}

TEST_F(BadSchedule, bounds_that_vary) {
  EXPECT_EQ(text_of([&] { g.bound(x, 0, y); }),
            "@: error: the extent of bound() of 'x' of 'g' depends on 'y'\n"
            "  why: it is fixed before the loops run\n"
            "  fix: use a constant or an expression of Params and of images' sizes");
  EXPECT_EQ(text_of([&] { g.bound(x, f(0, 0), 8); }),
            "@: error: the min of bound() of 'x' of 'g' depends on 'f'\n"
            "  why: it is fixed before the loops run\n"
            "  fix: use a constant or an expression of Params and of images' sizes");
  EXPECT_EQ(text_of([&] { g.bound(x, 0, 0); }),
            "@: error: cannot bound 'x' of 'g' to extent 0\n"
            "  why: it counts elements\n"
            "  fix: give an extent of at least 1");
}

TEST_F(BadSchedule, tiles_of_unequal_lists) {
  EXPECT_EQ(text_of([&] { g.tile({x, y}, {xo}, {xi}, {4}); }),
            "@: error: cannot tile 'g': 2 loops, 1 outer and 1 inner names, 1 factors\n"
            "  why: each tiled loop has one of each\n"
            "  fix: give lists of the same length");
  EXPECT_EQ(text_of([&] { g.tile(x, y, xi, xi, 4, 4); }),
            "@: error: cannot split: 'g' already has a loop 'xi'\n"
            "  fix: give the new loop a name other than: y, x, xi");
}

TEST_F(BadSchedule, regions_that_data_chooses) {
  ImageParam index(Int(32), 1, "index");
  Func h("h"), scatter("scatter");
  Func table("table");
  const int declared = __LINE__ - 1;
  table(x) = x;
  table.compute_root();
  h(x) = table(index(x));
  EXPECT_EQ(text_of([&] { h.compile_jit(); }, __builtin_FILE(), declared),
            "@: error: the region of 'table' that is needed in dimension 0 (x) is unbounded\n"
            "  why: an index of a read of 'table' comes from data, and nothing limits its values\n"
            "  fix: clamp the index, as in table(clamp(i, 0, n - 1)), or give 'table' a bound()");
  RDom r(0, 4);
  scatter(x) = 0;
  scatter(index(r)) = 1;
  EXPECT_EQ(text_of([&] { scatter.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: update 0 of 'scatter' touches an unbounded region in dimension 0 (x)\n"
            "  why: the index comes from data, and nothing limits its values\n"
            "  fix: clamp the index, as in scatter(clamp(i, 0, n - 1))");
  Func twice("twice");
  twice(x) = index(index(x));
  EXPECT_EQ(text_of([&] { twice.compile_jit(); }, __builtin_FILE(), __LINE__ - 1),
            "@: error: the region of input 'index' that is needed in dimension 0 is unbounded\n"
            "  why: an index comes from data, and nothing limits its values\n"
            "  fix: clamp the index, as in index(clamp(i, 0, n - 1))");
}

}  // namespace
}  // namespace polyhalite::schedule_test
