// Convolutions of networks: the library's beside oneDNN's. Kernels are laid out before on both
// sides and images are as each likes them: ours have channels innermost.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "apps/bench/onednn_peers.h"
#include "apps/bench/operator_case.h"
#include "polyhalite/ops.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

namespace {

using polyhalite::Buffer;

// Winograd's form as the library takes it for networks, not at all, or with tiles of 4 by 4.
enum class Form { Chosen, Direct, LargeTiles };

struct Shape {
  int channels, results, size, kernel, stride;
  bool depthwise = false;
  Form form = Form::Chosen;

  int result_size() const { return (size + 2 * (kernel / 2) - kernel) / stride + 1; }
  double operations() const {
    return 2.0 * results * result_size() * result_size() * kernel * kernel *
           (depthwise ? 1 : channels);
  }
};

// The distinct ones of ResNet-50.
const Shape kResNet50[] = {
    {3, 64, 224, 7, 2},     {64, 64, 56, 1, 1},    {64, 64, 56, 3, 1},    {64, 256, 56, 1, 1},
    {256, 64, 56, 1, 1},    {256, 128, 56, 1, 1},  {128, 128, 56, 3, 2},  {128, 512, 28, 1, 1},
    {256, 512, 56, 1, 2},   {512, 128, 28, 1, 1},  {128, 128, 28, 3, 1},  {512, 256, 28, 1, 1},
    {256, 256, 28, 3, 2},   {256, 1024, 14, 1, 1}, {512, 1024, 28, 1, 2}, {1024, 256, 14, 1, 1},
    {256, 256, 14, 3, 1},   {1024, 512, 14, 1, 1}, {512, 512, 14, 3, 2},  {512, 2048, 7, 1, 1},
    {1024, 2048, 14, 1, 2}, {2048, 512, 7, 1, 1},  {512, 512, 7, 3, 1},
};

// Those of ResNet-50 for which the library chooses Winograd's form in the direct one and with
// larger tiles; MobileNet v2's depthwise ones.
const Shape kOthers[] = {
    {64, 64, 56, 3, 1, false, Form::Direct},
    {128, 128, 28, 3, 1, false, Form::Direct},
    {256, 256, 14, 3, 1, false, Form::Direct},
    {64, 64, 56, 3, 1, false, Form::LargeTiles},
    {128, 128, 28, 3, 1, false, Form::LargeTiles},
    {256, 256, 14, 3, 1, false, Form::LargeTiles},
    {32, 32, 112, 3, 1, true},
    {96, 96, 112, 3, 2, true},
    {144, 144, 56, 3, 1, true},
    {144, 144, 56, 3, 2, true},
    {192, 192, 28, 3, 1, true},
    {192, 192, 28, 3, 2, true},
    {384, 384, 14, 3, 1, true},
    {576, 576, 14, 3, 1, true},
    {576, 576, 14, 3, 2, true},
    {960, 960, 7, 3, 1, true},
};

void fill(const Buffer<float> &b, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  Buffer<float> to = b;
  to.for_each_value([&](float &v) { v = values(engine); });
}

// What a convolution has to read and to write at least, its kernels apart.
double image_bytes(const Shape &s) {
  const double in = static_cast<double>(s.channels) * s.size * s.size;
  const double out = static_cast<double>(s.results) * s.result_size() * s.result_size();
  return 4 * (in + out);
}

// Buffers of ours, dense, the first size innermost.
template <typename Image>
void promise(Image image, const std::vector<int> &sizes) {
  int stride = 1;
  for (size_t d = 0; d < sizes.size(); d++) {
    image.dim(static_cast<int>(d)).set_bounds(0, sizes[d]).set_stride(stride);
    stride *= sizes[d];
  }
}

// G w H' of a kernel, w(row, column), at place (i, j).
template <typename Cells>
double transformed(const std::vector<double> &g, const std::vector<double> &h, const Cells &w) {
  double sum = 0;
  for (size_t row = 0; row < g.size(); row++) {
    for (size_t column = 0; column < h.size(); column++)
      sum += g[row] * h[column] * w(static_cast<int>(row), static_cast<int>(column));
  }
  return sum;
}

std::vector<int> tile_of(const Shape &s, const polyhalite::ops::Window &window) {
  if (s.depthwise || s.form == Form::Direct) return {};
  if (s.form == Form::LargeTiles) return {4, 4};
  return polyhalite::ops::winograd_tile(s.channels, s.results, window);
}

PreparedOperator prepare(const Shape &s) {
  using namespace polyhalite;
  Convolution peer{s.channels, s.results, s.size, s.kernel, s.stride, s.depthwise ? s.channels : 1};
  const int out_size = peer.result_size(), per_group = s.depthwise ? 1 : s.channels;
  const ops::Window window{{s.kernel, s.kernel},
                           {s.stride, s.stride},
                           {1, 1},
                           {peer.padding(), peer.padding()},
                           {out_size, out_size}};
  const std::vector<int> tile = tile_of(s, window);
  // Of one dimension: images are square, but tiles may not be.
  const auto transform = [&](size_t d) {
    return ops::winograd_kernel_transform(s.kernel, s.stride, tile.empty() ? 1 : tile[d]);
  };
  const auto g = transform(0), h = transform(1);
  const Target target = get_jit_target_from_environment();
  // In the order of oneDNN's plain layouts, the innermost first.
  const Buffer<float> plain_x(std::vector<int>{s.size, s.size, s.channels});
  const Buffer<float> plain_w(std::vector<int>{s.kernel, s.kernel, per_group, s.results});
  const Buffer<float> plain_y(std::vector<int>{out_size, out_size, s.results});
  fill(plain_x, 1);
  fill(plain_w, 2);
  peer.x = plain_x.data();
  peer.w = plain_w.data();
  peer.y = plain_y.data();

  // A few channels come as a network's input does.
  const bool planar = s.channels < 4;
  const std::vector<int> image_order =
      planar ? std::vector<int>{3, 2, 1, 0} : std::vector<int>{1, 3, 2, 0};
  const std::vector<int> x_sizes = planar ? std::vector<int>{s.size, s.size, s.channels, 1}
                                          : std::vector<int>{s.channels, s.size, s.size, 1};
  const std::vector<int> y_sizes{s.results, out_size, out_size, 1};
  const int width = ops::strip_width(s.results, Float(32), target);
  const int strips = (s.results + width - 1) / width;
  const auto down = static_cast<int>(g.size()), across = static_cast<int>(h.size());
  const std::vector<int> w_sizes = s.depthwise
                                       ? std::vector<int>{s.results, 1, s.kernel, s.kernel}
                                       : std::vector<int>{width, s.channels, across, down, strips};
  Buffer<float> x(x_sizes), w(w_sizes);
  const Buffer<float> y(y_sizes);
  x.for_each_element([&](const int *at) {
    x(at) = planar ? plain_x(at[0], at[1], at[2]) : plain_x(at[1], at[2], at[0]);
  });
  w.for_each_element([&](const int *at) {
    const int result = s.depthwise ? at[0] : at[4] * width + at[0];
    if (result >= s.results) {
      w(at) = 0;
    } else {
      const auto cell = [&](int row, int column) { return plain_w(column, row, at[1], result); };
      w(at) = tile.empty() ? cell(at[3], at[2])
                           : static_cast<float>(transformed(g[static_cast<size_t>(at[3])],
                                                            h[static_cast<size_t>(at[2])], cell));
    }
  });

  ImageParam xs(Float(32), 4, "x"), ws(Float(32), static_cast<int>(w_sizes.size()), "w");
  promise(xs, x_sizes);
  promise(ws, w_sizes);
  const ops::Tensor image(xs, {1, s.channels, s.size, s.size}, image_order);
  const auto kernels = [&] { return ops::Tensor(ws, {strips, down, across, s.channels, width}); };
  const ops::Tensor result =
      !tile.empty() ? ops::winograd(image, kernels(), s.results, window, tile)
      : s.depthwise ? ops::convolution(
                          image, ops::Tensor(ws, {s.results, 1, s.kernel, s.kernel}, {0, 1, 3, 2}),
                          window, s.channels)
                    : ops::convolution(image, kernels(), s.results, window);
  Func out = ops::materialize({result}, {"y"}, {{1, 3, 2, 0}}, target)[0];
  promise(out.output_buffer(), y_sizes);
  const Callable callable = out.compile_to_callable({xs, ws}, target);

  PreparedOperator p;
  p.ours = [callable, x, w, y] { callable(x, w, y); };
  const ConvolutionPeer onednn = onednn_convolution(peer);
  if (onednn.run) p.peers.push_back({"oneDNN", onednn.run});
  if (s.depthwise) {
    const auto half = static_cast<size_t>(image_bytes(s) / 2);
    const auto from = std::make_shared<std::vector<char>>(half, 1);
    const auto to = std::make_shared<std::vector<char>>(half);
    p.copy = [=] { std::memcpy(to->data(), from->data(), half); };
  }
  const double terms = static_cast<double>(per_group) * s.kernel * s.kernel;
  p.check = [=, keep = std::vector<Buffer<float>>{plain_x, plain_w}] {
    if (!onednn.run) return std::string();
    onednn.finish();
    // Each of two sums of terms, none larger than 1, may be off by terms/2 units of the last place
    // of a partial sum. Tiles of 4 lose up to ten times as much.
    const double allowed = (std::count(tile.begin(), tile.end(), 4) != 0 ? 20 : 2) * terms *
                           std::numeric_limits<float>::epsilon() * std::sqrt(terms);
    double apart = 0;
    for (int c = 0; c < s.results; c++) {
      for (int row = 0; row < out_size; row++) {
        for (int column = 0; column < out_size; column++) {
          const double d = std::abs(y(c, column, row, 0) - plain_y(column, row, c));
          if (!(d <= apart)) apart = d;
        }
      }
    }
    return apart <= allowed ? std::string() : "differs from oneDNN by " + std::to_string(apart);
  };
  return p;
}

OperatorCase case_of(const Shape &s) {
  OperatorCase one;
  one.name = s.depthwise              ? "convolution/depthwise"
             : s.form == Form::Chosen ? "convolution"
             : s.form == Form::Direct ? "convolution/direct"
                                      : "convolution/winograd_4";
  one.shape = std::to_string(s.channels) + "to" + std::to_string(s.results) + "_image" +
              std::to_string(s.size) + "_kernel" + std::to_string(s.kernel) + "_stride" +
              std::to_string(s.stride);
  one.type = "f32";
  if (s.depthwise) {
    one.bytes = image_bytes(s);
  } else {
    one.work = s.operations();
  }
  one.prepare = [s] { return prepare(s); };
  return one;
}

// The distinct layers one after the other, each with images of its own.
OperatorCase all_of_resnet50() {
  OperatorCase all;
  all.name = "convolution/all";
  all.shape = "resnet50";
  all.type = "f32";
  for (const Shape &s : kResNet50) all.work += s.operations();
  all.prepare = [] {
    std::vector<PreparedOperator> layers;
    for (const Shape &s : kResNet50) layers.push_back(prepare(s));
    PreparedOperator p;
    p.ours = [layers] {
      for (const PreparedOperator &l : layers) l.ours();
    };
    const bool has_peer = std::all_of(layers.begin(), layers.end(),
                                      [](const PreparedOperator &l) { return !l.peers.empty(); });
    if (has_peer) {
      p.peers.push_back({"oneDNN", [layers] {
                           for (const PreparedOperator &l : layers) l.peers[0].run();
                         }});
    }
    p.check = [layers] {
      for (const PreparedOperator &l : layers) {
        const std::string apart = l.check();
        if (!apart.empty()) return apart;
      }
      return std::string();
    };
    return p;
  };
  return all;
}

}  // namespace

std::vector<OperatorCase> convolution_cases() {
  std::vector<OperatorCase> cases;
  for (const Shape &s : kResNet50) cases.push_back(case_of(s));
  cases.push_back(all_of_resnet50());
  for (const Shape &s : kOthers) cases.push_back(case_of(s));
  return cases;
}

}  // namespace polyhalite_apps
