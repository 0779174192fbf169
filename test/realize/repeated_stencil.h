// A stencil on planes, repeated step by step: its loops, the words that tile them in time, and its
// values against those of plain loops.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite {

template <typename T>
class RepeatedStencil : public testing::Test {
 protected:
  /// Planes one behind the other, each row by row.
  using Values = std::vector<T>;

  /// What the compiled code computes for the sizes that are set.
  virtual Values computed(int width, int height) = 0;
  /// What plain loops compute.
  virtual Values expected(int n, int m, int steps) const = 0;

  /// for t { for i { S } }  ->  for to { for io { for ti { for ii { S } } } }, where rows of the
  /// points around are read: i is skewed by t.
  Stage tile_in_time(Func &f) {
    return f.update(0)
        .skew(i, t, 1)
        .split(t, to, ti, 4)
        .split(i, io, ii, 8)
        .reorder(j, ii, ti, io, to);
  }

  /// The tiles in waves, those of one at once.
  Stage tile_in_waves(Func &f) {
    return tile_in_time(f).skew(io, to, wave, 1).reorder(to, wave).parallel(to);
  }

  void expect_right() {
    for (const auto &[width, height, times] : std::vector<std::array<int, 3>>{
             {3, 3, 1}, {4, 9, 2}, {17, 5, 3}, {40, 37, 13}, {64, 33, 8}}) {
      n.set(width);
      m.set(height);
      steps.set(times);
      const Values found = computed(width, height), right = expected(width, height, times);
      ASSERT_EQ(found.size(), right.size());
      int wrong = 0;
      for (size_t k = 0; k < right.size(); k++) wrong += found[k] != right[k];
      EXPECT_EQ(wrong, 0) << width << " x " << height << ", " << times << " times";
    }
  }

  static void append(Values &values, const Buffer<T> &b) {
    values.insert(values.end(), b.data(), b.data() + b.number_of_elements());
  }

  Var x{"x"}, y{"y"};
  RVar to{"to"}, ti{"ti"}, io{"io"}, ii{"ii"}, jo{"jo"}, ji{"ji"}, wave{"wave"};
  Param<int> n{"n"}, m{"m"}, steps{"steps"};
  RDom r{1, n - 2, 1, m - 2, 0, steps, "r"};
  RVar j{r.x}, i{r.y}, t{r.z};
};

}  // namespace polyhalite
