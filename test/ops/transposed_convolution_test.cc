// Transposed convolutions with the library's schedules, against plain loops.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <random>
#include <string>
#include <vector>

namespace polyhalite::transposed_convolution_test {
namespace {

// Rests by the stride, that have equal numbers of cells and do not; kernels without phases, too.
TEST(transposed_convolution, equals_plain_loops) {
  struct Case {
    int channels, results, size, kernel, stride, dilation, before, places;
  };
  const Case cases[] = {{3, 5, 7, 2, 2, 1, 0, 14},  {8, 16, 6, 4, 2, 1, 1, 12},
                        {4, 33, 5, 3, 2, 1, 1, 10}, {2, 3, 6, 5, 3, 1, 2, 16},
                        {5, 4, 6, 3, 1, 1, 0, 8},   {2, 3, 5, 3, 2, 2, 1, 11},
                        {1, 2, 4, 2, 3, 1, 1, 10}};
  const Target target = get_jit_target_from_environment();
  for (const Case &c : cases) {
    SCOPED_TRACE(std::to_string(c.kernel) + "/" + std::to_string(c.stride));
    Buffer<float> x(c.size, c.size, c.channels, 2), w(c.kernel, c.kernel, c.results, c.channels);
    std::mt19937 engine(3);
    std::uniform_int_distribution<int> values(-8, 8);  // sums are exact
    x.for_each_value([&](float &v) { v = static_cast<float>(values(engine)); });
    w.for_each_value([&](float &v) { v = static_cast<float>(values(engine)); });
    ImageParam xs(Float(32), 4, "x"), ws(Float(32), 4, "w");
    xs.set(x);
    ws.set(w);
    const ops::Window window{{c.kernel, c.kernel},
                             {c.stride, c.stride},
                             {c.dilation, c.dilation},
                             {c.before, c.before},
                             {c.places, c.places}};
    const ops::Tensor y = ops::transposed_convolution(
        ops::Tensor(xs, {2, c.channels, c.size, c.size}),
        ops::Tensor(ws, {c.channels, c.results, c.kernel, c.kernel}), window, 1);
    const Buffer<float> got = ops::materialize({y}, {"y"}, {{}}, target)[0].realize(
        {c.places, c.places, c.results, 2}, target);
    Buffer<float> wanted(c.places, c.places, c.results, 2);
    wanted.fill(0);
    x.for_each_element([&](int u, int v, int channel, int image) {
      w.for_each_element([&](int dx, int dy, int result, int from) {
        const int px = u * c.stride + dx * c.dilation - c.before;
        const int py = v * c.stride + dy * c.dilation - c.before;
        if (from != channel || px < 0 || py < 0 || px >= c.places || py >= c.places) return;
        wanted(px, py, result, image) += x(u, v, channel, image) * w(dx, dy, result, from);
      });
    });
    got.for_each_element([&](int u, int v, int result, int image) {
      ASSERT_EQ(got(u, v, result, image), wanted(u, v, result, image))
          << u << " " << v << " " << result;
    });
  }
}

// With kernels in strips. Where strips are parts of phases or whole ones, those of a rest with
// fewer cells leave out the cells beyond, whatever lies there. Planar results are turned a row at a
// time.
TEST(transposed_convolution, in_strips) {
  struct Case {
    int channels, results, size, kernel, stride, before, places, width;
    bool leaves_out;
  };
  const Case cases[] = {{8, 32, 9, 3, 2, 1, 18, 32, true},  {6, 64, 8, 3, 2, 1, 16, 32, true},
                        {5, 16, 9, 3, 2, 1, 17, 32, false}, {4, 24, 8, 5, 2, 2, 16, 16, false},
                        {3, 32, 7, 5, 3, 1, 22, 16, true},  {7, 32, 12, 2, 2, 0, 24, 32, true},
                        {4, 32, 10, 3, 1, 1, 10, 16, true}};
  const Target target = get_jit_target_from_environment();
  for (const Case &c : cases) {
    SCOPED_TRACE(std::to_string(c.kernel) + "/" + std::to_string(c.stride) + " to " +
                 std::to_string(c.results));
    const ops::Window window{{c.kernel, c.kernel},
                             {c.stride, c.stride},
                             {1, 1},
                             {c.before, c.before},
                             {c.places, c.places}};
    const auto phases = ops::transposed_phases(window);
    ASSERT_TRUE(phases);
    const int cells = phases->window.kernel[0], kernels = phases->count * c.results;
    Buffer<float> x(c.size, c.size, c.channels, 1), w(c.kernel, c.kernel, c.results, c.channels),
        of_phases(cells, cells, c.channels, kernels);
    std::mt19937 engine(5);
    std::uniform_int_distribution<int> values(-8, 8);  // sums are exact
    x.for_each_value([&](float &v) { v = static_cast<float>(values(engine)); });
    w.for_each_value([&](float &v) { v = static_cast<float>(values(engine)); });
    of_phases.for_each_element([&](int u, int v, int channel, int kernel) {
      const int phase = kernel / c.results;
      const int dx = (cells - 1 - u) * c.stride + phase % c.stride;
      const int dy = (cells - 1 - v) * c.stride + phase / c.stride;
      const bool inside = dx < c.kernel && dy < c.kernel;
      of_phases(u, v, channel, kernel) = inside         ? w(dx, dy, kernel % c.results, channel)
                                         : c.leaves_out ? 1e6f
                                                        : 0;
    });
    ImageParam xs(Float(32), 4, "x"), ws(Float(32), 4, "w");
    xs.set(x);
    ws.set(of_phases);
    for (const bool planar : {true, false}) {
      const ops::Tensor y = ops::transposed_convolution(
          ops::Tensor(xs, {1, c.channels, c.size, c.size}),
          ops::kernel_strips(ops::Tensor(ws, {kernels, c.channels, cells, cells}), c.width),
          c.results, window);
      const std::vector<int> order =
          planar ? std::vector<int>{3, 2, 1, 0} : std::vector<int>{1, 3, 2, 0};
      Func out = ops::materialize({y}, {"y"}, {order}, target)[0];
      const bool holds =
          out.emit_text(Emit::stmt, {xs, ws}, target).find("allocate placed") != std::string::npos;
      EXPECT_EQ(holds, planar && c.stride > 1);
      const Buffer<float> got = planar ? out.realize({c.places, c.places, c.results, 1}, target)
                                       : out.realize({c.results, c.places, c.places, 1}, target);
      Buffer<float> wanted(c.places, c.places, c.results, 1);
      wanted.fill(0);
      x.for_each_element([&](int u, int v, int channel, int image) {
        w.for_each_element([&](int dx, int dy, int result, int from) {
          const int px = u * c.stride + dx - c.before, py = v * c.stride + dy - c.before;
          if (from != channel || px < 0 || py < 0 || px >= c.places || py >= c.places) return;
          wanted(px, py, result, image) += x(u, v, channel, image) * w(dx, dy, result, from);
        });
      });
      wanted.for_each_element([&](int u, int v, int result, int image) {
        ASSERT_EQ(planar ? got(u, v, result, image) : got(result, u, v, image),
                  wanted(u, v, result, image))
            << u << " " << v << " " << result;
      });
    }
  }
}

}  // namespace
}  // namespace polyhalite::transposed_convolution_test
