// ops::convolution with the library's schedules against plain loops in double precision: kernels as
// they are and in strips, of one, two and three spatial dimensions, with odd sizes.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "test/lang/messages.h"
#include "test/ops/convolution_shape.h"

namespace polyhalite::convolution_test {
namespace {

// Register tiles that fit and that do not, strips that are not full, blocks of long sums, borders
// by rows and whole, few channels.
std::vector<Shape> shapes() {
  std::vector<Shape> list = {
      square(3, 64, 30, 7, 2),
      square(16, 16, 7, 1),
      square(5, 24, 9, 3),
      square(64, 96, 14, 3),
      square(128, 64, 7, 3),
      square(300, 33, 5, 1),
      square(1024, 70, 3, 1),
      square(32, 130, 13, 3, 2),
      square(7, 1, 11, 5),
      square(1, 9, 6, 3),
      square(32, 32, 40, 3, 1, 32),
      square(48, 48, 35, 3, 2, 48),
      square(5, 5, 17, 5, 1, 5),
      square(12, 24, 10, 3, 1, 3),
      square(6, 12, 8, 3, 1, 6),
      square(8, 4, 8, 3, 1, 4),
      square(200, 17, 1, 1),
      square(64, 48, 15, 1, 2),
      {40, 96, 1, {9, 20}, {1, 1}, {1, 3}, {1, 1}, {0, 0}, {0, 0}, 2},
      {40, 8, 1, {2, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 3},
      {16, 40, 1, {3, 5, 6}, {1, 1, 1}, {1, 1, 2}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
      {16, 24, 1, {9, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      square(32, 3, 24, 9),
      square(20, 4, 33, 3),
      square(64, 2, 16, 1),
      square(3, 1, 40, 3),
      {64, 48, 1, {40, 1}, {5, 1}, {1, 1}, {1, 1}, {2, 0}, {2, 0}},
      {24, 24, 24, {1, 40, 1}, {1, 3, 1}, {1, 2, 1}, {1, 1, 1}, {0, 1, 0}, {0, 1, 0}},
      square(100, 100, 33, 3, 1, 100),
      square(512, 512, 14, 3, 1, 512),
      square(1024, 1024, 8, 5, 2, 1024),
      {512, 512, 512, {15, 9}, {3, 3}, {1, 2}, {2, 1}, {2, 1}, {1, 2}, 2},
      {4, 20, 1, {50}, {9}, {2}, {1}, {3}, {5}},
      {6, 18, 1, {31}, {3}, {1}, {4}, {4}, {4}, 2},
      {6, 12, 2, {5, 6, 7}, {3, 2, 1}, {1, 2, 1}, {1, 1, 1}, {1, 0, 0}, {1, 1, 0}},
      {20, 34, 1, {4, 5, 9}, {2, 3, 3}, {1, 1, 2}, {1, 2, 1}, {0, 2, 1}, {1, 2, 1}, 2},
      {10, 40, 1, {12, 15}, {3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}, 3},
      {10, 40, 1, {12, 15}, {2, 3}, {3, 2}, {1, 1}, {0, 1}, {0, 0}},
  };
  std::mt19937 engine(7);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(engine);
  };
  for (int i = 0; i < 12; i++) {
    Shape s;
    s.groups = draw(0, 2) == 0 ? draw(2, 5) : 1;
    s.channels = s.groups * draw(1, 20);
    s.results = s.groups * draw(1, 40);
    s.images = draw(1, 2);
    for (int d = 0; d < 2; d++) {
      s.kernel.push_back(draw(1, 4));
      s.dilation.push_back(draw(1, 2));
      s.stride.push_back(draw(1, 3));
      s.before.push_back(draw(0, 3));
      s.after.push_back(draw(0, 3));
      s.size.push_back((s.kernel.back() - 1) * s.dilation.back() + draw(1, 30));
    }
    list.push_back(s);
  }
  return list;
}

enum class Kernels { Plain, Strips, AlongRows, Product, ProductOfStrips };
enum class Images { ChannelsInnermost, Planar };

// Dimension k (0 is innermost) of images in memory.
std::vector<int> order_of(Images images, int spatial) {
  std::vector<int> order;
  if (images == Images::ChannelsInnermost) order.push_back(1);
  for (int d = spatial + 1; d >= 2; d--) order.push_back(d);
  if (images == Images::Planar) order.push_back(1);
  order.push_back(0);
  return order;
}

// Numbers in row-major order of [image, channel, ...], put into a buffer of that layout.
Buffer<float> laid_out(const std::vector<float> &values, const std::vector<int> &shape,
                       const std::vector<int> &order) {
  std::vector<int> sizes;
  for (int d : order) sizes.push_back(shape[static_cast<size_t>(d)]);
  Buffer<float> b(sizes);
  b.for_each_element([&](const int *at) {
    size_t i = 0;
    for (size_t d = 0; d < shape.size(); d++) {
      size_t k = 0;
      while (order[k] != static_cast<int>(d)) k++;
      i = i * static_cast<size_t>(shape[d]) + static_cast<size_t>(at[k]);
    }
    b(at) = values[i];
  });
  return b;
}

std::vector<float> noise(const std::vector<int> &shape, uint32_t seed) {
  size_t n = 1;
  for (int d : shape) n *= static_cast<size_t>(d);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> list(n);
  for (float &v : list) v = values(engine);
  return list;
}

// Calls f with each point of the box, in row-major order.
void for_each(const std::vector<int> &shape,
              const std::function<void(const std::vector<int> &)> &f) {
  std::vector<int> at(shape.size(), 0);
  for (int d : shape) {
    if (d == 0) return;
  }
  while (true) {
    f(at);
    size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

size_t flat(const std::vector<int> &shape, const std::vector<int> &at) {
  size_t i = 0;
  for (size_t d = 0; d < shape.size(); d++)
    i = i * static_cast<size_t>(shape[d]) + static_cast<size_t>(at[d]);
  return i;
}

struct Problem {
  explicit Problem(const Shape &s) {
    const int n = s.spatial();
    x_shape = {s.images, s.channels};
    w_shape = {s.results, s.channels / s.groups};
    y_shape = {s.images, s.results};
    for (int d = 0; d < n; d++) {
      x_shape.push_back(s.size[static_cast<size_t>(d)]);
      w_shape.push_back(s.kernel[static_cast<size_t>(d)]);
      y_shape.push_back(s.result_size(d));
    }
    x = noise(x_shape, 1);
    w = noise(w_shape, 2);
    for_each(y_shape, [&](const std::vector<int> &at) {
      double sum = 0, size = 0;
      const int group = at[1] / (s.results / s.groups);
      const std::vector<int> cells(w_shape.begin() + 1, w_shape.end());
      for_each(cells, [&](const std::vector<int> &cell) {
        std::vector<int> pixel{at[0], group * w_shape[1] + cell[0]}, weight{at[1]};
        weight.insert(weight.end(), cell.begin(), cell.end());
        for (int d = 0; d < n; d++) {
          const auto i = static_cast<size_t>(d);
          const int p = at[i + 2] * s.stride[i] + cell[i + 1] * s.dilation[i] - s.before[i];
          if (p < 0 || p >= s.size[i]) return;
          pixel.push_back(p);
        }
        const double term = static_cast<double>(x[flat(x_shape, pixel)]) * w[flat(w_shape, weight)];
        sum += term;
        size += std::abs(term);
      });
      y.push_back(sum);
      magnitude.push_back(size);
    });
    for (int d : std::vector<int>(w_shape.begin() + 1, w_shape.end())) terms *= d;
  }
  std::vector<int> x_shape, w_shape, y_shape;
  std::vector<float> x, w;
  std::vector<double> y, magnitude;
  double terms = 1;
};

const Target &host() {
  static const Target target = get_jit_target_from_environment();
  return target;
}

ops::Window window_of(const Shape &s) {
  ops::Window w{s.kernel, s.stride, s.dilation, s.before, {}};
  for (int d = 0; d < s.spatial(); d++) w.shape.emplace_back(s.result_size(d));
  return w;
}

ops::Index index(const std::vector<int> &v) { return ops::Index(v.begin(), v.end()); }

// The largest error over the bound that holds for any order of the sum:
// |error| <= terms * epsilon * sum of |terms|.
// `open`: the number and the sizes of images are known at run time only.
double error_of(const Shape &s, Kernels kernels, Images images, bool epilogue, const Target &target,
                bool open = false) {
  const Problem p(s);
  const std::vector<int> order = order_of(images, s.spatial());
  ImageParam x(Float(32), s.spatial() + 2, "x"), w(Float(32), s.spatial() + 2, "w");
  x.set(laid_out(p.x, p.x_shape, order));
  std::vector<int> kernel_order;
  for (int d = 0; d < s.spatial() + 2; d++) kernel_order.push_back(d);
  if (kernels == Kernels::Product) std::reverse(kernel_order.begin(), kernel_order.end());
  w.set(laid_out(p.w, p.w_shape, kernel_order));
  ops::Index x_sizes = index(p.x_shape);
  ops::Window window = window_of(s);
  for (size_t d = 0; open && d < x_sizes.size(); d++) {
    if (d == 1) continue;
    Param<int> size("size" + std::to_string(d));
    size.set(p.x_shape[d]);
    x_sizes[d] = size;
    if (d == 0) continue;
    const size_t i = d - 2;
    const int cells = (s.kernel[i] - 1) * s.dilation[i] + 1;
    window.shape[i] = (size + (s.before[i] + s.after[i] - cells)) / s.stride[i] + 1;
  }
  const ops::Tensor image(x, x_sizes, order), plain(w, index(p.w_shape), kernel_order);
  ops::Tensor y;
  if (kernels == Kernels::Strips || kernels == Kernels::ProductOfStrips) {
    const int width = ops::strip_width(s.results, Float(32), target);
    const ops::Tensor strips = ops::stored(ops::kernel_strips(plain, width), "strips");
    y = kernels == Kernels::Strips ? ops::convolution(image, strips, s.results, window)
                                   : ops::convolution_by_product(image, strips, s.results, window);
  } else if (kernels == Kernels::AlongRows) {
    y = ops::depthwise_along_rows(image, plain, window);
  } else if (kernels == Kernels::Product) {
    y = ops::convolution_by_product(image, plain, window);
  } else {
    y = ops::convolution(image, plain, window, s.groups);
  }
  if (epilogue) {
    y = ops::elementwise(y, [](const Expr &v) { return max(v, 0.0f) + 1.0f; });
  }
  Func out = ops::materialize({y}, {"y"}, {order}, target)[0];
  std::vector<int> sizes;
  for (int d : order) sizes.push_back(p.y_shape[static_cast<size_t>(d)]);
  const Buffer<float> got = out.realize(sizes, target);
  const Buffer<float> place = laid_out(std::vector<float>(p.y.size(), 0), p.y_shape, order);
  double worst = 0;
  std::vector<int> at(order.size());
  for_each(p.y_shape, [&](const std::vector<int> &point) {
    for (size_t k = 0; k < order.size(); k++) at[k] = point[static_cast<size_t>(order[k])];
    const size_t i = flat(p.y_shape, point);
    const double wanted = epilogue ? std::max(p.y[i], 0.0) + 1 : p.y[i];
    const double apart = std::abs(got(at.data()) - wanted);
    const double epsilon = std::numeric_limits<float>::epsilon();
    const double bound = p.terms * epsilon * p.magnitude[i] + (epilogue ? epsilon * wanted : 0);
    worst = std::max(worst, std::isfinite(apart) ? apart / std::max(bound, 1e-30) : 1e30);
  });
  return worst;
}

// Channels of a row-major image that several strips read are copied side by side, and others not.
TEST(convolution, planar_images_of_several_strips_are_turned) {
  const auto is_turned = [](const Shape &s, int width, Images images) {
    const std::vector<int> order = order_of(images, s.spatial());
    ImageParam x(Float(32), 4, "x"), w(Float(32), 4, "w");
    const ops::Tensor image(x, index({1, s.channels, s.size[0], s.size[1]}), order);
    const ops::Tensor plain(w, index({s.results, s.channels, s.kernel[0], s.kernel[1]}),
                            {3, 2, 1, 0});
    const ops::Tensor y =
        ops::convolution(image, ops::kernel_strips(plain, width), s.results, window_of(s));
    return std::any_of(y.stages().begin(), y.stages().end(), [](const ops::Stage &stage) {
      return stage.kind == ops::Stage::Store &&
             stage.func.name().find("pixels") != std::string::npos;
    });
  };
  EXPECT_TRUE(is_turned(square(32, 48, 9, 1), 16, Images::Planar));
  EXPECT_FALSE(is_turned(square(32, 48, 9, 1), 16, Images::ChannelsInnermost));
  EXPECT_FALSE(is_turned(square(32, 32, 9, 1), 16, Images::Planar));
  EXPECT_FALSE(is_turned(square(32, 48, 9, 1, 2), 16, Images::Planar));
  EXPECT_FALSE(is_turned(square(32, 48, 9, 3), 16, Images::Planar));
}

TEST(convolution, kernels_as_they_are) {
  for (const Shape &s : shapes()) {
    EXPECT_LE(error_of(s, Kernels::Plain, Images::ChannelsInnermost, false, host()), 1) << text(s);
  }
}

TEST(convolution, kernels_in_strips) {
  for (const Shape &s : shapes()) {
    if (s.groups > 1) continue;
    EXPECT_LE(error_of(s, Kernels::Strips, Images::ChannelsInnermost, false, host()), 1) << text(s);
  }
}

// Every second shape.
std::vector<Shape> some_shapes() {
  const std::vector<Shape> all = shapes();
  std::vector<Shape> list;
  for (size_t i = 0; i < all.size(); i += 2) list.push_back(all[i]);
  return list;
}

TEST(convolution, by_products_of_windows) {
  std::vector<Shape> list = some_shapes();
  // Windows of whole images, of one and of several.
  list.push_back({20, 33, 1, {4, 6}, {4, 6}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
  list.push_back({64, 100, 1, {8, 8}, {8, 8}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 8});
  list.push_back({300, 50, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
  for (const Shape &s : list) {
    if (s.groups > 1) continue;
    for (const Images images : {Images::Planar, Images::ChannelsInnermost}) {
      const bool epilogue = images == Images::Planar;
      EXPECT_LE(error_of(s, Kernels::Product, images, epilogue, host()), 1) << text(s);
    }
  }
}

// Rows of planes that follow each other are one, whatever their lengths: of one image and several,
// with columns that fill no vector, for registers of both kinds.
TEST(convolution, by_products_of_strips) {
  std::vector<Shape> list{square(1, 32, 28, 3),   square(3, 20, 33, 5, 2), square(4, 64, 41, 3),
                          square(20, 70, 32, 1),  square(5, 33, 13, 3, 1), square(2, 40, 3, 1),
                          square(3, 48, 19, 4, 3)};
  list.push_back({1, 80, 1, {900}, {10}, {5}, {1}, {0}, {0}, 2});
  list.push_back({6, 50, 1, {333}, {3}, {1}, {2}, {2}, {2}});
  list.push_back({3, 17, 1, {9, 14}, {2, 3}, {1, 2}, {1, 1}, {0, 1}, {1, 1}, 3});
  list.push_back({2, 24, 1, {4, 5, 9}, {2, 3, 3}, {1, 1, 2}, {1, 2, 1}, {0, 2, 1}, {1, 2, 1}, 2});
  const Target narrow("x86-64-linux-sse41-avx-avx2-fma-f16c");
  for (const Shape &s : list) {
    for (const bool epilogue : {false, true}) {
      for (const Target &target : {host(), narrow}) {
        EXPECT_LE(error_of(s, Kernels::ProductOfStrips, Images::Planar, epilogue, target), 1)
            << text(s);
      }
    }
  }
}

// Of many pixels, for results that are many beside what each pixel's window has.
TEST(convolution, gains_by_product) {
  const auto gains = [](const Shape &s, Images images) {
    ImageParam x(Float(32), 4, "x");
    const std::vector<int> sizes{s.images, s.channels, s.size[0], s.size[1]};
    return ops::gains_by_product(ops::Tensor(x, index(sizes), order_of(images, 2)), s.results,
                                 window_of(s));
  };
  EXPECT_TRUE(gains(square(64, 256, 56, 1), Images::Planar));
  EXPECT_TRUE(gains(square(3, 32, 224, 3, 2), Images::Planar));
  EXPECT_FALSE(gains(square(256, 64, 56, 1), Images::Planar));
  EXPECT_FALSE(gains(square(64, 256, 28, 1), Images::Planar));
  EXPECT_FALSE(gains(square(3, 64, 224, 7, 2), Images::Planar));
  EXPECT_FALSE(gains(square(3, 16, 224, 3), Images::Planar));
  EXPECT_FALSE(gains(square(64, 256, 56, 1), Images::ChannelsInnermost));
}

// A number of terms without divisors is one chain, not blocks of a term.
TEST(convolution, terms_that_nothing_divides) {
  const auto has_blocks = [](int channels) {
    const Shape s = square(channels, 32, 9, 1);
    ImageParam x(Float(32), 4, "x"), w(Float(32), 4, "w");
    const std::vector<int> order = order_of(Images::ChannelsInnermost, 2);
    const ops::Tensor image(x, index({1, s.channels, 9, 9}), order);
    const ops::Tensor plain(w, index({s.results, s.channels, 1, 1}), {3, 2, 1, 0});
    const ops::Tensor y =
        ops::convolution(image, ops::kernel_strips(plain, 16), s.results, window_of(s));
    Func out = ops::materialize({y}, {"y"}, {order}, host())[0];
    testing::internal::CaptureStderr();
    out.print_loop_nest();
    return testing::internal::GetCapturedStderr().find("blocks") != std::string::npos;
  };
  EXPECT_TRUE(has_blocks(512));
  EXPECT_FALSE(has_blocks(509));
}

TEST(convolution, epilogue) {
  for (const Shape &s : some_shapes()) {
    const Kernels kernels = s.groups > 1 ? Kernels::Plain : Kernels::Strips;
    EXPECT_LE(error_of(s, kernels, Images::ChannelsInnermost, true, host()), 1) << text(s);
  }
}

TEST(convolution, planar_images) {
  for (const Shape &s : some_shapes()) {
    const Kernels kernels = s.groups > 1 ? Kernels::Plain : Kernels::Strips;
    EXPECT_LE(error_of(s, kernels, Images::Planar, false, host()), 1) << text(s);
  }
}

// Vectors along the image's rows, of planes and of channels side by side, with and without an
// epilogue.
TEST(convolution, few_results) {
  std::vector<Shape> list{square(32, 3, 24, 9), square(20, 4, 33, 3), square(64, 2, 16, 1)};
  list.push_back({12, 2, 1, {50}, {5}, {1}, {2}, {3}, {2}, 2});
  list.push_back({6, 3, 1, {5, 6, 20}, {2, 3, 3}, {1, 2, 1}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}});
  for (const Shape &s : list) {
    for (const Images images : {Images::Planar, Images::ChannelsInnermost}) {
      for (const bool epilogue : {false, true}) {
        EXPECT_LE(error_of(s, Kernels::Plain, images, epilogue, host()), 1) << text(s);
      }
    }
  }
}

// Depthwise, of planes: with and without borders, rows that fill vectors and that do not.
TEST(convolution, depthwise_along_rows) {
  std::vector<Shape> list{square(20, 20, 24, 3, 1, 20), square(7, 7, 33, 3, 2, 7),
                          square(3, 3, 9, 5, 1, 3)};
  list.push_back({6, 6, 6, {31}, {3}, {1}, {4}, {4}, {0}, 2});
  list.push_back({5, 5, 5, {5, 6, 20}, {2, 3, 1}, {1, 2, 1}, {1, 1, 1}, {0, 1, 0}, {1, 1, 0}});
  list.push_back({9, 9, 9, {12, 19}, {3, 2}, {1, 3}, {2, 1}, {0, 1}, {3, 0}, 3});
  for (const Shape &s : list) {
    for (const bool epilogue : {false, true}) {
      EXPECT_LE(error_of(s, Kernels::AlongRows, Images::Planar, epilogue, host()), 1) << text(s);
    }
  }
}

// Where it gains: few cells of long rows of planes, with a stride of large images.
TEST(convolution, rows_of_depthwise_planes) {
  const auto gains = [](const Shape &s, Images images) {
    ImageParam x(Float(32), 4, "x");
    const std::vector<int> sizes{s.images, s.channels, s.size[0], s.size[1]};
    return ops::gains_along_rows(ops::Tensor(x, index(sizes), order_of(images, 2)), window_of(s));
  };
  EXPECT_TRUE(gains(square(192, 192, 80, 3, 1, 192), Images::Planar));
  EXPECT_TRUE(gains(square(96, 96, 112, 3, 2, 96), Images::Planar));
  EXPECT_FALSE(gains(square(96, 96, 56, 3, 2, 96), Images::Planar));
  EXPECT_FALSE(gains(square(960, 960, 7, 3, 1, 960), Images::Planar));
  EXPECT_FALSE(gains(square(64, 64, 56, 5, 1, 64), Images::Planar));
  EXPECT_FALSE(gains(square(192, 192, 80, 3, 1, 192), Images::ChannelsInnermost));
}

// Borders on some sides of few rows and of few tiles, whose loops are cut where there is one.
TEST(convolution, depthwise_images_with_borders_on_some_sides) {
  for (const int rows : {2, 7, 28}) {
    for (const int columns : {14, 35}) {
      for (const auto &[down, across] : {std::pair{3, 3}, {3, 1}, {1, 3}}) {
        for (const auto &[before, after] : {std::pair{1, 1}, {0, 1}}) {
          const Shape s{24,
                        24,
                        24,
                        {rows + down - 1, columns + across - 1},
                        {down, across},
                        {1, 1},
                        {1, 1},
                        {down > 1 ? before : 0, across > 1 ? before : 0},
                        {down > 1 ? after : 0, across > 1 ? after : 0}};
          EXPECT_LE(error_of(s, Kernels::Plain, Images::ChannelsInnermost, true, host()), 1)
              << text(s);
        }
      }
    }
  }
}

// No row of tiles lies inside of what each window sees, so that there is none to cut loops around.
TEST(convolution, windows_that_all_reach_beyond_the_image) {
  for (const int groups : {2, 16}) {
    const Shape s{16, groups, groups, {2, 1}, {2, 2}, {1, 1}, {2, 2}, {1, 1}, {3, 1}};
    EXPECT_LE(error_of(s, Kernels::Plain, Images::ChannelsInnermost, true, host()), 1) << text(s);
  }
}

TEST(convolution, open_sizes) {
  for (const Shape &s : some_shapes()) {
    const Kernels kernels = s.groups > 1 ? Kernels::Plain : Kernels::Strips;
    EXPECT_LE(error_of(s, kernels, Images::ChannelsInnermost, true, host(), true), 1) << text(s);
    if (s.groups > 1) continue;
    EXPECT_LE(error_of(s, Kernels::Product, Images::Planar, false, host(), true), 1) << text(s);
  }
}

TEST(convolution, one_after_the_other) {
  const Shape s = square(8, 8, 12, 3);
  const Problem p(s);
  Problem q(s);
  for (size_t i = 0; i < q.x.size(); i++) q.x[i] = static_cast<float>(p.y[i]);
  const std::vector<int> order = order_of(Images::ChannelsInnermost, 2);
  ImageParam x(Float(32), 4, "x"), w(Float(32), 4, "w");
  x.set(laid_out(p.x, p.x_shape, order));
  w.set(laid_out(p.w, p.w_shape, {3, 2, 1, 0}));
  const ops::Tensor plain(w, index(p.w_shape));
  const ops::Tensor strips = ops::kernel_strips(plain, 16);
  const ops::Tensor first =
      ops::convolution(ops::Tensor(x, index(p.x_shape), order), strips, 8, window_of(s));
  const ops::Tensor second = ops::convolution(first, strips, 8, window_of(s));
  Func out = ops::materialize({second}, {"y"}, {order}, host())[0];
  const Buffer<float> got = out.realize({8, 12, 12, 1}, host());
  for_each(p.y_shape, [&](const std::vector<int> &at) {
    double wanted = 0;
    for (int c = 0; c < 8; c++) {
      for (int ky = 0; ky < 3; ky++) {
        for (int kx = 0; kx < 3; kx++) {
          const int row = at[2] + ky - 1, column = at[3] + kx - 1;
          if (row < 0 || row > 11 || column < 0 || column > 11) continue;
          wanted +=
              p.y[flat(p.y_shape, {0, c, row, column})] * p.w[flat(p.w_shape, {at[1], c, ky, kx})];
        }
      }
    }
    EXPECT_NEAR(got(at[1], at[3], at[2], 0), wanted, 1e-3);
  });
}

TEST(convolution, strips_that_do_not_hold_the_results_are_refused) {
  ImageParam x(Float(32), 4, "x"), w(Float(32), 5, "w");
  const ops::Window window{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {4, 4}};
  const std::string message = message_of([&] {
    ops::convolution(ops::Tensor(x, {1, 8, 4, 4}), ops::Tensor(w, {2, 1, 1, 8, 16}), 33, window);
  });
  EXPECT_NE(message.find("33 results of kernels in 2 strips of 16"), std::string::npos) << message;
  EXPECT_NE(message.find("kernel_strips()"), std::string::npos) << message;
  Param<int> n("n");
  const std::string open =
      message_of([&] { ops::kernel_strips(ops::Tensor(x, {n, 8, 4, 4}), 16); });
  EXPECT_NE(open.find("strips of 16 of an open number"), std::string::npos) << open;
}

TEST(convolution, strips_have_few_empty_places) {
  const Target avx512(host().os, Target::X86, 64, {Target::AVX512_Skylake});
  const Target avx2(host().os, Target::X86, 64, {Target::AVX2, Target::FMA});
  EXPECT_EQ(ops::strip_width(64, Float(32), avx512), 64);
  EXPECT_EQ(ops::strip_width(96, Float(32), avx512), 48);
  EXPECT_EQ(ops::strip_width(24, Float(32), avx512), 32);
  EXPECT_EQ(ops::strip_width(144, Float(32), avx512), 48);
  for (const auto &[results, width] : std::map<int, int>{
           {8, 8}, {16, 16}, {24, 24}, {40, 16}, {48, 16}, {64, 16}, {72, 24}, {120, 24}})
    EXPECT_EQ(ops::strip_width(results, Float(32), avx2), width) << results;
  EXPECT_EQ(ops::strip_width(64, Float(64), avx512), 32);
}

// A register tile takes all registers and a few places on the stack. Vectors that lie across lines
// of the cache there would halve the speed.
TEST(convolution, spilled_vectors_are_aligned) {
  const Target avx512(host().os, Target::X86, 64, {Target::AVX512_Skylake});
  ImageParam x(Float(32), 4, "x"), w(Float(32), 5, "w");
  const ops::Window window{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {14, 14}};
  const ops::Tensor y = ops::convolution(ops::Tensor(x, {1, 64, 14, 14}, {1, 3, 2, 0}),
                                         ops::Tensor(w, {1, 1, 1, 64, 64}), 64, window);
  const Func out = ops::materialize({y}, {"y"}, {{1, 3, 2, 0}}, avx512)[0];
  const std::string assembly = out.emit_text(Emit::assembly, {x, w}, avx512);
  EXPECT_NE(assembly.find("64-byte Spill"), std::string::npos);
  EXPECT_NE(assembly.find("andq\t$-64, %rsp"), std::string::npos);
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("64-byte") == std::string::npos) continue;
    EXPECT_EQ(line.find("vmovups"), std::string::npos) << line;
  }
}

std::string loops_of_depthwise(int channels, int size) {
  const Target avx512(host().os, Target::X86, 64, {Target::AVX512_Skylake});
  ImageParam x(Float(32), 4, "x"), w(Float(32), 4, "w");
  const ops::Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {size, size}};
  const ops::Tensor y =
      ops::convolution(ops::Tensor(x, {1, channels, size, size}, {1, 3, 2, 0}),
                       ops::Tensor(w, {channels, 1, 3, 3}, {0, 1, 3, 2}), window, channels);
  Func out = ops::materialize({y}, {"y"}, {{1, 3, 2, 0}}, avx512)[0];
  const int sizes[] = {channels, size, size, 1};
  for (int d = 0; d < 4; d++) out.output_buffer().dim(d).set_bounds(0, sizes[d]);
  return out.emit_text(Emit::stmt, {x, w}, avx512);
}

// Rows that one thread fetches ahead are another one's where threads share rows: 4 times as slow.
TEST(convolution, threads_share_columns_of_depthwise_images) {
  const std::string loops = loops_of_depthwise(576, 14);
  EXPECT_NE(loops.find("columns in (0, 2) parallel"), std::string::npos) << loops;
  // One tile of columns: threads would share pixels.
  EXPECT_EQ(loops_of_depthwise(960, 7).find("parallel"), std::string::npos);
}

// Columns that lie in one or two sets of the first cache.
TEST(convolution, depthwise_images_are_copied_where_columns_collide) {
  EXPECT_EQ(loops_of_depthwise(576, 14).find("allocate padded"), std::string::npos);
  EXPECT_NE(loops_of_depthwise(512, 14).find("allocate padded"), std::string::npos);
}

// Pixels of an image, whose rows follow each other.
TEST(convolution, pointwise_layers_tile_pixels) {
  const auto loops = [](int kernel) {
    const Target target(host().os, Target::X86, 64, {Target::AVX2, Target::FMA});
    ImageParam x(Float(32), 4, "x"), w(Float(32), 5, "w");
    const int width = ops::strip_width(64, Float(32), target), before = kernel / 2;
    const ops::Window window{{kernel, kernel}, {1, 1}, {1, 1}, {before, before}, {28, 28}};
    const ops::Tensor y = ops::convolution(ops::Tensor(x, {1, 64, 28, 28}, {1, 3, 2, 0}),
                                           ops::Tensor(w, {64 / width, kernel, kernel, 64, width}),
                                           64, window, Float(32));
    Func out = ops::materialize({y}, {"y"}, {{1, 3, 2, 0}}, target)[0];
    return out.emit_text(Emit::stmt, {x, w}, target);
  };
  EXPECT_NE(loops(1).find("y.s0.pixel"), std::string::npos) << loops(1);
  EXPECT_EQ(loops(3).find("y.s0.pixel"), std::string::npos) << loops(3);
}

}  // namespace
}  // namespace polyhalite::convolution_test
