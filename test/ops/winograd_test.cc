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

namespace polyhalite {
namespace {

using Matrix = std::vector<std::vector<double>>;

struct Shape {
  int channels, results, rows, columns;
  int before = 1, after = 1;  // padding in both dimensions
  int images = 1;

  int down() const { return rows + before + after - 2; }
  int across() const { return columns + before + after - 2; }
};

std::string text(const Shape &s) {
  return std::to_string(s.channels) + " to " + std::to_string(s.results) + ", " +
         std::to_string(s.rows) + "x" + std::to_string(s.columns) + ", padding " +
         std::to_string(s.before) + " and " + std::to_string(s.after);
}

// Tiles that fit and that do not, in rows and in columns; strips that are not full; several blocks
// of rows; no border; fewer channels than a vector has lanes.
const Shape kShapes[] = {
    {32, 32, 12, 12},         {64, 64, 28, 28},       {40, 70, 13, 17},           {5, 20, 9, 10},
    {48, 16, 7, 40, 0, 0, 2}, {16, 130, 21, 6, 2, 0}, {128, 64, 14, 14, 1, 1, 3}, {33, 9, 3, 3},
    {64, 24, 60, 4},
};

enum class Data { Noise, Cancelling };
enum class Images { ChannelsInnermost, Planar };

Matrix input_transform(int tile) {
  if (tile == 2) return {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
  return {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
          {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
}
Matrix result_transform(int tile) {
  if (tile == 2) return {{1, 1, 1, 0}, {0, 1, -1, -1}};
  return {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};
}

// |m| v |m|' of absolute values.
Matrix magnified(const Matrix &m, const Matrix &v) {
  Matrix out(m.size(), std::vector<double>(m.size(), 0));
  for (size_t i = 0; i < m.size(); i++) {
    for (size_t j = 0; j < m.size(); j++) {
      for (size_t a = 0; a < v.size(); a++) {
        for (size_t b = 0; b < v.size(); b++) out[i][j] += std::abs(m[i][a] * v[a][b] * m[j][b]);
      }
    }
  }
  return out;
}

// Images [image][channel][row][column] and kernels [result][channel][row][column], exact results,
// and the bound of each result's error but for the units of rounding.
struct Problem {
  Shape s;
  std::vector<float> x, w;
  std::vector<double> y, bound;

  Problem(const Shape &shape, int tile, Data data) : s(shape) {
    std::mt19937 engine(11);
    std::uniform_real_distribution<float> values(-1, 1);
    x.resize(static_cast<size_t>(s.images) * s.channels * s.rows * s.columns);
    w.resize(static_cast<size_t>(s.results) * s.channels * 9);
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
    return w[((static_cast<size_t>(result) * s.channels + channel) * 3 + row) * 3 + column];
  }
  size_t place(int image, int result, int row, int column) const {
    return ((static_cast<size_t>(image) * s.results + result) * s.down() + row) * s.across() +
           column;
  }

  void compute_results() {
    y.assign(place(s.images, 0, 0, 0), 0);
    for (int n = 0; n < s.images; n++)
      for (int r = 0; r < s.results; r++)
        for (int i = 0; i < s.down(); i++)
          for (int j = 0; j < s.across(); j++)
            for (int c = 0; c < s.channels; c++)
              for (int cell = 0; cell < 9; cell++)
                y[place(n, r, i, j)] +=
                    pixel(n, c, i + cell / 3 - s.before, j + cell % 3 - s.before) *
                    weight(r, c, cell / 3, cell % 3);
  }

  void compute_bounds(int tile) {
    bound.assign(y.size(), 0);
    const Matrix b = input_transform(tile), a = result_transform(tile);
    const Matrix g = ops::winograd_kernel_transform(tile);
    const size_t size = b.size();
    std::vector<Matrix> kernels;
    for (int r = 0; r < s.results; r++) {
      for (int c = 0; c < s.channels; c++) {
        Matrix cells(3, std::vector<double>(3));
        for (int k = 0; k < 9; k++)
          cells[static_cast<size_t>(k / 3)][static_cast<size_t>(k % 3)] =
              std::abs(weight(r, c, k / 3, k % 3));
        kernels.push_back(magnified(g, cells));
      }
    }
    for (int n = 0; n < s.images; n++) {
      for (int top = 0; top < s.down(); top += tile) {
        for (int left = 0; left < s.across(); left += tile) {
          std::vector<Matrix> inputs;
          for (int c = 0; c < s.channels; c++) {
            Matrix cells(size, std::vector<double>(size));
            for (size_t i = 0; i < size; i++) {
              for (size_t j = 0; j < size; j++)
                cells[i][j] = std::abs(pixel(n, c, top + static_cast<int>(i) - s.before,
                                             left + static_cast<int>(j) - s.before));
            }
            inputs.push_back(magnified(b, cells));
          }
          for (int r = 0; r < s.results; r++) {
            Matrix sums(size, std::vector<double>(size, 0));
            for (int c = 0; c < s.channels; c++) {
              const Matrix &u = kernels[static_cast<size_t>(r * s.channels + c)];
              const Matrix &v = inputs[static_cast<size_t>(c)];
              for (size_t i = 0; i < size; i++)
                for (size_t j = 0; j < size; j++) sums[i][j] += u[i][j] * v[i][j];
            }
            const Matrix made = magnified(a, sums);
            for (int i = 0; i < tile && top + i < s.down(); i++)
              for (int j = 0; j < tile && left + j < s.across(); j++)
                bound[place(n, r, top + i, left + j)] =
                    made[static_cast<size_t>(i)][static_cast<size_t>(j)];
          }
        }
      }
    }
  }
};

const Target &host() {
  static const Target target = get_jit_target_from_environment();
  return target;
}

ops::Window window_of(const Shape &s) {
  return {{3, 3}, {1, 1}, {1, 1}, {s.before, s.before}, {s.down(), s.across()}};
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
double error_of(const Shape &s, int tile, Data data, Images layout, const Target &target) {
  const Problem p(s, tile, data);
  const std::vector<int> order =
      layout == Images::Planar ? std::vector<int>{3, 2, 1, 0} : std::vector<int>{1, 3, 2, 0};
  ImageParam x(Float(32), 4, "x"), w(Float(32), 4, "w");
  x.set(laid_out(p.x, s.images, s.channels, s.rows, s.columns, layout));
  w.set(laid_out(p.w, s.results, s.channels, 3, 3, Images::Planar));
  const ops::Tensor image(x, {s.images, s.channels, s.rows, s.columns}, order);
  const ops::Tensor plain(w, {s.results, s.channels, 3, 3});
  const int width = ops::strip_width(s.results, Float(32), target);
  const ops::Tensor kernels = ops::stored(ops::winograd_kernels(plain, tile, width), "kernels");
  ops::Tensor y = ops::winograd(image, kernels, s.results, window_of(s), tile);
  y = ops::elementwise(y, [](const Expr &v) { return max(v, 0.0f); });
  Func out = ops::materialize({y}, {"y"}, {order}, target)[0];
  const std::vector<int> shape{s.images, s.results, s.down(), s.across()};
  std::vector<int> sizes;
  for (int d : order) sizes.push_back(shape[static_cast<size_t>(d)]);
  const Buffer<float> got = out.realize(sizes, target);
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
          const double unit = std::numeric_limits<float>::epsilon() / 2;
          const double bound = (s.channels + 4 * (tile + 2)) * unit * p.bound[to];
          worst = std::max(worst, std::isfinite(apart) ? apart / std::max(bound, 1e-30) : 1e30);
        }
      }
    }
  }
  return worst;
}

TEST(winograd, tiles_of_two) {
  for (const Shape &s : kShapes) {
    for (const Data data : {Data::Noise, Data::Cancelling}) {
      EXPECT_LE(error_of(s, 2, data, Images::ChannelsInnermost, host()), 1) << text(s);
    }
  }
}

TEST(winograd, tiles_of_four) {
  for (const Shape &s : {kShapes[3], kShapes[5], kShapes[7]}) {
    EXPECT_LE(error_of(s, 4, Data::Cancelling, Images::ChannelsInnermost, host()), 1) << text(s);
  }
}

TEST(winograd, planar_images) {
  for (size_t i = 0; i < 3; i++) {
    EXPECT_LE(error_of(kShapes[i], 2, Data::Noise, Images::Planar, host()), 1) << text(kShapes[i]);
  }
}

TEST(winograd, on_processors_with_few_registers) {
  const std::vector<Target::Feature> features{Target::SSE41, Target::AVX, Target::AVX2, Target::FMA,
                                              Target::F16C};
  if (host().arch != Target::X86 || !host().features_all_of(features)) GTEST_SKIP();
  const Target avx2(host().os, Target::X86, 64, features);
  for (const Shape &s : {kShapes[1], kShapes[2]}) {
    EXPECT_LE(error_of(s, 2, Data::Noise, Images::ChannelsInnermost, avx2), 1) << text(s);
  }
}

// Errors of tiles of 2 are those of plain sums: no more than twice the direct form's on noise.
TEST(winograd, tiles_of_two_are_as_exact_as_the_direct_form) {
  const Shape s{128, 64, 14, 14};
  const Problem p(s, 2, Data::Noise);
  ImageParam x(Float(32), 4, "x"), w(Float(32), 4, "w");
  x.set(laid_out(p.x, 1, s.channels, s.rows, s.columns, Images::ChannelsInnermost));
  w.set(laid_out(p.w, s.results, s.channels, 3, 3, Images::Planar));
  const ops::Tensor image(x, {1, s.channels, s.rows, s.columns}, {1, 3, 2, 0});
  const ops::Tensor plain(w, {s.results, s.channels, 3, 3});
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
  const double tiled =
      error(ops::winograd(image, ops::stored(ops::winograd_kernels(plain, 2, width), "kernels"),
                          s.results, window_of(s), 2));
  EXPECT_LE(tiled, 2 * direct);
  EXPECT_GT(tiled, 0);
}

TEST(winograd, gains_where_channels_and_pixels_are_many) {
  const auto gains = [](int channels, int results, int size, int stride = 1, int kernel = 3) {
    const ops::Window w{{kernel, kernel}, {stride, stride}, {1, 1}, {1, 1}, {size, size}};
    return ops::gains_by_winograd(channels, results, w);
  };
  EXPECT_TRUE(gains(64, 64, 56));
  EXPECT_TRUE(gains(256, 256, 14));
  EXPECT_FALSE(gains(512, 512, 7));
  EXPECT_FALSE(gains(3, 64, 224));
  EXPECT_FALSE(gains(64, 64, 56, 2));
  EXPECT_FALSE(gains(64, 64, 56, 1, 5));
}

std::string what_refuses(const std::function<void()> &f) {
  try {
    f();
  } catch (const CompileError &e) {
    return e.what();
  }
  return "";
}

TEST(winograd, other_windows_are_refused) {
  ImageParam x(Float(32), 4, "x"), u(Float(32), 5, "u");
  const ops::Tensor image(x, {1, 8, 10, 10}), kernels(u, {1, 4, 4, 8, 16});
  const ops::Window strided{{3, 3}, {2, 2}, {1, 1}, {1, 1}, {5, 5}};
  EXPECT_NE(what_refuses([&] {
              ops::winograd(image, kernels, 16, strided, 2);
            }).find("a convolution has no Winograd form"),
            std::string::npos);
  const ops::Window plain{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {10, 10}};
  EXPECT_NE(what_refuses([&] {
              ops::winograd(image, kernels, 16, plain, 3);
            }).find("Winograd's form has tiles of 3 x 3 results"),
            std::string::npos);
  EXPECT_NE(what_refuses([&] {
              ops::winograd(image, kernels, 17, plain, 2);
            }).find("the transformed kernels do not hold 17 results"),
            std::string::npos);
}

}  // namespace
}  // namespace polyhalite
