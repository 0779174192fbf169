#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "apps/onnx/byte_products.h"
#include "apps/onnx/kernel_window.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "lang/ir/node.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

namespace {

// Of kernels that have no zero point, or a known one; tiles whose form is exact. Empty: none.
std::vector<int> tile_of(const Graph &g, const Node &n, const ByteProduct &places,
                         const ops::Window &window, const Target &target) {
  const Value &x = g.value(n.inputs[0]);
  const Constant &w = *g.value(n.inputs[places.weights]).constant;
  const bool bytes = x.type == ElementType::Int8 || x.type == ElementType::UInt8;
  if (!bytes || !ops::widens_bytes(*language_type(x.type), *language_type(w.type()), target))
    return {};
  if (!point_is_known(g, n, places)) return {};
  for (const Expr &size : window.shape) {
    if (!is_const_int(size)) return {};
  }
  // What a result times both scales may be.
  constexpr int64_t kLargest = int64_t{4} * 255 * 255;
  const auto channels = static_cast<int>(w.shape()[1]);
  if (w.elements() / w.shape()[0] * kLargest > INT32_MAX) return {};
  std::vector<int> tile = ops::winograd_tile(channels, static_cast<int>(w.shape()[0]), window);
  // Tiles of few pixels are as exact, and kernels half as large as those of floats.
  if (window.kernel == std::vector<int>{3, 3} && !tile.empty()) tile = {2, 2};
  for (size_t d = 0; d < tile.size(); d++) {
    tile[d] = std::min(tile[d], 2);
    if (ops::winograd_scale(window.kernel[d], window.stride[d], tile[d]) == 0) return {};
  }
  return tile;
}

// A matrix of whole numbers: G, scale times too large.
std::vector<std::vector<int>> whole_transform(const ops::Window &window,
                                              const std::vector<int> &tile, size_t d) {
  const int scale = ops::winograd_scale(window.kernel[d], window.stride[d], tile[d]);
  std::vector<std::vector<int>> whole;
  for (const std::vector<double> &row :
       ops::winograd_kernel_transform(window.kernel[d], window.stride[d], tile[d])) {
    whole.emplace_back();
    for (const double v : row) whole.back().push_back(static_cast<int>(std::lround(v * scale)));
  }
  return whole;
}

// Kernels w[result, channel, row, column] less their zero points as ops::quantized_winograd() takes
// them.
Constant transformed(const Constant &w, const Constant *point, const ops::Window &window,
                     const std::vector<int> &tile, int64_t width) {
  constexpr int64_t kTerms = 2;
  const auto g = whole_transform(window, tile, 0), h = whole_transform(window, tile, 1);
  const auto down = static_cast<int64_t>(g.size()), across = static_cast<int64_t>(h.size());
  const int64_t results = w.shape()[0], channels = w.shape()[1];
  const auto columns = static_cast<size_t>(window.kernel[1]);
  const size_t cells = static_cast<size_t>(window.kernel[0]) * columns;
  const int64_t strips = (results + width - 1) / width, blocks = (channels + kTerms - 1) / kTerms;
  const std::vector<int64_t> lies{strips, down, across, blocks, width, kTerms};
  const int64_t count = strips * down * across * blocks * width * kTerms;
  const auto bytes = weight_memory(static_cast<size_t>(count) * sizeof(int16_t));
  std::vector<int> steps(cells), half(columns);  // a row of G w
  for (int64_t result = 0; result < results; result++) {
    const int64_t of = point && point->elements() > 1 ? result : 0;
    const auto zero = point ? static_cast<int>(point->integer_at(of)) : 0;
    for (int64_t channel = 0; channel < channels; channel++) {
      const int64_t first = (result * channels + channel) * static_cast<int64_t>(cells);
      for (size_t c = 0; c < cells; c++)
        steps[c] = static_cast<int>(w.integer_at(first + static_cast<int64_t>(c))) - zero;
      for (int64_t i = 0; i < down; i++) {
        std::fill(half.begin(), half.end(), 0);
        for (size_t c = 0; c < cells; c++)
          half[c % columns] += g[static_cast<size_t>(i)][c / columns] * steps[c];
        for (int64_t j = 0; j < across; j++) {
          int sum = 0;
          for (size_t c = 0; c < columns; c++) sum += h[static_cast<size_t>(j)][c] * half[c];
          const int64_t block =
              ((result / width * down + i) * across + j) * blocks + channel / kTerms;
          const int64_t to = (block * width + result % width) * kTerms + channel % kTerms;
          const auto number = static_cast<int16_t>(sum);
          std::memcpy(bytes.get() + to * static_cast<int64_t>(sizeof number), &number,
                      sizeof number);
        }
      }
    }
  }
  return Constant(ElementType::Int16, lies, bytes, bytes.get());
}

}  // namespace

Graph winograd_bytes(Graph g, const Target &target) {
  // By kernels, their zero point, stride and tile: convolutions may share kernels.
  std::map<std::tuple<ValueId, ValueId, std::vector<int>, std::vector<int>>, ValueId> done;
  for (Node &n : g.nodes) {
    const ByteProduct *places = byte_product(g, n);
    if (!places || !places->convolution) continue;
    const ValueId w = n.inputs[places->weights];
    const Value value = g.value(w);
    const std::optional<ops::Window> window = kernel_window(g, n, *value.constant);
    if (!window) continue;
    const std::vector<int> tile = tile_of(g, n, *places, *window, target);
    if (tile.empty()) continue;
    const bool has_point = n.has_input(places->weights_point);
    const ValueId point = has_point ? n.inputs[places->weights_point] : kNone;
    const int64_t results = value.constant->shape()[0];
    const auto key = std::make_tuple(w, point, window->stride, tile);
    auto at = done.find(key);
    if (at == done.end()) {
      const int width = ops::strip_width(static_cast<int>(results), Int(32), target);
      const Constant *zero = known_point(g, n, *places);
      const ValueId kernels = g.add_constant(
          value.name + ".winograd", transformed(*value.constant, zero, *window, tile, width));
      at = done.emplace(key, kernels).first;
    }
    n.inputs[places->weights] = at->second;
    if (has_point) n.inputs[places->weights_point] = kNone;
    if (n.has_input(places->sums)) n.inputs.resize(places->sums);
    n.attributes["kernel_shape"] =
        std::vector<int64_t>(window->kernel.begin(), window->kernel.end());
    n.attributes["strips_of"] = results;
    n.attributes["winograd_tile"] = std::vector<int64_t>(tile.begin(), tile.end());
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
