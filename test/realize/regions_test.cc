// How much is computed and read: windows that slide, regions that values give.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace {
int calls = 0;
}

extern "C" {

__attribute__((visibility("default"))) int ph_regions_counted(int x) {
  calls++;
  return x;
}

}  // extern "C"

namespace polyhalite::regions_test {
namespace {

Expr counted(const Expr &e) { return extern_call(Int(32), "ph_regions_counted", {e}, {Int(32)}); }

class Regions : public ::testing::Test {
 protected:
  Regions() { calls = 0; }
  // f's values at 0, 1, ... as the formula says, and how often one was computed.
  template <typename Formula>
  int calls_of(Func g, int n, Formula formula) {
    Buffer<int> out = g.realize({n});
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += out(i) != formula(i);
    EXPECT_EQ(wrong, 0);
    return calls;
  }
  Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"};
  Func f{"f"}, g{"g"}, h{"h"};
};

using Sliding = Regions;

TEST_F(Sliding, Down) {
  f(x) = counted(x);
  g(x) = f(50 - x) + f(52 - x);
  f.store_root().compute_at(g, x);
  EXPECT_EQ(calls_of(g, 20, [](int i) { return 102 - 2 * i; }), 22);
}

TEST_F(Sliding, AWindowThatStandsStillIsComputedOnce) {
  f(x) = counted(x);
  g(x) = f(2) + f(5) + x;
  f.store_root().compute_at(g, x);
  EXPECT_EQ(calls_of(g, 30, [](int i) { return 7 + i; }), 4);
}

// For each x anew a loop over r passes over f.
class PassedOver : public Regions {
 protected:
  PassedOver() {
    f(x) = counted(x);
    g(x) = 0;
    g(x) += f(r) * x;
    g.update().reorder(r, x);
    f.store_root().compute_at(g, r);
  }
  int calls_of_sums() {
    return calls_of(g, 30, [](int i) { return 28 * i; });
  }
  RDom r{0, 8, "r"};
};

TEST_F(PassedOver, IsComputedOnce) { EXPECT_EQ(calls_of_sums(), 8); }

TEST_F(PassedOver, NotWhereARingWouldLoseIt) {
  f.fold_storage(x, 2);
  EXPECT_EQ(calls_of_sums(), 8 * 30);
}

TEST_F(PassedOver, IsComputedOnceForEachRow) {
  Func rows("rows"), sums("sums");
  rows(x, y) = counted(x + y);
  sums(x, y) = 0;
  sums(x, y) += rows(r, y) * x;
  sums.update().reorder(r, x, y);
  rows.store_root().compute_at(sums, r);
  Buffer<int> out = sums.realize({5, 6});
  for (int j = 0; j < 6; j++) {
    for (int i = 0; i < 5; i++) EXPECT_EQ(out(i, j), (28 + 8 * j) * i);
  }
  EXPECT_EQ(calls, 8 * 6);
}

TEST_F(Sliding, ToANewCellEveryThirdIteration) {
  f(x) = counted(x);
  g(x) = f(x / 3);
  f.store_root().compute_at(g, x);
  EXPECT_EQ(calls_of(g, 30, [](int i) { return i / 3; }), 10);
}

TEST_F(Sliding, OfAFuncWithUpdates) {
  RDom r(0, 4, "r");
  f(x, y) = 0;
  f(r, y) = counted(r + y);
  g(x, y) = f(x, y) + f(x, y + 1);
  f.store_root().compute_at(g, y);
  Buffer<int> out = g.realize({4, 9});
  EXPECT_EQ(out(3, 8), 3 + 8 + 3 + 9);
  EXPECT_EQ(calls, 4 * 10);
}

TEST_F(Sliding, NotOfUpdatesThatReachOtherRows) {
  f(x, y) = counted(y);
  f(x, x) += 1;
  g(x, y) = f(x, y) + f(x, y + 1);
  f.store_root().compute_at(g, y);
  Buffer<int> out = g.realize({2, 5});
  for (int j = 0; j < 5; j++) {
    for (int i = 0; i < 2; i++) EXPECT_EQ(out(i, j), 2 * j + 1 + (i == j) + (i == j + 1));
  }
  EXPECT_GT(calls, 2 * 6);
}

// The update reaches rows 0 and 1, and the one after it need not run over them.
TEST_F(Sliding, UpdatesRunOverTheWindow) {
  f(x, y) = x;
  f(x, x) += f(x, 0) + f(x, 1);
  f(x, y) = counted(f(x, y));
  g(x, y) = f(x, y) + f(x, y - 1);
  f.store_root().compute_at(g, y);
  Buffer<int> out = g.realize({3, 12});
  auto value = [](int i, int j) { return i == j ? 3 * i : i; };
  for (int j = 0; j < 12; j++) {
    for (int i = 0; i < 3; i++) EXPECT_EQ(out(i, j), value(i, j) + value(i, j - 1));
  }
  EXPECT_EQ(calls, 3 * 2 * 12);
}

TEST_F(Sliding, InTilesOfTheProducer) {
  f(x) = counted(x);
  g(x) = f(x) + f(x + 2);
  g.split(x, xo, xi, 8, TailStrategy::GuardWithIf);
  f.store_root().compute_at(g, xo).vectorize(x, 4);
  // 10 in the first iteration, in three vectors; then 8 at a time.
  EXPECT_EQ(calls_of(g, 32, [](int i) { return 2 * i + 2; }), 12 + 3 * 8);
}

TEST_F(Sliding, UnrolledProducer) {
  f(x) = counted(x) + x * x;
  g(x) = f(x) + f(x - 1);
  g.split(x, xo, xi, 10);
  f.store_root().compute_at(g, xo).unroll(x);
  EXPECT_EQ(calls_of(g, 100, [](int i) { return i + i * i + i - 1 + (i - 1) * (i - 1); }), 101);
}

// A loop that runs once is no loop.
TEST_F(Sliding, ThroughAStageBetween) {
  f(x) = counted(x);
  g(x) = f(x) + f(x - 1);
  h(x) = g(x);
  f.store_root().compute_at(g, x);
  g.compute_at(h, x);
  EXPECT_EQ(calls_of(h, 40, [](int i) { return 2 * i - 1; }), 41);
}

TEST_F(Sliding, OverAnEdge) {
  f(x) = counted(x);
  g(x) = f(clamp(x, 0, 9));
  h(x) = g(x - 1) + g(x + 1);
  f.store_root().compute_at(h, x);
  g.store_root().compute_at(h, x);
  EXPECT_EQ(calls_of(h, 10, [](int i) { return std::max(i - 1, 0) + std::min(i + 1, 9); }), 10);
}

// Each side of the select is computed where it is used.
TEST_F(Regions, PartsOfAConcatenation) {
  f(x) = counted(x + 1);
  g(x) = counted(x + 2);
  h(x) = select(x < 30, f(x), g(x));
  f.compute_root();
  g.compute_root();
  EXPECT_EQ(calls_of(h, 80, [](int i) { return i < 30 ? i + 1 : i + 2; }), 80);
}

// Whole tiles of g and of h read f and g beyond what is used of them, and nobody computes that.
TEST_F(Regions, WholeTilesAskForNoMore) {
  Func out("out");
  f(x) = counted(x);
  g(x) = f(x) + f(x + 1);
  h(x) = g(x - 1) + g(x + 1);
  out(x) = h(x) + h(x + 2);
  f.compute_root();
  g.compute_root().vectorize(x, 16, TailStrategy::RoundUp);
  h.compute_root().vectorize(x, 8, TailStrategy::RoundUp);
  auto two = [](int i) { return 2 * i + 1; };
  auto four = [&](int i) { return two(i - 1) + two(i + 1); };
  EXPECT_EQ(calls_of(out, 21, [&](int i) { return four(i) + four(i + 2); }), 21 + 2 + 2 + 1);
}

// Only the stage that reads an input asks for whole tiles of it.
TEST_F(Regions, InputsAreReadInTheTilesOfTheirReadersOnly) {
  ImageParam in(Int(32), 1, "in");
  f(x) = in(x) + 1;
  g(x) = f(x) + f(x + 1);
  h(x) = g(x);
  f.compute_root();
  g.compute_root().vectorize(x, 16, TailStrategy::RoundUp);
  h.infer_input_bounds({20});
  EXPECT_EQ(in.get().width(), 21);
  Func k("k");
  k(x) = in(x) * 2;
  h = Func("h2");
  h(x) = k(x);
  k.compute_root().vectorize(x, 16, TailStrategy::RoundUp);
  in.reset();
  h.infer_input_bounds({20});
  EXPECT_EQ(in.get().width(), 32);
}

// An update runs over the cells that later ones read.
TEST_F(Regions, UpdatesRunOverWhatIsNeeded) {
  f(x, y) = 0;
  f(x, x) = counted(x);
  for (int i = 0; i < 3; i++) {
    f(x, x + 1) = f(x, x);
    f(x, x - 1) = f(x, x);
    f(y, y) = f(y, y) + counted(f(y - 1, y)) * f(y + 1, y);
  }
  g(x) = f(x, x);
  f.compute_root();
  // Far from the cell that is wanted, larger numbers would overflow.
  auto value = [](int i) {
    int cells[16];
    for (int k = 0; k < 16; k++) cells[k] = k + i - 8;
    for (int step = 0; step < 3; step++) {
      int next[16] = {};
      for (int k = 1; k < 15; k++) next[k] = cells[k] + cells[k - 1] * cells[k + 1];
      std::copy(next, next + 16, cells);
    }
    return cells[8];
  };
  EXPECT_EQ(calls_of(g, 5, value), (5 + 6) + 5 + (5 + 2) + (5 + 4));
}

// A sum with 0 is no sum.
TEST_F(Regions, StoresThatChangeNothingAreNotMade) {
  f(x) = 7;
  f(x) += select(x > 3 && x < 9, counted(x), 0);
  g(x) = x;
  g.compute_root();
  h(x) = 1;
  h(x) = select(x % 4 != 2, h(x), counted(g(x)));
  EXPECT_EQ(calls_of(f, 20, [](int i) { return 7 + (i > 3 && i < 9 ? i : 0); }), 20);
  calls = 0;
  EXPECT_EQ(calls_of(h, 20, [](int i) { return i % 4 != 2 ? 1 : i; }), 5);
}

// Where a value is an index, it leads nowhere else.
TEST_F(Regions, IndicesAreComputedEverywhere) {
  f(x) = counted(clamp(x, 0, 20));
  g(x) = x * x;
  h(x) = select(x < 5 && x > 1, g(clamp(f(x), 0, 20)), f(x - 1));
  f.compute_root();
  g.compute_root();
  EXPECT_EQ(calls_of(h, 12, [](int i) { return i < 5 && i > 1 ? i * i : std::max(i - 1, 0); }), 13);
}

using Values = Regions;

TEST_F(Values, ConstraintsOnBuffersAreConstants) {
  ImageParam in(Int(32), 1, "in");
  in.dim(0).set_extent(16);
  f(x) = x * 3;
  g(x) = f(x % in.dim(0).extent()) + in(0);
  f.compute_root().store_in(MemoryType::Stack);
  Buffer<int> b(16);
  b.fill(1);
  in.set(b);
  Buffer<int> out = g.realize({20});
  EXPECT_EQ(out(19), 10);
}

TEST_F(Values, ABranchKnowsTheExtentsItAsksFor) {
  f(x, y) = x + y;
  g(x, y) = f(x, y);
  f.compute_root().specialize(g.output_buffer().dim(1).extent() == 3).unroll(y);
  Buffer<int> out = g.realize({5, 3});
  EXPECT_EQ(out(4, 2), 6);
  Buffer<int> more = g.realize({5, 4});
  EXPECT_EQ(more(4, 3), 7);
}

TEST_F(Values, WhatABranchReadsCountsWhereItRuns) {
  ImageParam in(Int(32), 2, "in");
  f(x, y) = in(x, y) * 2;
  g(x, y) = f(x, y) + in(x, y);
  const OutputImageParam shape = g.output_buffer();
  g.specialize(shape.dim(1).min() == 0 && shape.dim(1).extent() == 4).unroll(y);
  f.compute_at(g, x);
  for (int rows : {3, 4, 6}) {
    Buffer<int> image(5, rows);
    image.fill([](int i, int j) { return i + 10 * j; });
    in.set(image);
    Buffer<int> out = g.realize({5, rows});
    EXPECT_EQ(out(4, rows - 1), 3 * (4 + 10 * (rows - 1)));
  }
}

// The message of the error that f throws, without its place.
template <typename F>
std::string refusal_of(F &&f) {
  const std::string text = message_of(f);
  const size_t at = text.find("error: ");
  return at == std::string::npos ? text : text.substr(at);
}

std::string beyond(const std::string &accessed, int dimension, const std::string &held) {
  return "error: g: buffer 'in' is accessed at " + accessed + " in dimension " +
         std::to_string(dimension) + ", but has only " + held +
         "; pass a larger buffer, compute less of the output, or give the access a boundary "
         "condition";
}

// Each call reads where its branch does, and is refused by that alone.
TEST_F(Values, WhatIsReadBesideABranchCountsWhereNoneIsTaken) {
  ImageParam in(Int(32), 1, "in");
  Param<int> p("p");
  g(x) = select(p == 1, in(x), p == 2, in(x - 8), in(x + 8));
  g.specialize(p == 1).specialize(g.output_buffer().dim(0).extent() == 16).unroll(x, 4);
  g.specialize(p == 2);
  auto with = [&](int choice, int first) {
    Buffer<int> image(16);
    image.set_min(first);
    image.fill([](int i) { return 10 * i; });
    in.set(image);
    p.set(choice);
    Buffer<int> out = g.realize({16});
    return out(5);
  };
  EXPECT_EQ(with(1, 0), 50);
  EXPECT_EQ(with(2, -8), -30);
  EXPECT_EQ(with(3, 8), 130);
  EXPECT_EQ(refusal_of([&] { with(1, 8); }), beyond("0 to 15", 0, "8 to 23"));
  EXPECT_EQ(refusal_of([&] { with(2, 0); }), beyond("-8 to 7", 0, "0 to 15"));
  EXPECT_EQ(refusal_of([&] { with(3, 0); }), beyond("8 to 23", 0, "0 to 15"));
  in.reset();
  p.set(2);
  g.infer_input_bounds({16});
  EXPECT_EQ(in.get().dim(0).min(), -8);
  EXPECT_EQ(in.get().dim(0).extent(), 16);
}

TEST_F(Values, WhatProducersInBranchesReadCountsWhereTheyRun) {
  ImageParam in(Int(32), 1, "in");
  Param<int> step("step");
  f(x) = in(x);
  g(x) = f(x / step) + in(x / step);
  g.split(x, xo, xi, 16);
  // Whole tiles: up to 15 cells more, where it is not known that the step is 1.
  f.compute_at(g, xo).split(x, xo, xi, 16, TailStrategy::RoundUp).vectorize(xi);
  g.specialize(step == 1);
  Buffer<int> image(32);
  image.fill([](int i) { return i; });
  in.set(image);
  step.set(1);
  Buffer<int> out = g.realize({32});
  for (int i = 0; i < 32; i++) EXPECT_EQ(out(i), 2 * i);
}

// The rest is empty where the branch is taken: its vectors read nothing beyond.
TEST_F(Values, AReductionWithoutPointsReadsNothing) {
  ImageParam in(Int(32), 2, "in");
  const Expr size = in.dim(0).extent(), vectors = size / 4;
  RDom r(0, vectors, "r"), rest(vectors * 4, size - vectors * 4, "rest");
  h(y) += in(r * 4, y);
  f(y) = h(y);
  f(y) += in(rest, y);
  g(y) = f(y);
  g.vectorize(y, 2);
  g.specialize((size / 4) * 4 == size);
  h.compute_at(g, y);
  f.compute_at(g, y).vectorize(y, 8);
  f.update().reorder(y, rest).vectorize(y, 8);
  auto with = [&](int width) {
    Buffer<int> image(width, 6);
    image.fill([](int i, int j) { return i + 100 * j; });
    in.set(image);
    Buffer<int> out = g.realize({6});
    return out(5);
  };
  EXPECT_EQ(with(8), 1004);
  EXPECT_EQ(refusal_of([&] { with(9); }), beyond("-6 to 5", 1, "0 to 5"));
}

// As many cells as are said hold those that consumers read and those that updates touch.
TEST_F(Values, AnExtentIsThatOfAllThatUpdatesTouch) {
  Param<int> steps("steps");
  RDom r(0, steps, "r");
  f(x, y) = undef<int>();
  f(x, -1) = x * 3;
  f(x, 0) = 1;
  f(x, r + 1) = f(x, r) + f(x, -1);
  g(x) = f(x, steps);
  g.vectorize(x, 4, TailStrategy::GuardWithIf);
  f.bound_extent(y, 16).store_in(MemoryType::Register);
  for (int s = 1; s < 4; s++) f.update(s - 1).unscheduled();
  for (int n : {0, 5, 14}) {
    steps.set(n);
    Buffer<int> out = g.realize({10});
    for (int i = 0; i < 10; i++) EXPECT_EQ(out(i), 1 + 3 * i * n);
  }
  steps.set(15);
  EXPECT_EQ(refusal_of([&] { g.realize({10}); }),
            "error: Bounds given for f in y (from -1 to 14) do not cover required region (from -1 "
            "to 15); give larger ones, or change the size of the output");
}

// The loops between run as far as floats say.
TEST_F(Regions, GivenBoundsHoldWhatLoopsByValuesReach) {
  Func between("between");
  f(x) = x * 3;
  between(x, y) = f(y);
  g(x, y) = between(0, cast<int>(cast<float>(y))) + between(0, 0);
  between.compute_at(g, y);
  f.compute_root().bound(x, 0, 17);
  Buffer<int> out = g.realize({1, 17});
  for (int i = 0; i < 17; i++) EXPECT_EQ(out(0, i), 3 * i);
  EXPECT_EQ(refusal_of([&] { g.realize({1, 18}); }),
            "error: Bounds given for f in x (from 0 to 16) do not cover required region (from 0 "
            "to 17); give larger ones, or change the size of the output");
}

// Values are made of nothing that differs between instances that meet in a cell.
TEST_F(Regions, ScattersOfOneValueRunInAnyOrder) {
  RDom r(0, 30, "r");
  RVar ro("ro"), ri("ri");
  f(x) = x * x;
  g(x, y) = 0;
  g(f(r) % 10, y) = f(y);
  g.update().split(r, ro, ri, 8).reorder(ro, y, ri).atomic().parallel(ri).parallel(y);
  Buffer<int> out = g.realize({10, 6});
  const bool square[] = {true, true, false, false, true, true, true, false, false, true};
  for (int j = 0; j < 6; j++) {
    for (int i = 0; i < 10; i++) EXPECT_EQ(out(i, j), square[i] ? j * j : 0);
  }
}

// All iterations meet in one cell, which none of them names first.
TEST_F(Regions, ScattersLockAllOfTheirCells) {
  constexpr int kCount = 400000, kCells = 64;
  RDom r(0, kCount, "r");
  const Expr own = r % kCells;
  f(x) = 0;
  f(scatter(own, Expr(kCells))) = gather(f(own) + 1, f(kCells) + 1);
  f.update().atomic(true).parallel(r);
  Buffer<int> out = f.realize({kCells + 1});
  for (int i = 0; i < kCells; i++) EXPECT_EQ(out(i), kCount / kCells) << i;
  EXPECT_EQ(out(kCells), kCount);
}

TEST_F(Regions, PromisesAreReported) {
  RDom r(0, 30, "r");
  f(x) = 0;
  f(r % 4) = r;
  f.update().allow_race_conditions().parallel(r);
  ::testing::internal::CaptureStderr();
  f.print_loop_nest();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("promised: (e) parallel loop 'r' of update 0 of 'f': allow_race_conditions"),
            std::string::npos)
      << text;
}

// Of a reduction's blocks the last may be shorter, and none is larger than the factor.
TEST_F(Regions, BlocksOfReductionsKeepTheirExtent) {
  const int n = 11;
  Param<int> size("size");
  RDom r(0, size, "r");
  RVar ro("ro"), ri("ri");
  f(x, y) = x + 10 * y;
  g(x, y) = 0;
  g(x, y) += f(r, y) * x;
  g.update().split(r, ro, ri, 4).reorder(ri, x, y, ro);
  f.compute_at(g, ro).bound_extent(x, 4).vectorize(x);
  size.set(n);
  Buffer<int> out = g.realize({3, 2});
  for (int j = 0; j < 2; j++) {
    for (int i = 0; i < 3; i++) EXPECT_EQ(out(i, j), i * (n * (n - 1) / 2 + n * 10 * j));
  }
}

// A condition narrows what is read, however few values its variable has.
TEST(RegionsOfReductions, ConditionsOfFewIterations) {
  for (int n = 2; n <= 10; n++) {
    Buffer<int> in(n);
    in.fill(1);
    Var x("x");
    RDom r(1, n, "r"), q(0, n, "q");
    r.where(r < n);
    q.where(q >= 1);
    Func f("f"), g("g"), out("out");
    f(x) = in(x);
    f(r) += f(r - 1);
    g(x) = in(x);
    g(q) += g(q - 1);
    out(x) = f(x) + g(x);
    f.compute_root();
    g.compute_root();
    const Buffer<int> sums = out.realize({n});
    for (int i = 0; i < n; i++) EXPECT_EQ(sums(i), 2 * (i + 1)) << n;
  }
}

}  // namespace
}  // namespace polyhalite::regions_test
