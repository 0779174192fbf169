// ops::winograd with the library's schedules against plain loops in double precision, within the
// bound that its header states, on noise and on sums that nearly vanish.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "test/lang/messages.h"

#include "lang/ir/node.h"
#include "lang/ops/winograd_transforms.h"

namespace polyhalite::winograd_test {
namespace {

using Matrix = std::vector<std::vector<double>>;

struct Shape {
  int channels, results, rows, columns;
  std::vector<int> kernel{3, 3}, stride{1, 1};
  int before = 1, after = 1;  // padding in both dimensions
  int images = 1;

  int size(size_t d) const {
    return ((d == 0 ? rows : columns) + before + after - kernel[d]) / stride[d] + 1;
  }
  int down() const { return size(0); }
  int across() const { return size(1); }
  int cells() const { return kernel[0] * kernel[1]; }
};

std::string text(const Shape &s) {
  return std::to_string(s.channels) + " to " + std::to_string(s.results) + ", " +
         std::to_string(s.rows) + "x" + std::to_string(s.columns) + ", kernel " +
         std::to_string(s.kernel[0]) + "x" + std::to_string(s.kernel[1]) + ", stride " +
         std::to_string(s.stride[0]) + "x" + std::to_string(s.stride[1]) + ", padding " +
         std::to_string(s.before) + " and " + std::to_string(s.after);
}

using Sizes = std::vector<int>;
const Sizes kOne{1, 1}, kThree{3, 3};

// Tiles that fit and that do not, in rows and in columns; strips that are not full; several blocks
// of rows; no border; fewer channels than a vector has lanes.
const Shape kShapes[] = {
    {32, 32, 12, 12},
    {64, 64, 28, 28},
    {40, 70, 13, 17},
    {5, 20, 9, 10},
    {48, 16, 7, 40, kThree, kOne, 0, 0, 2},
    {16, 130, 21, 6, kThree, kOne, 2, 0},
    {64, 48, 14, 14, kThree, kOne, 1, 1, 3},
    {33, 9, 3, 3},
    {64, 24, 60, 4},
};

// Kernels of more and of fewer cells, strides, few channels.
const Shape kOtherKernels[] = {
    {3, 64, 64, 60, {7, 7}, {2, 2}, 3, 3},   {3, 40, 45, 51, {11, 11}, {4, 4}, 2, 2},
    {16, 32, 20, 14, {5, 5}, {1, 1}, 2, 2},  {20, 36, 17, 19, {7, 1}, {1, 1}, 3, 3},
    {20, 36, 17, 19, {1, 7}, {1, 1}, 3, 3},  {8, 33, 15, 22, {6, 5}, {3, 2}, 2, 1},
    {34, 32, 12, 13, {3, 1}, {1, 1}, 1, 0},  {1, 32, 33, 40, {9, 9}, {1, 1}, 4, 4},
    {12, 20, 16, 18, {3, 3}, {2, 2}, 1, 1},  {4, 16, 30, 26, {2, 2}, {2, 2}, 0, 0},
    {10, 18, 13, 12, {1, 16}, {1, 2}, 8, 8}, {96, 64, 21, 19, {3, 3}, {2, 2}, 1, 1},
    {24, 40, 70, 1, {5, 1}, {1, 1}, 0, 0},
};

// Few channels, few columns and no border to read beyond them.
const Shape kNarrow[] = {
    {3, 32, 20, 12, {5, 5}, {1, 1}, 0, 0},
    {1, 33, 13, 18, {6, 7}, {1, 2}, 0, 0},
    {4, 32, 12, 10, {3, 3}, {1, 1}, 0, 0},
};

enum class Data { Noise, Cancelling };
enum class Images { ChannelsInnermost, Planar };

// The matrices of a dimension, absolute values.
struct Magnitudes {
  Matrix input, kernel, result;

  Magnitudes(int cells, int stride, int tile) {
    if (tile > 1) {
      const ops::WinogradTransforms t = ops::winograd_transforms(cells, stride, tile);
      input = t.input;
      kernel = t.kernel;
      result = t.result;
    } else {
      const auto n = static_cast<size_t>(cells);
      input.assign(n, std::vector<double>(n, 0));
      for (size_t i = 0; i < n; i++) input[i][i] = 1;
      kernel = input;
      result.assign(1, std::vector<double>(n, 1));
    }
    for (Matrix *m : {&input, &kernel, &result})
      for (std::vector<double> &row : *m)
        for (double &v : row) v = std::abs(v);
  }
};

// d v a'.
Matrix transformed(const Matrix &d, const Matrix &v, const Matrix &a) {
  Matrix half(d.size(), std::vector<double>(v[0].size(), 0));
  for (size_t i = 0; i < d.size(); i++)
    for (size_t y = 0; y < v.size(); y++) {
      if (d[i][y] == 0) continue;
      for (size_t x = 0; x < v[0].size(); x++) half[i][x] += d[i][y] * v[y][x];
    }
  Matrix out(d.size(), std::vector<double>(a.size(), 0));
  for (size_t i = 0; i < d.size(); i++)
    for (size_t j = 0; j < a.size(); j++)
      for (size_t x = 0; x < half[i].size(); x++) out[i][j] += half[i][x] * a[j][x];
  return out;
}

// Images [image][channel][row][column] and kernels [result][channel][row][column], exact results,
// and the bound of each result's error but for the units of rounding.
struct Problem {
  Shape s;
  std::vector<float> x, w;
  std::vector<double> y, bound;  // [image][row][column][result]

  Problem(const Shape &shape, const Sizes &tile, Data data) : s(shape) {
    std::mt19937 engine(11);
    std::uniform_real_distribution<float> values(-1, 1);
    x.resize(static_cast<size_t>(s.images) * s.channels * s.rows * s.columns);
    w.resize(static_cast<size_t>(s.results) * s.channels * s.cells());
    int i = 0;
    for (float &v : x)
      v = values(engine) + (data == Data::Noise ? 0.0f : i++ % 2 ? 512.0f : -512.0f);
    for (float &v : w) v = values(engine);
    compute_results();
    compute_bounds(tile);
  }

  double pixel(int image, int channel, int row, int column) const {
    if (row < 0 || column < 0 || row >= s.rows || column >= s.columns) return 0;
    return x[((static_cast<size_t>(image) * s.channels + channel) * s.rows + row) * s.columns +
             column];
  }
  double weight(int result, int channel, int row, int column) const {
    return w[((static_cast<size_t>(result) * s.channels + channel) * s.kernel[0] + row) *
                 s.kernel[1] +
             column];
  }
  size_t place(int image, int result, int row, int column) const {
    return ((static_cast<size_t>(image) * s.down() + row) * s.across() + column) * s.results +
           result;
  }

  void compute_results() {
    y.assign(place(s.images, 0, 0, 0), 0);
    std::vector<double> of_cell(static_cast<size_t>(s.results));
    for (int c = 0; c < s.channels; c++)
      for (int cell = 0; cell < s.cells(); cell++) {
        const int down = cell / s.kernel[1], right = cell % s.kernel[1];
        for (int r = 0; r < s.results; r++)
          of_cell[static_cast<size_t>(r)] = weight(r, c, down, right);
        for (int n = 0; n < s.images; n++)
          for (int i = 0; i < s.down(); i++)
            for (int j = 0; j < s.across(); j++) {
              const double value = pixel(n, c, i * s.stride[0] + down - s.before,
                                         j * s.stride[1] + right - s.before);
              double *to = &y[place(n, 0, i, j)];
              for (size_t r = 0; r < of_cell.size(); r++) to[r] += value * of_cell[r];
            }
      }
  }

  void compute_bounds(const Sizes &tile) {
    bound.assign(y.size(), 0);
    const Magnitudes rows(s.kernel[0], s.stride[0], tile[0]);
    const Magnitudes columns(s.kernel[1], s.stride[1], tile[1]);
    const size_t places = rows.input.size() * columns.input.size();
    const auto results = static_cast<size_t>(s.results);
    std::vector<std::vector<double>> kernels;  // of a channel: [place][result]
    for (int c = 0; c < s.channels; c++) {
      kernels.emplace_back(places * results);
      for (int r = 0; r < s.results; r++) {
        Matrix cells(static_cast<size_t>(s.kernel[0]),
                     std::vector<double>(static_cast<size_t>(s.kernel[1])));
        for (int k = 0; k < s.cells(); k++)
          cells[static_cast<size_t>(k / s.kernel[1])][static_cast<size_t>(k % s.kernel[1])] =
              std::abs(weight(r, c, k / s.kernel[1], k % s.kernel[1]));
        const Matrix made = transformed(rows.kernel, cells, columns.kernel);
        for (size_t p = 0; p < places; p++)
          kernels.back()[p * results + static_cast<size_t>(r)] =
              made[p / columns.input.size()][p % columns.input.size()];
      }
    }
    for (int n = 0; n < s.images; n++)
      for (int top = 0; top < s.down(); top += tile[0])
        for (int left = 0; left < s.across(); left += tile[1])
          bound_tile(n, top, left, rows, columns, kernels);
  }

  void bound_tile(int n, int top, int left, const Magnitudes &rows, const Magnitudes &columns,
                  const std::vector<std::vector<double>> &kernels) {
    const size_t across = columns.input.size(), places = rows.input.size() * across;
    const auto results = static_cast<size_t>(s.results);
    std::vector<double> sums(places * results, 0);
    for (int c = 0; c < s.channels; c++) {
      Matrix cells(rows.input[0].size(), std::vector<double>(columns.input[0].size()));
      for (size_t i = 0; i < cells.size(); i++)
        for (size_t j = 0; j < cells[i].size(); j++)
          cells[i][j] = std::abs(pixel(n, c, top * s.stride[0] + static_cast<int>(i) - s.before,
                                       left * s.stride[1] + static_cast<int>(j) - s.before));
      const Matrix v = transformed(rows.input, cells, columns.input);
      const std::vector<double> &u = kernels[static_cast<size_t>(c)];
      for (size_t p = 0; p < places; p++) {
        const double value = v[p / across][p % across];
        for (size_t r = 0; r < results; r++) sums[p * results + r] += value * u[p * results + r];
      }
    }
    for (int i = 0; i < static_cast<int>(rows.result.size()) && top + i < s.down(); i++)
      for (int j = 0; j < static_cast<int>(columns.result.size()) && left + j < s.across(); j++)
        for (size_t p = 0; p < places; p++) {
          const double factor = rows.result[static_cast<size_t>(i)][p / across] *
                                columns.result[static_cast<size_t>(j)][p % across];
          double *to = &bound[place(n, 0, top + i, left + j)];
          for (size_t r = 0; r < results; r++) to[r] += factor * sums[p * results + r];
        }
  }
};

const Target &host() {
  static const Target target = get_jit_target_from_environment();
  return target;
}

ops::Window window_of(const Shape &s) {
  return {s.kernel, s.stride, {1, 1}, {s.before, s.before}, {s.down(), s.across()}};
}

// Elements [image][channel][row][column] in a buffer of the layout.
Buffer<float> laid_out(const std::vector<float> &v, int images, int channels, int rows, int columns,
                       Images layout) {
  const bool planar = layout == Images::Planar;
  Buffer<float> b(planar ? std::vector<int>{columns, rows, channels, images}
                         : std::vector<int>{channels, columns, rows, images});
  size_t i = 0;
  for (int n = 0; n < images; n++)
    for (int c = 0; c < channels; c++)
      for (int row = 0; row < rows; row++)
        for (int x = 0; x < columns; x++, i++) {
          const int at[] = {planar ? x : c, planar ? row : x, planar ? c : row, n};
          b(at) = v[i];
        }
  return b;
}

// The largest error over its bound.
double error_of(const Shape &s, const Sizes &tile, Data data, Images layout, const Target &target) {
  const Problem p(s, tile, data);
  const std::vector<int> order =
      layout == Images::Planar ? std::vector<int>{3, 2, 1, 0} : std::vector<int>{1, 3, 2, 0};
  ImageParam x(Float(32), 4, "x"), w(Float(32), 4, "w");
  x.set(laid_out(p.x, s.images, s.channels, s.rows, s.columns, layout));
  w.set(laid_out(p.w, s.results, s.channels, s.kernel[0], s.kernel[1], Images::Planar));
  const ops::Tensor image(x, {s.images, s.channels, s.rows, s.columns}, order);
  const ops::Tensor plain(w, {s.results, s.channels, s.kernel[0], s.kernel[1]});
  const int width = ops::strip_width(s.results, Float(32), target);
  const ops::Tensor kernels =
      ops::stored(ops::winograd_kernels(plain, window_of(s), tile, width), "kernels");
  const auto places = [&](int d) {
    int64_t count = 0;
    EXPECT_TRUE(is_const_int(kernels.size(d), &count));
    return static_cast<double>(count);
  };
  ops::Tensor y = ops::winograd(image, kernels, s.results, window_of(s), tile);
  y = ops::elementwise(y, [](const Expr &v) { return max(v, 0.0f); });
  Func out = ops::materialize({y}, {"y"}, {order}, target)[0];
  const std::vector<int> shape{s.images, s.results, s.down(), s.across()};
  std::vector<int> sizes;
  for (int d : order) sizes.push_back(shape[static_cast<size_t>(d)]);
  const Buffer<float> got = out.realize(sizes, target);
  int terms = s.channels;
  for (size_t d = 0; d < 2; d++) terms *= tile[d] == 1 ? s.kernel[d] : 1;
  const double unit = std::numeric_limits<float>::epsilon() / 2;
  const double units = (terms + 4 * (places(1) + places(2))) * unit;
  double worst = 0;
  for (int n = 0; n < s.images; n++) {
    for (int r = 0; r < s.results; r++) {
      for (int i = 0; i < s.down(); i++) {
        for (int j = 0; j < s.across(); j++) {
          const int point[] = {n, r, i, j};
          int at[4];
          for (size_t k = 0; k < 4; k++) at[k] = point[order[k]];
          const size_t to = p.place(n, r, i, j);
          const double apart = std::abs(got(at) - std::max(p.y[to], 0.0));
          const double bound = units * p.bound[to];
          worst = std::max(worst, std::isfinite(apart) ? apart / std::max(bound, 1e-30) : 1e30);
        }
      }
    }
  }
  return worst;
}

// The transforms alone, of whole numbers, for which they are exact but for divisions.
TEST(winograd, transforms_make_convolutions) {
  std::mt19937 engine(3);
  std::uniform_int_distribution<int> values(-9, 9);
  for (int cells = 1; cells <= 16; cells++) {
    for (int stride = 1; stride <= 5; stride++) {
      for (const int tile : {2, 4}) {
        const ops::WinogradTransforms t = ops::winograd_transforms(cells, stride, tile);
        std::vector<double> d(static_cast<size_t>((tile - 1) * stride + cells)), g(cells);
        for (double &v : d) v = values(engine);
        for (double &v : g) v = values(engine);
        const auto times = [](const std::vector<double> &a, const std::vector<double> &b) {
          double sum = 0;
          EXPECT_EQ(a.size(), b.size());
          for (size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
          return sum;
        };
        std::vector<double> products;
        for (size_t p = 0; p < t.input.size(); p++)
          products.push_back(times(t.input[p], d) * times(t.kernel[p], g));
        for (int r = 0; r < tile; r++) {
          double direct = 0;
          for (int k = 0; k < cells; k++)
            direct += g[static_cast<size_t>(k)] * d[static_cast<size_t>(r * stride + k)];
          EXPECT_NEAR(times(t.result[static_cast<size_t>(r)], products), direct, 1e-9)
              << cells << " cells, stride " << stride << ", tile " << tile;
        }
      }
    }
  }
  EXPECT_EQ(ops::winograd_transforms(3, 1, 2).places(), 4);
  EXPECT_EQ(ops::winograd_transforms(3, 1, 4).places(), 6);
  EXPECT_EQ(ops::winograd_transforms(7, 2, 4).places(), 13);
  EXPECT_EQ(ops::winograd_transforms(11, 4, 4).places(), 23);
}

TEST(winograd, tiles_of_two) {
  for (const Shape &s : kShapes) {
    for (const Data data : {Data::Noise, Data::Cancelling}) {
      EXPECT_LE(error_of(s, {2, 2}, data, Images::ChannelsInnermost, host()), 1) << text(s);
    }
  }
}

TEST(winograd, tiles_of_four) {
  for (const Shape &s : {kShapes[3], kShapes[5], kShapes[7]}) {
    EXPECT_LE(error_of(s, {4, 4}, Data::Cancelling, Images::ChannelsInnermost, host()), 1)
        << text(s);
  }
}

// Each with tiles along one dimension, small ones also along both.
TEST(winograd, other_kernels_and_strides) {
  // Each kernel in two of the forms: compiling takes seconds.
  const Sizes tiles[2][2] = {{{4, 1}, {2, 4}}, {{1, 2}, {4, 2}}};
  int kernel = 0;
  for (const Shape &s : kOtherKernels) {
    for (const Sizes &tile : tiles[s.cells() > 30 ? 0 : kernel++ % 2]) {
      if (s.cells() > 30 && tile[1] > 1) continue;
      const Images layout = s.channels < 5 ? Images::Planar : Images::ChannelsInnermost;
      EXPECT_LE(error_of(s, tile, Data::Noise, layout, host()), 1)
          << text(s) << ", tile " << tile[0] << "x" << tile[1];
    }
  }
}

TEST(winograd, narrow_images_of_few_channels) {
  for (const Shape &s : kNarrow) {
    for (const Sizes &tile : {Sizes{4, 1}, Sizes{2, 2}}) {
      EXPECT_LE(error_of(s, tile, Data::Noise, Images::Planar, host()), 1)
          << text(s) << ", tile " << tile[0] << "x" << tile[1];
    }
  }
}

TEST(winograd, planar_images) {
  for (size_t i = 0; i < 3; i++) {
    EXPECT_LE(error_of(kShapes[i], {2, 2}, Data::Noise, Images::Planar, host()), 1)
        << text(kShapes[i]);
  }
}

TEST(winograd, on_processors_with_few_registers) {
  const std::vector<Target::Feature> features{Target::SSE41, Target::AVX, Target::AVX2, Target::FMA,
                                              Target::F16C};
  if (host().arch != Target::X86 || !host().features_all_of(features)) GTEST_SKIP();
  const Target avx2(host().os, Target::X86, 64, features);
  for (const Shape &s : {kShapes[1], kShapes[2]}) {
    EXPECT_LE(error_of(s, {2, 2}, Data::Noise, Images::ChannelsInnermost, avx2), 1) << text(s);
  }
  EXPECT_LE(error_of(kOtherKernels[0], {4, 1}, Data::Noise, Images::Planar, avx2), 1);
}

// The root of the sum of squared errors, of winograd() with a tile over that of convolution().
double error_over_direct(const Shape &s, const Sizes &tile) {
  const Problem p(s, tile, Data::Noise);
  ImageParam x(Float(32), 4, "x"), w(Float(32), 4, "w");
  x.set(laid_out(p.x, 1, s.channels, s.rows, s.columns, Images::ChannelsInnermost));
  w.set(laid_out(p.w, s.results, s.channels, s.kernel[0], s.kernel[1], Images::Planar));
  const ops::Tensor image(x, {1, s.channels, s.rows, s.columns}, {1, 3, 2, 0});
  const ops::Tensor plain(w, {s.results, s.channels, s.kernel[0], s.kernel[1]});
  const int width = ops::strip_width(s.results, Float(32), host());
  const auto error = [&](const ops::Tensor &y) {
    Func out = ops::materialize({y}, {"y"}, {{1, 3, 2, 0}}, host())[0];
    const Buffer<float> got = out.realize({s.results, s.across(), s.down(), 1}, host());
    double sum = 0;
    for (int r = 0; r < s.results; r++)
      for (int i = 0; i < s.down(); i++)
        for (int j = 0; j < s.across(); j++) {
          const double apart = got(r, j, i, 0) - p.y[p.place(0, r, i, j)];
          sum += apart * apart;
        }
    return std::sqrt(sum);
  };
  const double direct = error(ops::convolution(
      image, ops::stored(ops::kernel_strips(plain, width), "strips"), s.results, window_of(s)));
  const double tiled = error(ops::winograd(
      image, ops::stored(ops::winograd_kernels(plain, window_of(s), tile, width), "kernels"),
      s.results, window_of(s), tile));
  EXPECT_GT(tiled, 0);
  return tiled / direct;
}

// What the header says of errors in practice.
TEST(winograd, errors_are_a_few_times_those_of_the_direct_form) {
  EXPECT_LE(error_over_direct({128, 64, 14, 14}, {4, 4}), 15);
  EXPECT_LE(error_over_direct({128, 64, 14, 14}, {2, 2}), 2);
  EXPECT_LE(error_over_direct({3, 64, 64, 64, {7, 7}, {2, 2}, 3, 3}, {4, 1}), 4);
  EXPECT_LE(error_over_direct({128, 64, 28, 28, kThree, {2, 2}, 1, 1}, {4, 2}), 3);
  EXPECT_LE(error_over_direct({32, 32, 16, 16, {5, 5}, {1, 1}, 2, 2}, {4, 1}), 4);
  EXPECT_LE(error_over_direct({64, 32, 17, 17, {1, 7}, {1, 1}, 3, 3}, {1, 4}), 4);
}

TEST(winograd, tiles_are_chosen_by_kernel_channels_and_pixels) {
  const auto tile = [](int channels, int results, int size, int stride = 1, Sizes kernel = kThree,
                       int dilation = 1) {
    const ops::Window w{kernel, {stride, stride}, {dilation, dilation}, {1, 1}, {size, size}};
    return ops::winograd_tile(channels, results, w);
  };
  EXPECT_EQ(tile(64, 64, 56), (Sizes{2, 2}));
  EXPECT_EQ(tile(256, 256, 14), (Sizes{2, 2}));
  EXPECT_EQ(tile(512, 512, 7), (Sizes{2, 1}));
  EXPECT_EQ(tile(512, 512, 5), Sizes{});
  EXPECT_EQ(tile(3, 64, 224), Sizes{});
  EXPECT_EQ(tile(128, 128, 28, 2), (Sizes{4, 2}));
  EXPECT_EQ(tile(256, 256, 14, 2), (Sizes{2, 2}));
  EXPECT_EQ(tile(512, 512, 7, 2), Sizes{});
  EXPECT_EQ(tile(64, 64, 56, 1, kThree, 2), Sizes{});
  EXPECT_EQ(tile(3, 64, 112, 2, {7, 7}), (Sizes{4, 1}));
  EXPECT_EQ(tile(64, 64, 17, 1, {1, 7}), (Sizes{1, 4}));
  EXPECT_EQ(tile(64, 64, 17, 1, {1, 3}), (Sizes{1, 2}));
  EXPECT_EQ(tile(3, 8, 112, 2, {7, 7}), Sizes{});
  // Cells of one window that are a stride apart: three, two, and one, which is no gain.
  EXPECT_EQ(tile(3, 64, 55, 4, {11, 11}), (Sizes{4, 1}));
  EXPECT_EQ(tile(3, 64, 56, 4, {7, 7}), (Sizes{4, 1}));
  EXPECT_EQ(tile(64, 64, 14, 4, {5, 5}), Sizes{});
  EXPECT_EQ(tile(3, 192, 14, 16, {16, 16}), Sizes{});
  EXPECT_EQ(tile(3, 64, 112, 2, {70, 1}), Sizes{});
}

TEST(winograd, other_windows_are_refused) {
  ImageParam x(Float(32), 4, "x"), u(Float(32), 5, "u");
  const ops::Tensor image(x, {1, 8, 10, 10}), kernels(u, {1, 4, 4, 8, 16});
  const ops::Window dilated{{3, 3}, {1, 1}, {2, 2}, {1, 1}, {8, 8}};
  const auto refusal = [&](int results, const ops::Window &window, const Sizes &tile) {
    return message_of([&] { ops::winograd(image, kernels, results, window, tile); });
  };
  EXPECT_NE(refusal(16, dilated, {2, 2}).find("a convolution has no Winograd form"),
            std::string::npos);
  const ops::Window plain{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {10, 10}};
  EXPECT_NE(refusal(16, plain, {3, 3}).find("Winograd's form has tiles of 3 x 3 results"),
            std::string::npos);
  EXPECT_NE(refusal(16, plain, {1, 1}).find("Winograd's form has tiles of 1 x 1 results"),
            std::string::npos);
  EXPECT_NE(refusal(16, plain, {2}).find("Winograd's form has tiles of 2 results"),
            std::string::npos);
  EXPECT_NE(refusal(17, plain, {2, 2})
                .find("the transformed kernels do not hold 17 results of 4 x 4 places"),
            std::string::npos);
  EXPECT_NE(refusal(16, plain, {2, 1})
                .find("the transformed kernels do not hold 16 results of 4 x 3 places"),
            std::string::npos);
}

}  // namespace
}  // namespace polyhalite::winograd_test
