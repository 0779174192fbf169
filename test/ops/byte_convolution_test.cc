// ops::quantized_convolution with the library's schedules against plain loops, exactly.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <random>
#include <string>
#include <vector>

#include "test/lang/messages.h"
#include "test/ops/convolution_shape.h"

namespace polyhalite::byte_convolution_test {
namespace {

std::vector<int> innermost_first(const std::vector<int> &v) {
  return std::vector<int>(v.rbegin(), v.rend());
}

// Bytes of an image and of kernels, and what plain loops make of them.
struct Problem {
  const Shape &s;
  ops::Window window;
  std::vector<int> x_shape, w_shape, y_shape;
  Buffer<uint8_t> x;
  Buffer<int8_t> w, points;
  int x_point = 0;
  bool has_points = false;  // of the kernels

  explicit Problem(const Shape &shape) : s(shape) {
    window = {s.kernel, s.stride, s.dilation, s.before, {}};
    x_shape = {s.images, s.channels};
    w_shape = {s.results, s.channels / s.groups};
    y_shape = {s.images, s.results};
    for (int d = 0; d < s.spatial(); d++) {
      window.shape.emplace_back(s.result_size(d));
      x_shape.push_back(s.size[static_cast<size_t>(d)]);
      w_shape.push_back(s.kernel[static_cast<size_t>(d)]);
      y_shape.push_back(s.result_size(d));
    }
    x = Buffer<uint8_t>(innermost_first(x_shape));
    w = Buffer<int8_t>(innermost_first(w_shape));
    points = Buffer<int8_t>(s.results);
    std::mt19937 engine(7);
    x.for_each_value([&](uint8_t &v) { v = static_cast<uint8_t>(engine()); });
    w.for_each_value([&](int8_t &v) { v = static_cast<int8_t>(engine()); });
    points.for_each_value([&](int8_t &v) { v = static_cast<int8_t>(engine()); });
  }

  int point(int result) const { return has_points ? points(result) : 0; }

  int sum(const int *at) const {
    const int spatial = s.spatial(), result = at[spatial], image = at[spatial + 1];
    const int channels = s.channels / s.groups, results = s.results / s.groups;
    int total = 0;
    std::vector<int> cell(static_cast<size_t>(spatial), 0);
    for (bool more = true; more;) {
      std::vector<int> from(static_cast<size_t>(spatial) + 2),
          kernel(static_cast<size_t>(spatial) + 2);
      bool inside = true;
      for (int d = 0; d < spatial; d++) {
        const auto i = static_cast<size_t>(d), memory = static_cast<size_t>(spatial - 1 - d);
        from[memory] = at[memory] * s.stride[i] + cell[i] * s.dilation[i] - s.before[i];
        kernel[memory] = cell[i];
        inside = inside && from[memory] >= 0 && from[memory] < s.size[i];
      }
      for (int c = 0; inside && c < channels; c++) {
        from[static_cast<size_t>(spatial)] = result / results * channels + c;
        kernel[static_cast<size_t>(spatial)] = c;
        from.back() = image;
        kernel.back() = result;
        total += (x(from.data()) - x_point) * (w(kernel.data()) - point(result));
      }
      more = false;
      for (size_t d = 0; d < cell.size() && !more; d++) {
        more = ++cell[d] < s.kernel[d];
        if (!more) cell[d] = 0;
      }
    }
    return total;
  }

  void expect(const ops::Tensor &sums, const Target &target) const {
    const Buffer<int32_t> got =
        ops::materialize({sums}, {"y"}, {{}}, target)[0].realize(innermost_first(y_shape), target);
    got.for_each_element([&](const int *at) { ASSERT_EQ(got(at), sum(at)); });
  }
};

ops::Index exprs(const std::vector<int> &v) { return ops::Index(v.begin(), v.end()); }

// This machine, and where it can run that, one that multiplies pairs of 16 bits.
std::vector<Target> targets() {
  const Target host = get_jit_target_from_environment();
  const std::vector<Target::Feature> features{Target::SSE41, Target::AVX, Target::AVX2, Target::FMA,
                                              Target::F16C};
  std::vector<Target> list{host};
  if (host.arch == Target::X86 && host.features_all_of(features))
    list.emplace_back(host.os, Target::X86, 64, features);
  return list;
}

// With padding that is the zero point; kernels of bytes, and of 16 bits less their zero point.
TEST(byte_convolution, quantized_forms_are_exact) {
  std::vector<Shape> list = {square(64, 33, 9, 3), square(3, 16, 15, 7, 2), square(20, 70, 8, 1),
                             square(17, 24, 11, 3, 2), square(1, 5, 12, 5)};
  list.push_back({6, 20, 1, {19}, {3}, {2}, {3}, {4}, {1}, 2});
  list.push_back({5, 18, 1, {6, 7, 8}, {2, 3, 1}, {1, 2, 1}, {2, 1, 1}, {0, 1, 0}, {1, 2, 0}});
  // In groups: results of a group that fill vectors and that do not, depthwise ones.
  for (const int groups : {2, 4}) list.push_back(square(48, 80, 9, 3, 2, groups));
  list.push_back(square(32, 32, 11, 3, 1, 8));
  list.push_back(square(20, 20, 9, 3, 1, 20));
  const std::vector<Target> all = targets();
  for (const Shape &s : list) {
    Problem p(s);
    ImageParam xs(UInt(8), p.x.dimensions(), "x"), ws(Int(8), p.w.dimensions(), "w"),
        ps(Int(8), 1, "points"), wide(Int(16), p.w.dimensions(), "wide");
    const ops::Tensor image(xs, exprs(p.x_shape)), kernels(ws, exprs(p.w_shape)), none;
    xs.set(p.x);
    ws.set(p.w);
    ps.set(p.points);
    for (const std::string zero_points : {"none", "of the image", "of both"}) {
      SCOPED_TRACE(text(s) + ", points: " + zero_points);
      p.x_point = zero_points == "none" ? 0 : 131;
      p.has_points = zero_points == "of both";
      const ops::Tensor x_point =
          p.x_point != 0 ? ops::Tensor(cast<uint8_t>(p.x_point)) : ops::Tensor();
      const ops::Tensor w_point = p.has_points ? ops::Tensor(ps, {s.results}) : ops::Tensor();
      p.expect(ops::quantized_convolution(image, x_point, kernels, w_point, p.window, s.groups),
               all[0]);
      Buffer<int16_t> less(innermost_first(p.w_shape));
      less.for_each_element([&](const int *at) {
        less(at) = static_cast<int16_t>(p.w(at) - p.point(at[s.spatial() + 1]));
      });
      wide.set(less);
      p.expect(ops::quantized_convolution(image, x_point, ops::Tensor(wide, exprs(p.w_shape)), none,
                                          p.window, s.groups),
               all.back());
      if (!p.has_points) continue;
      less.for_each_element([&](const int *at) { less(at) = p.w(at); });
      p.expect(ops::quantized_convolution(image, x_point, ops::Tensor(wide, exprs(p.w_shape)),
                                          w_point, p.window, s.groups),
               all.back());
    }
  }
}

// Windows that do not overlap, whose kernels are a matrix: images that they fill and that they do
// not, of one to three dimensions.
TEST(byte_convolution, patches_are_rows_of_a_matrix) {
  std::vector<Shape> list;
  list.push_back({3, 24, 1, {32, 48}, {16, 16}, {16, 16}, {1, 1}, {0, 0}, {0, 0}, 2});
  list.push_back({3, 16, 1, {30, 31}, {7, 14}, {7, 14}, {1, 1}, {0, 0}, {0, 0}});
  list.push_back({1, 20, 1, {50}, {6}, {6}, {1}, {0}, {0}, 3});
  list.push_back({2, 16, 1, {4, 9, 8}, {2, 3, 4}, {2, 3, 4}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}});
  const std::vector<Target> all = targets();
  for (const Shape &s : list) {
    Problem p(s);
    ImageParam xs(UInt(8), p.x.dimensions(), "x"), ws(Int(8), p.w.dimensions(), "w"),
        ps(Int(8), 1, "points"), wide(Int(16), p.w.dimensions(), "wide");
    const ops::Tensor image(xs, exprs(p.x_shape)), point(ps, {s.results}), none;
    int depth = s.channels;
    for (const int cells : s.kernel) depth *= cells;
    const auto matrix = [&](const ImageParam &w) {
      const ops::Tensor kernels(w, exprs(p.w_shape));
      return ops::transpose(ops::reshape(kernels, {s.results, depth}), std::vector<int>{1, 0});
    };
    xs.set(p.x);
    ws.set(p.w);
    ps.set(p.points);
    Buffer<int16_t> same(innermost_first(p.w_shape));
    same.for_each_element([&](const int *at) { same(at) = p.w(at); });
    wide.set(same);
    for (const bool has_points : {false, true}) {
      SCOPED_TRACE(text(s) + (has_points ? ", with points" : ""));
      p.x_point = has_points ? 131 : 0;
      p.has_points = has_points;
      const ops::Tensor x_point = has_points ? ops::Tensor(cast<uint8_t>(p.x_point)) : none;
      const ops::Tensor w_point = has_points ? point : none;
      p.expect(ops::quantized_convolution(image, x_point, matrix(ws), w_point, p.window), all[0]);
      p.expect(ops::quantized_convolution(image, x_point, matrix(wide), w_point, p.window),
               all.back());
    }
  }
}

// Kernels that fit 16 bits when they are transformed, channels that fill no pair, tiles that reach
// beyond the image.
TEST(byte_convolution, winograds_form_is_exact) {
  constexpr int kWidth = 16, kTerms = 2;
  struct Case {
    Shape shape;
    std::vector<int> tile;
  };
  const std::vector<Case> cases{
      {square(33, 40, 9, 3), {2, 2}},
      {square(34, 16, 10, 3, 2), {2, 2}},
      {square(32, 48, 7, 3), {2, 1}},
      {square(32, 16, 8, 5), {2, 1}},
      {{36, 20, 1, {8, 9}, {1, 3}, {1, 1}, {1, 1}, {0, 1}, {0, 1}}, {1, 2}}};
  for (const Case &c : cases) {
    const Shape &s = c.shape;
    SCOPED_TRACE(text(s));
    Problem p(s);
    p.x_point = 131;
    p.has_points = true;
    std::vector<std::vector<double>> g[2];
    for (size_t d = 0; d < 2; d++) {
      g[d] = ops::winograd_kernel_transform(s.kernel[d], s.stride[d], c.tile[d]);
      for (auto &row : g[d])
        for (double &v : row) v *= ops::winograd_scale(s.kernel[d], s.stride[d], c.tile[d]);
    }
    const int strips = (s.results + kWidth - 1) / kWidth, blocks = (s.channels + 1) / kTerms;
    const int down = static_cast<int>(g[0].size()), across = static_cast<int>(g[1].size());
    const std::vector<int> shape{strips, down, across, blocks, kWidth, kTerms};
    Buffer<int16_t> packed(innermost_first(shape));
    packed.for_each_element([&](const int *at) {
      const int result = at[5] * kWidth + at[1], channel = at[2] * kTerms + at[0];
      double sum = 0;
      for (int i = 0; i < s.kernel[0]; i++)
        for (int j = 0; j < s.kernel[1]; j++)
          if (result < s.results && channel < s.channels)
            sum += g[0][static_cast<size_t>(at[4])][static_cast<size_t>(i)] *
                   g[1][static_cast<size_t>(at[3])][static_cast<size_t>(j)] *
                   (p.w(j, i, channel, result) - p.point(result));
      packed(at) = static_cast<int16_t>(sum);
      ASSERT_EQ(packed(at), sum);
    });
    ImageParam xs(UInt(8), 4, "x"), ks(Int(16), 6, "kernels");
    xs.set(p.x);
    ks.set(packed);
    const std::vector<Target> all = targets();
    for (size_t t = &c == cases.data() ? 0 : all.size() - 1; t < all.size(); t++) {
      p.expect(ops::quantized_winograd(ops::Tensor(xs, exprs(p.x_shape)),
                                       ops::Tensor(cast<uint8_t>(p.x_point)),
                                       ops::Tensor(ks, exprs(shape)), s.results, p.window, c.tile),
               all[t]);
    }
  }
}

// Tiles of what a processor with pairs of 16 bits multiplies: all pixels are columns, and the
// instruction is the one that it has.
TEST(byte_convolution, pairs_of_16_bits_are_one_instruction) {
  const Target avx2("x86-64-linux-sse41-avx-avx2-fma-f16c");
  EXPECT_TRUE(ops::widens_bytes(UInt(8), Int(8), avx2));
  EXPECT_FALSE(ops::widens_bytes(UInt(8), Int(8),
                                 Target("x86-64-linux-sse41-avx-avx2-fma-f16c-avx512_zen4")));
  EXPECT_FALSE(ops::widens_bytes(Float(32), Float(32), avx2));
  ImageParam x(UInt(8), 4, "x"), k(Int(16), 6, "k");
  const ops::Tensor image(x, {1, 32, 7, 7}), point(cast<uint8_t>(3)), none;
  const auto tree = [&](const ops::Tensor &y) {
    return ops::materialize({y}, {"y"}, {{1, 3, 2, 0}}, avx2)[0].emit_text(Emit::tree, {x, k},
                                                                           avx2);
  };
  const ops::Tensor cells = ops::packed_kernels(ops::Tensor(k, {1, 1, 1, 16, 16, 2}));
  const ops::Window cell{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {7, 7}};
  const std::string pixels = tree(ops::quantized_convolution(image, point, cells, none, cell));
  EXPECT_NE(pixels.find("vpmaddwd_256"), std::string::npos) << pixels;
  EXPECT_NE(pixels.find("y.s0: i2, i3 -> pixel;"), std::string::npos) << pixels;
  EXPECT_NE(pixels.find("pixel -> rows, row by 5 ShiftInwards"), std::string::npos) << pixels;
  const ops::Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {7, 7}};
  const std::string tiled = tree(ops::quantized_winograd(
      image, point, ops::Tensor(k, {1, 4, 4, 16, 16, 2}), 16, window, {2, 2}));
  EXPECT_NE(tiled.find("vpmaddwd_256"), std::string::npos) << tiled;
}

// Strips of a group's results, and of all of them, the last channels zeros.
TEST(byte_convolution, packed_kernels_are_read_where_they_are) {
  const Target target = get_jit_target_from_environment();
  struct Case {
    int channels, results, groups, width;
  };
  for (const Case &c : {Case{48, 96, 2, 16}, {24, 24, 3, 8}, {6, 20, 1, 20}}) {
    const int of_group = c.channels / c.groups, blocks = (of_group + 3) / 4;
    const ops::Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {10, 10}};
    Buffer<uint8_t> x(10, 10, c.channels, 1);
    Buffer<int8_t> w(3, 3, of_group, c.results);
    Buffer<int8_t> packed(std::vector<int>{4, c.width, blocks, 3, 3, c.results / c.width});
    std::mt19937 engine(9);
    x.for_each_value([&](uint8_t &v) { v = static_cast<uint8_t>(engine()); });
    w.for_each_value([&](int8_t &v) { v = static_cast<int8_t>(engine()); });
    packed.for_each_element([&](const int *at) {
      const int channel = at[2] * 4 + at[0];
      packed(at) =
          channel < of_group ? w(at[3], at[4], channel, at[5] * c.width + at[1]) : int8_t{0};
    });
    ImageParam xs(UInt(8), 4, "x"), ws(Int(8), 4, "w"), ps(Int(8), 6, "packed");
    xs.set(x);
    ws.set(w);
    ps.set(packed);
    const ops::Tensor image(xs, {1, c.channels, 10, 10}), point(cast<uint8_t>(90));
    const auto made = [&](const ops::Tensor &kernels) {
      const ops::Tensor y =
          ops::quantized_convolution(image, point, kernels, ops::Tensor(), window, c.groups);
      return ops::materialize({y}, {"y"}, {{}}, target)[0];
    };
    Func plain = made(ops::Tensor(ws, {c.results, of_group, 3, 3}));
    Func read =
        made(ops::packed_kernels(ops::Tensor(ps, {c.results / c.width, 3, 3, blocks, c.width, 4})));
    const Buffer<int32_t> wanted = plain.realize({10, 10, c.results, 1}, target);
    const Buffer<int32_t> got = read.realize({10, 10, c.results, 1}, target);
    wanted.for_each_element([&](const int *at) { ASSERT_EQ(got(at), wanted(at)); });
  }
}

TEST(byte_convolution, kernels_without_dot_products_are_refused) {
  ImageParam x(UInt(8), 4, "x"), w(Int(8), 4, "w"), m(Int(8), 2, "m");
  const ops::Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {10, 10}};
  const ops::Tensor image(x, {1, 12, 10, 10}), none;
  const auto convolved = [&](const ops::Tensor &kernels, int groups) {
    return message_of(
        [&] { ops::quantized_convolution(image, none, kernels, none, window, groups); });
  };
  EXPECT_NE(convolved(ops::Tensor(w, {8, 6, 3, 3}), 2)
                .find("a convolution of bytes has 2 groups of 6 channels"),
            std::string::npos);
  EXPECT_NE(convolved(ops::Tensor(m, {12, 8}), 1)
                .find("a convolution whose windows overlap, or of groups, has a matrix of kernels"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              ops::packed_kernels(ops::Tensor(w, {2, 3, 16, 4}));
            }).find("packed kernels have rank 4"),
            std::string::npos);
  ImageParam pairs(Int(16), 6, "pairs");
  EXPECT_NE(message_of([&] {
              ops::packed_kernels(ops::Tensor(pairs, {2, 3, 3, 3, 16, 4}));
            }).find("channel / 2, result, channel % 2], of known sizes"),
            std::string::npos);
  const auto tiled = [&](const ops::Tensor &kernels, const std::vector<int> &tile) {
    return message_of([&] { ops::quantized_winograd(image, none, kernels, 16, window, tile); });
  };
  EXPECT_NE(tiled(ops::Tensor(w, {1, 4, 4, 16}), {2, 2})
                .find("Winograd's kernels of bytes are int8 of rank 4"),
            std::string::npos);
  EXPECT_NE(tiled(ops::Tensor(pairs, {1, 6, 6, 6, 16, 2}), {4, 4})
                .find("Winograd's form of whole numbers has an image of int16 with 12 channels and "
                      "tiles of 4 x 4 results"),
            std::string::npos);
}

}  // namespace
}  // namespace polyhalite::byte_convolution_test
