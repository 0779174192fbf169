#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "apps/onnx/kernel_window.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

namespace {

// The window of a convolution of floats in two dimensions whose kernels are known.
std::optional<ops::Window> known_window(const Graph &g, const Node &n) {
  if (!n.is("Conv")) return std::nullopt;
  const Value &w = g.value(n.inputs[1]);
  if (w.type != ElementType::Float32 || !w.constant || w.constant->is_splat()) return std::nullopt;
  return kernel_window(g, n, *w.constant);
}

// G w H' of w[result, channel, row, column] as [strip, i, j, channel, result in the strip], each
// element rounded once.
Constant transformed(const Constant &w, const ops::Window &window, const std::vector<int> &tile,
                     int64_t width) {
  const auto g = ops::winograd_kernel_transform(window.kernel[0], window.stride[0], tile[0]);
  const auto h = ops::winograd_kernel_transform(window.kernel[1], window.stride[1], tile[1]);
  const auto down = static_cast<int64_t>(g.size()), across = static_cast<int64_t>(h.size());
  const int64_t results = w.shape()[0], channels = w.shape()[1];
  const auto rows = static_cast<size_t>(window.kernel[0]);
  const auto columns = static_cast<size_t>(window.kernel[1]);
  const int64_t strips = (results + width - 1) / width;
  const std::shared_ptr<uint8_t> bytes =
      weight_memory(static_cast<size_t>(strips * down * across * channels * width) * 4);
  std::vector<float> cells(rows * columns);
  std::vector<double> half(columns);  // a row of G w
  for (int64_t result = 0; result < results; result++) {
    for (int64_t channel = 0; channel < channels; channel++) {
      std::memcpy(cells.data(),
                  w.at((result * channels + channel) * static_cast<int64_t>(cells.size())),
                  cells.size() * sizeof(float));
      for (int64_t i = 0; i < down; i++) {
        std::fill(half.begin(), half.end(), 0);
        for (size_t c = 0; c < cells.size(); c++)
          half[c % columns] +=
              g[static_cast<size_t>(i)][c / columns] * static_cast<double>(cells[c]);
        for (int64_t j = 0; j < across; j++) {
          double sum = 0;
          for (size_t c = 0; c < columns; c++) sum += h[static_cast<size_t>(j)][c] * half[c];
          const int64_t to =
              (((result / width * down + i) * across + j) * channels + channel) * width;
          const auto rounded = static_cast<float>(sum);
          std::memcpy(bytes.get() + (to + result % width) * 4, &rounded, 4);
        }
      }
    }
  }
  return Constant(w.type(), {strips, down, across, channels, width}, bytes, bytes.get());
}

}  // namespace

Graph winograd_kernels(Graph g, const Target &target) {
  // By kernels, stride and tile: convolutions may share kernels.
  std::map<std::tuple<ValueId, std::vector<int>, std::vector<int>>, ValueId> done;
  for (Node &n : g.nodes) {
    const std::optional<ops::Window> window = known_window(g, n);
    if (!window) continue;
    const ValueId w = n.inputs[1];
    const Value value = g.value(w);
    const auto results = static_cast<int>(value.constant->shape()[0]);
    const auto channels = static_cast<int>(value.constant->shape()[1]);
    const std::vector<int> tile = ops::winograd_tile(channels, results, *window);
    if (tile.empty()) continue;
    const auto key = std::make_tuple(w, window->stride, tile);
    auto at = done.find(key);
    if (at == done.end()) {
      const int width = ops::strip_width(results, Float(32), target);
      const ValueId kernels = g.add_constant(value.name + ".winograd",
                                             transformed(*value.constant, *window, tile, width));
      at = done.emplace(key, kernels).first;
    }
    n.inputs[1] = at->second;
    n.attributes["kernel_shape"] =
        std::vector<int64_t>(window->kernel.begin(), window->kernel.end());
    n.attributes["strips_of"] = int64_t{results};
    n.attributes["winograd_tile"] = std::vector<int64_t>(tile.begin(), tile.end());
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
