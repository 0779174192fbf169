// Funcs in the memory of what they read, compiled and run; and loops in orders that overwrite what
// is still read, refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::in_place_test {
namespace {

class InPlace : public testing::Test {
 protected:
  Var x{"x"}, y{"y"}, xi{"xi"};
  Func f{"f"}, g{"g"}, h{"h"};

  InPlace() {
    f(x, y) = x * 3 + y;
    g(x, y) = f(x, y) + f(x + 1, y);
    h(x, y) = g(x, y) + g(x, y + 1);
  }
  void expect_right(int width, int height) {
    const Buffer<int> out = h.realize({width, height});
    for (int b = 0; b < height; b++) {
      for (int a = 0; a < width; a++) {
        auto sum = [](int i, int j) { return i * 3 + j + (i + 1) * 3 + j; };
        ASSERT_EQ(out(a, b), sum(a, b) + sum(a, b + 1)) << a << ", " << b;
      }
    }
  }
};

TEST_F(InPlace, AtTheRoot) {
  f.compute_root();
  g.compute_root().in_place(f);
  expect_right(37, 11);
}

TEST_F(InPlace, RowsAtOnce) {
  f.compute_root().vectorize(x, 8);
  g.compute_root().in_place(f).parallel(y).split(x, x, xi, 4);
  expect_right(37, 11);
}

TEST_F(InPlace, PerRowOfTheConsumer) {
  g.compute_at(h, y).in_place(f);
  f.vectorize(x, 4);
  h.parallel(y);
  expect_right(37, 11);
}

TEST_F(InPlace, OverwrittenBeforeItIsRead) {
  f.compute_root();
  const int line = __LINE__ + 1;
  g.compute_root().in_place(f).reverse(x);
  EXPECT_EQ(message_of([&] { h.compile_jit(); }),
            at(line) +
                "error: cannot compute 'g' in the memory of 'f'\n"
                "  why: g at (y=0, x=0) reads f(1, 0), where (y=0, x=1) has put a value of its own "
                "(with h.extent.0=2)\n"
                "  fix: run its loops in another order, or drop in_place");
}

TEST_F(InPlace, OthersStillRead) {
  h(x, y) += f(x, y);
  f.compute_root();
  const int line = __LINE__ + 1;
  g.compute_root().in_place(f);
  EXPECT_EQ(message_of([&] { h.compile_jit(); }),
            at(line) +
                "error: cannot compute 'g' in place of 'f'\n"
                "  why: update 0 of 'h' reads 'f' too\n"
                "  fix: let 'h' read a copy, f.clone_in(h), or drop in_place");
}

// An output in the memory of sums that only it needs.
TEST_F(InPlace, AnOutput) {
  ImageParam in(Int(32), 2, "in");
  RDom r(0, 9, "r");
  Func sums("sums"), out("out");
  sums(y) += in(r, y);
  out(y) = sums(y) * 2 + 1;
  out.in_place(sums).vectorize(y, 8, TailStrategy::GuardWithIf);
  Buffer<int> data(9, 21);
  data.for_each_element([&](int i, int j) { data(i, j) = i * j; });
  in.set(data);
  const Buffer<int> result = out.realize({21});
  for (int j = 0; j < 21; j++) ASSERT_EQ(result(j), 36 * j * 2 + 1);
}

// One buffer for an input and an output, or two.
TEST_F(InPlace, AnInput) {
  ImageParam in(Int(32), 2, "in");
  Func out("out");
  out(x, y) = in(x, y) + in(x, min(y + 1, 7));
  out.in_place(in.in(out)).bound(y, 0, 8);
  for (const bool one : {false, true}) {
    Buffer<int> data(5, 8), other(5, 8);
    data.for_each_element([&](int i, int j) { data(i, j) = i * 10 + j; });
    in.set(data);
    Buffer<int> &result = one ? data : other;
    out.realize(result);
    for (int j = 0; j < 8; j++) {
      for (int i = 0; i < 5; i++) {
        ASSERT_EQ(result(i, j), 2 * i * 10 + j + std::min(j + 1, 7)) << one << i << j;
      }
    }
  }
}

}  // namespace
}  // namespace polyhalite::in_place_test
