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

// Of bytes: exact, with padding that is the zero point.
TEST(byte_convolution, quantized_forms_are_exact) {
  std::vector<Shape> list = {square(64, 33, 9, 3), square(3, 16, 15, 7, 2), square(20, 70, 8, 1),
                             square(17, 24, 11, 3, 2), square(1, 5, 12, 5)};
  list.push_back({6, 20, 1, {19}, {3}, {2}, {3}, {4}, {1}, 2});
  list.push_back({5, 18, 1, {6, 7, 8}, {2, 3, 1}, {1, 2, 1}, {2, 1, 1}, {0, 1, 0}, {1, 2, 0}});
  // In groups: results of a group that fill vectors and that do not, depthwise ones.
  for (const int groups : {2, 4}) list.push_back(square(48, 80, 9, 3, 2, groups));
  list.push_back(square(32, 32, 11, 3, 1, 8));
  list.push_back(square(20, 20, 9, 3, 1, 20));
  const Target target = get_jit_target_from_environment();
  for (const Shape &s : list) {
    for (const std::string zero_points : {"none", "of the image", "of both"}) {
      const bool has_point = zero_points != "none", has_points = zero_points == "of both";
      SCOPED_TRACE(text(s) + ", points: " + zero_points);
      ops::Window window{s.kernel, s.stride, s.dilation, s.before, {}};
      const int channels = s.channels / s.groups, results = s.results / s.groups;
      std::vector<int> x_shape{s.images, s.channels}, w_shape{s.results, channels},
          y_shape{s.images, s.results};
      for (int d = 0; d < s.spatial(); d++) {
        window.shape.emplace_back(s.result_size(d));
        x_shape.push_back(s.size[static_cast<size_t>(d)]);
        w_shape.push_back(s.kernel[static_cast<size_t>(d)]);
        y_shape.push_back(s.result_size(d));
      }
      const auto innermost_first = [](const std::vector<int> &v) {
        return std::vector<int>(v.rbegin(), v.rend());
      };
      Buffer<uint8_t> x(innermost_first(x_shape));
      Buffer<int8_t> w(innermost_first(w_shape));
      Buffer<int8_t> points(s.results);
      std::mt19937 engine(7);
      x.for_each_value([&](uint8_t &v) { v = static_cast<uint8_t>(engine()); });
      w.for_each_value([&](int8_t &v) { v = static_cast<int8_t>(engine()); });
      points.for_each_value([&](int8_t &v) { v = static_cast<int8_t>(engine()); });
      const int x_point = has_point ? 131 : 0;
      ImageParam xs(UInt(8), x.dimensions(), "x"), ws(Int(8), w.dimensions(), "w"),
          ps(Int(8), 1, "points");
      xs.set(x);
      ws.set(w);
      ps.set(points);
      const auto exprs = [](const std::vector<int> &v) { return ops::Index(v.begin(), v.end()); };
      const ops::Tensor sums = ops::quantized_convolution(
          ops::Tensor(xs, exprs(x_shape)),
          has_point ? ops::Tensor(cast<uint8_t>(x_point)) : ops::Tensor(),
          ops::Tensor(ws, exprs(w_shape)),
          has_points ? ops::Tensor(ps, {s.results}) : ops::Tensor(), window, s.groups);
      const Buffer<int32_t> got = ops::materialize({sums}, {"y"}, {{}}, target)[0].realize(
          innermost_first(y_shape), target);
      const int spatial = s.spatial();
      got.for_each_element([&](const int *at) {
        const int result = at[spatial], image = at[spatial + 1];
        const int w_point = has_points ? points(result) : 0;
        int sum = 0;
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
            sum += (x(from.data()) - x_point) * (w(kernel.data()) - w_point);
          }
          more = false;
          for (size_t d = 0; d < cell.size() && !more; d++) {
            more = ++cell[d] < s.kernel[d];
            if (!more) cell[d] = 0;
          }
        }
        ASSERT_EQ(got(at), sum);
      });
    }
  }
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
                .find("a convolution with several cells or groups has a matrix of kernels"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              ops::packed_kernels(ops::Tensor(w, {2, 3, 16, 4}));
            }).find("packed kernels have rank 4"),
            std::string::npos);
}

}  // namespace
}  // namespace polyhalite::byte_convolution_test
