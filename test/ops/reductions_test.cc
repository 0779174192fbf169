// Reductions along several axes of planar and of channels-innermost tensors, positions of extrema,
// running sums and the k largest, with the library's schedules against plain loops.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace polyhalite::reductions_test {
namespace {

using Shape = std::vector<int>;  // outermost first

int size_of(const Shape &s) {
  return std::accumulate(s.begin(), s.end(), 1, [](int a, int b) { return a * b; });
}

// Whole numbers, of which few differ: sums are exact, and extrema stand more than once.
std::vector<float> numbers(const Shape &s, uint32_t seed, int most = 9) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> values(-most, most);
  std::vector<float> v(static_cast<size_t>(size_of(s)));
  for (float &f : v) f = static_cast<float>(values(engine));
  return v;
}

// A place of a tensor: its index along each dimension.
Shape place_of(int i, const Shape &s) {
  Shape at(s.size());
  for (size_t d = s.size(); d-- > 0; i /= s[d]) at[d] = i % s[d];
  return at;
}
int offset_of(const Shape &at, const Shape &s) {
  int i = 0;
  for (size_t d = 0; d < s.size(); d++) i = i * s[d] + at[d];
  return i;
}

using Make = std::function<std::vector<ops::Tensor>(const ops::Tensor &)>;

// What make(x) gives, each tensor of shape `result`, row after row; `layout`: x's dimensions in
// memory, innermost first.
std::vector<std::vector<double>> computed(const std::vector<float> &x, const Shape &s,
                                          const Shape &result, const Make &make,
                                          const std::vector<int> &layout = {},
                                          bool is_open = false) {
  std::vector<int> order = layout;
  for (size_t d = s.size(); layout.empty() && d-- > 0;) order.push_back(static_cast<int>(d));
  Shape extents;
  for (int d : order) extents.push_back(s[static_cast<size_t>(d)]);
  Buffer<float> in(extents);
  for (int i = 0; i < size_of(s); i++) {
    const Shape at = place_of(i, s);
    int offset = 0;
    for (size_t k = order.size(); k-- > 0;)
      offset = offset * extents[k] + at[static_cast<size_t>(order[k])];
    in.data()[offset] = x[static_cast<size_t>(i)];
  }
  ImageParam image(Float(32), in.dimensions(), "in");
  ops::Index sizes(s.begin(), s.end());
  for (size_t k = 0; k < order.size(); k++) {
    if (is_open)
      sizes[static_cast<size_t>(order[k])] = image.dim(static_cast<int>(k)).extent();
    else
      image.dim(static_cast<int>(k)).set_bounds(0, extents[k]).set_stride(in.dim(k).stride());
  }
  image.set(in);
  const std::vector<ops::Tensor> made = make(ops::Tensor(image, sizes, order));
  std::vector<std::string> names;
  for (size_t i = 0; i < made.size(); i++) names.push_back("out" + std::to_string(i));
  const Target target = get_jit_target_from_environment();
  const std::vector<Func> funcs =
      ops::materialize(made, names, std::vector<std::vector<int>>(made.size()), target);
  const Realization r = Pipeline(funcs).realize({result.rbegin(), result.rend()}, target);
  std::vector<std::vector<double>> all;
  for (size_t i = 0; i < made.size(); i++) {
    const Buffer<> b = r[i];
    all.emplace_back();
    for (int k = 0; k < size_of(result); k++) {
      all.back().push_back(b.type() == Float(32)
                               ? static_cast<const float *>(b.data())[k]
                               : static_cast<double>(static_cast<const int64_t *>(b.data())[k]));
    }
  }
  return all;
}

constexpr int kChannels = 1;
const std::vector<int> kChannelsInnermost = {kChannels, 3, 2, 0};

TEST(reductions, of_several_axes_in_both_layouts) {
  const Shape shapes[] = {{2, 5, 7, 7},  {1, 64, 14, 14}, {1, 3, 40, 33},
                          {2, 33, 1, 1}, {1, 1, 3, 5},    {2, 6, 5, 12}};
  const std::vector<int> axes[] = {{2, 3}, {1}, {3}, {1, 2, 3}, {0, 1, 2, 3}, {0, 2}};
  for (const Shape &s : shapes) {
    const std::vector<float> x = numbers(s, 1);
    for (const std::vector<int> &reduced : axes) {
      Shape result = s;
      for (int a : reduced) result[static_cast<size_t>(a)] = 1;
      std::vector<double> sums(static_cast<size_t>(size_of(result))), peaks(sums.size(), -HUGE_VAL);
      for (int i = 0; i < size_of(s); i++) {
        Shape at = place_of(i, s);
        for (int a : reduced) at[static_cast<size_t>(a)] = 0;
        const auto o = static_cast<size_t>(offset_of(at, result));
        sums[o] += x[static_cast<size_t>(i)];
        peaks[o] = std::max<double>(peaks[o], x[static_cast<size_t>(i)]);
      }
      for (const std::vector<int> &layout : {std::vector<int>{}, kChannelsInnermost}) {
        const auto got = computed(
            x, s, result,
            [&](const ops::Tensor &t) {
              return std::vector<ops::Tensor>{ops::reduce(t, ops::Reduction::Sum, reduced, true),
                                              ops::reduce(t, ops::Reduction::Max, reduced, true)};
            },
            layout);
        EXPECT_EQ(got[0], sums) << s[1] << "x" << s[2] << "x" << s[3] << " " << reduced.size();
        EXPECT_EQ(got[1], peaks) << s[1] << "x" << s[2] << "x" << s[3] << " " << reduced.size();
      }
    }
  }
}

// Vectors of channels add up long sums in blocks: one after the other 19,200 terms came out 1e-5 of
// the sum away.
TEST(reductions, errors_of_long_sums_stay_small) {
  const std::pair<Shape, std::vector<int>> cases[] = {
      {{1, 32, 160, 120}, {2, 3}},
      {{1, 36, 9000, 1}, {2, 3}},
      {{1, 8, 3, 7001}, {2, 3}},
      {{1, 64, 20, 20}, {2, 3}},
      {{2, 40, 1, 30000}, {0, 3}},
      {{3, 40, 100, 70}, {0, 2, 3}},
      // Channels that fill no vector of one processor or the other.
      {{1, 3, 300, 200}, {2, 3}},
      {{1, 5, 1, 30001}, {2, 3}},
      {{1, 12, 160, 120}, {2, 3}}};
  for (const auto &[s, reduced] : cases) {
    std::mt19937 engine(7);
    std::uniform_real_distribution<float> values(0, 1);
    std::vector<float> x(static_cast<size_t>(size_of(s)));
    for (float &v : x) v = values(engine);
    Shape result = s;
    for (int a : reduced) result[static_cast<size_t>(a)] = 1;
    std::vector<double> sums(static_cast<size_t>(size_of(result)));
    for (int i = 0; i < size_of(s); i++) {
      Shape at = place_of(i, s);
      for (int a : reduced) at[static_cast<size_t>(a)] = 0;
      sums[static_cast<size_t>(offset_of(at, result))] += x[static_cast<size_t>(i)];
    }
    const auto got = computed(
        x, s, result,
        [&, axes = reduced](const ops::Tensor &t) {
          return std::vector<ops::Tensor>{ops::reduce(t, ops::Reduction::Sum, axes, true)};
        },
        kChannelsInnermost);
    for (size_t i = 0; i < sums.size(); i++)
      ASSERT_NEAR(got[0][i], sums[i], 1e-6 * sums[i]) << s[1] << "x" << s[2] << "x" << s[3];
  }
}

// Rows that have few vectors, or fill none, are one with those that follow, also where an outer
// dimension is reduced that does not: of one channel of each group, say.
TEST(reductions, short_rows_are_joined) {
  const auto joins = [](const Shape &s, const std::vector<int> &axes, bool strides_known = true) {
    const Target avx512(get_host_target().os, Target::X86, 64, {Target::AVX512_Skylake});
    ImageParam x(Float(32), static_cast<int>(s.size()), "x");
    ops::Index shape;
    for (const int n : s) shape.emplace_back(n);
    for (int d = 0; strides_known && d < static_cast<int>(s.size()); d++) {
      int stride = 1;
      for (size_t k = s.size() - static_cast<size_t>(d); k < s.size(); k++) stride *= s[k];
      x.dim(d).set_stride(stride);
    }
    const ops::Tensor y = ops::reduce(ops::Tensor(x, shape), ops::Reduction::Sum, axes, true);
    Func out = ops::materialize({y}, {"y"}, {{}}, avx512)[0];
    return out.emit_text(Emit::stmt, {x}, avx512).find(".s1.r_y") == std::string::npos;
  };
  EXPECT_TRUE(joins({1, 64, 14, 14}, {2, 3}));
  EXPECT_TRUE(joins({1, 64, 56, 56}, {2, 3}));
  EXPECT_TRUE(joins({1, 64, 3, 14, 14}, {1, 3, 4}));
  EXPECT_FALSE(joins({1, 64, 56, 56}, {2, 3}, /*strides_known=*/false));
  EXPECT_FALSE(joins({1, 64, 64, 64}, {2, 3}));
  EXPECT_FALSE(joins({1, 64, 200, 200}, {2, 3}));
}

// A tensor of rank 0 has no loop at all.
TEST(reductions, of_all_axes_to_one_number) {
  const Shape s{5, 7, 11};
  const std::vector<float> x = numbers(s, 4);
  for (const bool keep : {false, true}) {
    const auto got = computed(x, s, keep ? Shape{1, 1, 1} : Shape{}, [&](const ops::Tensor &t) {
      return std::vector<ops::Tensor>{ops::reduce(t, ops::Reduction::Sum, {0, 1, 2}, keep)};
    });
    ASSERT_EQ(got[0].size(), 1u);
    EXPECT_EQ(got[0][0], std::accumulate(x.begin(), x.end(), 0.0));
  }
}

TEST(reductions, running_sums_along_each_axis) {
  const Shape s{3, 18, 37};
  const std::vector<float> x = numbers(s, 2);
  for (size_t axis = 0; axis < s.size(); axis++) {
    for (const bool reverse : {false, true}) {
      std::vector<double> wanted(x.begin(), x.end());
      for (int k = 0; k < size_of(s); k++) {
        const int i = reverse ? size_of(s) - 1 - k : k;
        Shape before = place_of(i, s);
        before[axis] += reverse ? 1 : -1;
        if (before[axis] >= 0 && before[axis] < s[axis])
          wanted[static_cast<size_t>(i)] += wanted[static_cast<size_t>(offset_of(before, s))];
      }
      const auto got = computed(x, s, s, [&](const ops::Tensor &t) {
        return std::vector<ops::Tensor>{
            ops::cumulate(t, static_cast<int>(axis), false, false, reverse)};
      });
      EXPECT_EQ(got[0], wanted) << axis << reverse;
    }
  }
}

void expect_positions_along_each_axis(const Shape &s) {
  const std::vector<float> x = numbers(s, 3);
  for (size_t axis = 0; axis < s.size(); axis++) {
    for (const bool last : {false, true}) {
      Shape result = s;
      result[axis] = 1;
      std::vector<double> wanted;
      for (int o = 0; o < size_of(result); o++) {
        Shape at = place_of(o, result);
        int best = 0;
        float peak = -HUGE_VALF;
        for (at[axis] = 0; at[axis] < s[axis]; at[axis]++) {
          const float v = x[static_cast<size_t>(offset_of(at, s))];
          if (v > peak || (last && v == peak)) best = at[axis];
          peak = std::max(peak, v);
        }
        wanted.push_back(best);
      }
      const auto got = computed(x, s, result, [&](const ops::Tensor &t) {
        return std::vector<ops::Tensor>{
            ops::arg_reduce(t, true, static_cast<int>(axis), true, last)};
      });
      EXPECT_EQ(got[0], wanted) << size_of(s) << " along " << axis << ", last " << last;
    }
  }
}

// Rows that vectors fill, that leave a rest, and that fill none.
TEST(reductions, positions_of_extrema_along_each_axis) {
  for (const Shape &s : {Shape{3, 21, 40}, {50, 10}, {9, 7, 21}, {4, 3}, {30, 150}, {5, 6, 64}})
    expect_positions_along_each_axis(s);
}

// Values and positions, of equal values the first ones first.
void check_top(const Shape &s, int k, size_t axis, bool largest, bool is_open, int most) {
  const std::vector<float> x = numbers(s, 4, most);
  Shape result = s;
  result[axis] = k;
  Shape others = s;
  others[axis] = 1;
  std::vector<double> values(static_cast<size_t>(size_of(result))), places(values.size());
  for (int o = 0; o < size_of(others); o++) {
    Shape at = place_of(o, others);
    const auto value = [&](int i) {
      at[axis] = i;
      return x[static_cast<size_t>(offset_of(at, s))];
    };
    std::vector<int> order(static_cast<size_t>(s[axis]));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return largest ? value(a) > value(b) : value(a) < value(b);
    });
    for (int i = 0; i < k; i++) {
      const double v = value(order[static_cast<size_t>(i)]);
      at[axis] = i;
      values[static_cast<size_t>(offset_of(at, result))] = v;
      places[static_cast<size_t>(offset_of(at, result))] = order[static_cast<size_t>(i)];
    }
  }
  const auto got = computed(
      x, s, result,
      [&](const ops::Tensor &t) {
        const auto [v, p] = ops::top_k(t, k, static_cast<int>(axis), largest);
        return std::vector<ops::Tensor>{v, p};
      },
      {}, is_open);
  EXPECT_EQ(got[0], values) << s[axis] << " " << k << " " << axis << largest << is_open;
  EXPECT_EQ(got[1], places) << s[axis] << " " << k << " " << axis << largest << is_open;
}

TEST(reductions, the_largest_and_the_smallest) {
  for (const int n : {1, 2, 7, 8, 9, 16, 17, 33, 100, 1000}) {
    for (const int k : {1, 5, 19, 32, n}) {
      if (k > n) continue;
      for (const bool largest : {true, false}) check_top({2, n}, k, 1, largest, false, 9);
    }
  }
  check_top({50, 3}, 7, 0, true, false, 1000);
  check_top({2, 30, 5}, 30, 1, false, false, 1000);
}

TEST(reductions, the_largest_of_an_open_number) {
  for (const int n : {3, 8, 65, 300}) check_top({2, n}, 3, 1, true, true, 100);
}

// As many as there are.
TEST(reductions, the_largest_beside_infinities) {
  const float inf = HUGE_VALF;
  const std::vector<float> x = {-inf, 3, inf, 3, -inf, inf, 0, -1, 2, -inf};
  const auto got = computed(x, {10}, {10}, [&](const ops::Tensor &t) {
    const auto [v, p] = ops::top_k(t, 10, 0, true);
    return std::vector<ops::Tensor>{v, p};
  });
  EXPECT_EQ(got[0], (std::vector<double>{inf, inf, 3, 3, 2, 0, -1, -inf, -inf, -inf}));
  EXPECT_EQ(got[1], (std::vector<double>{2, 5, 1, 3, 8, 6, 7, 0, 4, 9}));
}

// Fewer are finite than are asked for, of blocks and by counting.
TEST(reductions, the_largest_of_rows_of_infinities) {
  const Shape s{3, 90};
  for (const int k : {1, 4, 60}) {
    for (const bool largest : {true, false}) {
      std::vector<float> x(static_cast<size_t>(size_of(s)), largest ? -HUGE_VALF : HUGE_VALF);
      x[5] = 2;
      x[90 + 88] = -1;
      std::vector<double> places;
      for (int row = 0; row < 3; row++) {
        const int finite = row == 0 ? 5 : row == 1 ? 88 : 0;
        places.push_back(finite);
        for (int i = 0; static_cast<int>(places.size()) < (row + 1) * k; i++)
          if (i != finite) places.push_back(i);
      }
      const auto got = computed(x, s, {3, k}, [&](const ops::Tensor &t) {
        return std::vector<ops::Tensor>{ops::top_k(t, k, 1, largest).second};
      });
      EXPECT_EQ(got[0], places) << k << largest;
    }
  }
}

TEST(reductions, of_what_is_no_number_there_is_a_position) {
  const Shape s{2, 70};
  const std::vector<float> x(static_cast<size_t>(size_of(s)), std::nanf(""));
  for (const int k : {1, 3, 70}) {
    const auto got = computed(x, s, {2, k}, [&](const ops::Tensor &t) {
      return std::vector<ops::Tensor>{ops::top_k(t, k, 1, true).second};
    });
    for (double place : got[0]) EXPECT_TRUE(place >= 0 && place < 70) << place;
  }
  const auto first = computed(x, s, {2, 1}, [&](const ops::Tensor &t) {
    return std::vector<ops::Tensor>{ops::arg_reduce(t, true, 1, true, false)};
  });
  EXPECT_EQ(first[0], (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace polyhalite::reductions_test
