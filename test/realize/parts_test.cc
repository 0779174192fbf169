// fission and scan, called on Funcs, judged, compiled and run.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::parts_test {
namespace {

class Fission : public testing::Test {
 protected:
  Var x{"x"}, y{"y"};
  RVar part{"part"}, ro{"ro"}, ri{"ri"};
  Func f{"f"};

  // Sums and least values of rows.
  Buffer<int32_t> in{32, 16};
  Fission() {
    in.for_each_element([&](int i, int j) { in(i, j) = (i * 37 + j * 101) % 59 - 20; });
  }
  void define() {
    RDom r(0, 32, "r");
    f(y) = Tuple(0, 1000);
    f(y) = Tuple(f(y)[0] + in(r, y), min(f(y)[1], in(r, y)));
  }
  void expect_right() {
    Realization out = f.realize({16});
    Buffer<int32_t> sum = out[0], least = out[1];
    for (int j = 0; j < 16; j++) {
      int s = 0, l = 1000;
      for (int i = 0; i < 32; i++) {
        s += in(i, j);
        l = std::min(l, in(i, j));
      }
      EXPECT_EQ(sum(j), s);
      EXPECT_EQ(least(j), l);
    }
  }
};

TEST_F(Fission, NestsOfTheirOwn) {
  define();
  Stage s = f.update(0).fission(part);
  EXPECT_EQ(s.dump_argument_list(), "Vars: r y part\n");
  expect_right();
}

TEST_F(Fission, InsideOfALoopAndAtOnce) {
  define();
  f.update(0).fission(y, part).parallel(part);
  EXPECT_EQ(f.update(0).dump_argument_list(), "Vars: r part y\n");
  expect_right();
}

TEST_F(Fission, WithVectorsInside) {
  define();
  Var yi("yi");
  f.update(0).split(y, y, yi, 8).reorder(yi, f.rvars()[0], y).vectorize(yi).fission(y, part);
  expect_right();
}

// Each step of one value needs the step before of the other.
TEST_F(Fission, NotAcrossWhatTheStepsNeedOfEachOther) {
  RDom r(1, 15, "r");
  f(x) = Tuple(in(x, 0), in(x, 1));
  f(r) = Tuple(f(r - 1)[1] + in(r, 2), f(r - 1)[0] - in(r, 3));
  Realization whole = f.realize({16});
  const int line = __LINE__ + 1;
  f.update(0).fission(part);
  EXPECT_EQ(message_of([&] { f.compile_jit(); }),
            at(line) +
                "error: cannot reorder 'r' inside 'part' on update 0 of 'f'\n"
                "  why: f at (r=2, part=0) reads what (r=1, part=1) writes; with part outside, "
                "(1,1) would run after (2,0)\n"
                "  fix: keep r outside part, or skew part by r first");
}

TEST_F(Fission, InsideOfTheLoopThatCarries) {
  RDom r(1, 15, "r");
  f(x) = Tuple(in(x, 0), in(x, 1));
  f(r) = Tuple(f(r - 1)[1] + in(r, 2), f(r - 1)[0] - in(r, 3));
  Realization whole = f.realize({16});
  f.update(0).fission(r, part);
  Realization parts = f.realize({16});
  for (int v = 0; v < 2; v++) {
    const Buffer<int32_t> a = whole[v], b = parts[v];
    a.for_each_element([&](int i) { EXPECT_EQ(a(i), b(i)) << v << ", " << i; });
  }
}

TEST_F(Fission, RefusedAtTheCall) {
  define();
  EXPECT_EQ(message_of([&] { f.update(0).fission(f.rvars()[0]); }),
            at(__LINE__ - 1) +
                "error: cannot fission: update 0 of 'f' already has a loop 'r'\n"
                "  fix: give the new loop a name other than: y, r");
  EXPECT_EQ(message_of([&] { f.update(0).fission(ro, part); }),
            at(__LINE__ - 1) +
                "error: cannot fission 'ro': update 0 of 'f' has no such loop\n"
                "  fix: its loops are, outermost first: y, r");
  Func one("one");
  one(x) = x;
  one(x) += 1;
  EXPECT_EQ(message_of([&] { one.update(0).fission(part); }),
            at(__LINE__ - 1) +
                "error: cannot fission update 0 of 'one': its values are computed together\n"
                "  why: it has one value\n"
                "  fix: leave them together, or read what they need through another Func");
  // What was refused leaves nothing behind.
  expect_right();
}

class Scan : public testing::Test {
 protected:
  Var x{"x"}, u{"u"};
  RVar ro{"ro"}, ri{"ri"};
  Func f{"f"};
  Param<int> n{"n"};
};

TEST_F(Scan, BlocksAtOnce) {
  RDom r(1, n - 1, "r");
  f(x) = x % 7;
  f(r) = f(r - 1) + f(r);
  Func blocks = f.update(0).split(r, ro, ri, 16).scan(ro, u);
  blocks.compute_root();
  blocks.update(0).parallel(u);
  f.update(0).parallel(ro);
  for (const int size : {1, 2, 16, 17, 18, 33, 100}) {
    n.set(size);
    Buffer<int32_t> out = f.realize({size});
    int sum = 0;
    for (int i = 0; i < size; i++) {
      sum += i % 7;
      ASSERT_EQ(out(i), sum) << size << ", " << i;
    }
  }
}

TEST_F(Scan, ALinearRecurrenceOfRows) {
  Var y("y");
  RDom r(1, 63, "r");
  ImageParam in(Float(32), 2, "in");
  f(x, y) = in(x, y);
  f(r, y) = 0.5f * f(r - 1, y) + in(r, y);
  Func blocks = f.update(0).split(r, ro, ri, 8).scan(ro, u);
  EXPECT_EQ(blocks.types().size(), 2u);
  blocks.compute_root();
  f.update(0).reorder(ri, y, ro).parallel(ro);
  Buffer<float> numbers(64, 5);
  numbers.for_each_element([&](int i, int j) { numbers(i, j) = (i * 29 + j * 7) % 31 - 15; });
  in.set(numbers);
  Buffer<float> out = f.realize({64, 5});
  for (int j = 0; j < 5; j++) {
    float value = numbers(0, j);
    for (int i = 1; i < 64; i++) {
      value = 0.5f * value + numbers(i, j);
      ASSERT_NEAR(out(i, j), value, 1e-4f) << i << ", " << j;
    }
  }
}

TEST_F(Scan, WithoutTheDirectiveBlocksNeedEachOther) {
  RDom r(1, 99, "r");
  f(x) = x % 7;
  f(r) = f(r - 1) + f(r);
  const int line = __LINE__ + 1;
  f.update(0).split(r, ro, ri, 16).parallel(ro);
  EXPECT_EQ(message_of([&] { f.compile_jit(); }),
            at(line) +
                "error: cannot run loop 'ro' of update 0 of 'f' in parallel\n"
                "  why: f at (r=17) reads f(16), which (r=16) writes\n"
                "  fix: keep 'ro' serial");
}

TEST_F(Scan, RefusedAtTheCall) {
  RDom r(1, 99, "r");
  f(x) = x % 7;
  f(r) = f(r - 1) * f(r - 1) + f(r);
  const std::string squared = message_of([&] { f.update(0).split(r, ro, ri, 16).scan(ro, u); });
  EXPECT_EQ(
      squared,
      at(__LINE__ - 3) +
          "error: cannot scan update 0 of 'f' in blocks\n"
          "  why: a op b = a*a + b is not associative: (1 op 1) op 0 is 4, 1 op (1 op 0) is 2\n"
          "  fix: leave the loop whole");
  Func g("g");
  g(x) = x % 7;
  g(r) = g(r - 1) + g(r);
  EXPECT_EQ(message_of([&] { g.update(0).scan(r, u); }),
            at(__LINE__ - 1) +
                "error: cannot scan update 0 of 'g' in blocks\n"
                "  why: 'r' is not the outer part of a split of 'r'\n"
                "  fix: split it first, and name its outer part");
}

}  // namespace
}  // namespace polyhalite::parts_test
