// Tuples whose values take turns in time, each step writing one of them from the other, tiled in
// time: compiled, run, and held against plain loops and against the interpreter.
#include <gtest/gtest.h>

#include <array>

#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"
#include "test/realize/repeated_stencil.h"

namespace polyhalite::tuple_time_test {
namespace {

// Two planes; a step of odd number computes the first one, others the second one.
class PingPong : public RepeatedStencil<int32_t> {
 protected:
  Func u{"u"};

  PingPong() {
    u(x, y) = Tuple(cast<int32_t>(x * 7 + y * 131 + x * y), cast<int32_t>(x - y));
    auto around = [&](int v) {
      return u(j - 1, i)[v] + u(j + 1, i)[v] * 3 + u(j, i - 1)[v] * 5 + u(j, i + 1)[v] * 7 +
             u(j, i)[v];
    };
    const Expr odd = t % 2 == 1;
    u(j, i) = Tuple(select(odd, around(1) / 16 + t, u(j, i)[0]),
                    select(odd, u(j, i)[1], around(0) / 16 + t));
  }

  Values computed(int width, int height) override {
    const Realization out = u.realize({width, height});
    Values values;
    for (size_t v = 0; v < 2; v++) append(values, out[v]);
    return values;
  }

  Values expected(int n, int m, int steps) const override {
    std::array<Values, 2> planes;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        planes[0].push_back(j * 7 + i * 131 + j * i);
        planes[1].push_back(j - i);
      }
    }
    for (int t = 0; t < steps; t++) {
      const Values &from = planes[t % 2];
      Values &to = planes[1 - t % 2];
      for (int i = 1; i < m - 1; i++) {
        for (int j = 1; j < n - 1; j++) {
          const int32_t *at = &from[static_cast<size_t>(i * n + j)];
          const int32_t sum = at[-1] + at[1] * 3 + at[-n] * 5 + at[n] * 7 + at[0];
          to[static_cast<size_t>(i * n + j)] = (sum >> 4) + t;
        }
      }
    }
    planes[0].insert(planes[0].end(), planes[1].begin(), planes[1].end());
    return planes[0];
  }
};

TEST_F(PingPong, AsItStands) { expect_right(); }

TEST_F(PingPong, VectorsAndThreads) {
  u.update(0).split(j, jo, ji, 8).vectorize(ji).parallel(i);
  expect_right();
}

TEST_F(PingPong, TiledInTime) {
  tile_in_time(u);
  expect_right();
}

TEST_F(PingPong, TiledInTimeWithVectors) {
  tile_in_time(u).split(j, jo, ji, 8).vectorize(ji);
  expect_right();
}

TEST_F(PingPong, WavefrontsOfTiles) {
  tile_in_waves(u);
  expect_right();
}

TEST_F(PingPong, AsTheInterpreterHasIt) {
  tile_in_time(u);
  n.set(13);
  m.set(11);
  steps.set(5);
  Realization compiled = u.realize({13, 11});
  Buffer<int32_t> first(13, 11), second(13, 11);
  interpret(freeze({u.function()}).algorithm, {}, {}, {first.raw_buffer(), second.raw_buffer()});
  const Buffer<int32_t> one = compiled[0], two = compiled[1];
  first.for_each_element([&](int a, int b) {
    EXPECT_EQ(one(a, b), first(a, b)) << a << ", " << b;
    EXPECT_EQ(two(a, b), second(a, b)) << a << ", " << b;
  });
}

TEST_F(PingPong, NeedsTheSkew) {
  const int line = __LINE__ + 1;
  u.update(0).split(t, to, ti, 4).split(i, io, ii, 8).reorder(j, ii, ti, io, to);
  EXPECT_EQ(
      message_of([&] { u.compile_jit(); }),
      at(line) +
          "error: cannot reorder 'ti' inside 'io' on update 0 of 'u'\n"
          "  why: u at (r_z=2, r_y=8, r_x=1) reads what (r_z=1, r_y=9, r_x=1) writes; with io "
          "outside, (1,9,1) would run after (2,8,1) (with steps=3, m=11, n=3)\n"
          "  fix: keep ti outside io, or skew io by ti first");
}

}  // namespace
}  // namespace polyhalite::tuple_time_test
