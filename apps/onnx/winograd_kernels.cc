#include <algorithm>
#include <cstring>

#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

namespace {

// The largest tiles whose errors are no larger than those of the direct form.
constexpr int kTile = 2;

std::vector<int> of_two(const Node &n, const std::string &attribute) {
  const std::vector<int64_t> list = n.integers(attribute);
  return list.empty() ? std::vector<int>{1, 1} : std::vector<int>(list.begin(), list.end());
}

bool gains(const Graph &g, const Node &n) {
  if (!n.is("Conv") || n.integer("group", 1) != 1) return false;
  const Value &w = g.value(n.inputs[1]);
  const auto &result = g.value(n.outputs[0]).shape;
  if (w.type != ElementType::Float32 || !w.constant || w.constant->is_splat() ||
      w.constant->shape().size() != 4 || !result) {
    return false;
  }
  ops::Window window;
  window.kernel = {static_cast<int>(w.constant->shape()[2]),
                   static_cast<int>(w.constant->shape()[3])};
  window.stride = of_two(n, "strides");
  window.dilation = of_two(n, "dilations");
  for (size_t d = 2; d < 4; d++) {
    const auto size = (*result)[d].constant();
    if (!size) return false;
    window.shape.emplace_back(static_cast<int>(*size));
  }
  return (*result)[0].constant().has_value() &&
         ops::gains_by_winograd(static_cast<int>(w.constant->shape()[1]),
                                static_cast<int>(w.constant->shape()[0]), window);
}

// G w G' of w[result, channel, 3, 3] as [strip, i, j, channel, result in the strip], each element
// rounded once.
Constant transformed(const Constant &w, int64_t width) {
  const auto g = ops::winograd_kernel_transform(kTile);
  const int64_t size = kTile + 2, results = w.shape()[0], channels = w.shape()[1];
  const int64_t strips = (results + width - 1) / width;
  const std::shared_ptr<uint8_t> bytes =
      weight_memory(static_cast<size_t>(strips * size * size * channels * width) * 4);
  for (int64_t result = 0; result < results; result++) {
    for (int64_t channel = 0; channel < channels; channel++) {
      float cells[9];
      std::memcpy(cells, w.at((result * channels + channel) * 9), sizeof cells);
      for (int64_t i = 0; i < size; i++) {
        for (int64_t j = 0; j < size; j++) {
          double sum = 0;
          for (size_t c = 0; c < 9; c++) {
            sum += g[static_cast<size_t>(i)][c / 3] * g[static_cast<size_t>(j)][c % 3] *
                   static_cast<double>(cells[c]);
          }
          const int64_t to =
              (((result / width * size + i) * size + j) * channels + channel) * width;
          const auto rounded = static_cast<float>(sum);
          std::memcpy(bytes.get() + (to + result % width) * 4, &rounded, 4);
        }
      }
    }
  }
  return Constant(w.type(), {strips, size, size, channels, width}, bytes, bytes.get());
}

}  // namespace

Graph winograd_kernels(Graph g, const Target &target) {
  std::map<ValueId, ValueId> done;
  for (Node &n : g.nodes) {
    if (!gains(g, n)) continue;
    const ValueId w = n.inputs[1];
    const Value value = g.value(w);
    const int64_t results = value.constant->shape()[0];
    auto at = done.find(w);
    if (at == done.end()) {
      const int width = ops::strip_width(static_cast<int>(results), Float(32), target);
      const ValueId kernels =
          g.add_constant(value.name + ".winograd", transformed(*value.constant, width));
      at = done.emplace(w, kernels).first;
    }
    n.inputs[1] = at->second;
    n.attributes["kernel_shape"] = std::vector<int64_t>{3, 3};
    n.attributes["strips_of"] = results;
    n.attributes["winograd_tile"] = int64_t{kTile};
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
