#include <algorithm>
#include <cstring>

#include "apps/onnx/passes.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

namespace {

// w[result, channel, ...] as [strip, ..., channel, result in the strip].
Constant in_strips(const Constant &w, int64_t width) {
  const std::vector<int64_t> &from = w.shape();
  const int64_t results = from[0], channels = from[1], strips = (results + width - 1) / width;
  std::vector<int64_t> shape{strips};
  shape.insert(shape.end(), from.begin() + 2, from.end());
  shape.push_back(channels);
  shape.push_back(width);
  int64_t cells = 1;
  for (size_t d = 2; d < from.size(); d++) cells *= from[d];
  const size_t element = static_cast<size_t>(w.element_bytes());
  std::vector<uint8_t> bytes(static_cast<size_t>(strips * cells * channels * width) * element);
  for (int64_t result = 0; result < results; result++) {
    for (int64_t channel = 0; channel < channels; channel++) {
      for (int64_t cell = 0; cell < cells; cell++) {
        const int64_t to =
            ((result / width * cells + cell) * channels + channel) * width + result % width;
        std::memcpy(&bytes[static_cast<size_t>(to) * element],
                    w.at((result * channels + channel) * cells + cell), element);
      }
    }
  }
  return Constant::of_bytes(w.type(), std::move(shape), std::move(bytes));
}

bool is_constant(const std::optional<Shape> &shape) {
  return shape && std::all_of(shape->begin(), shape->end(),
                              [](const Dim &d) { return d.constant().has_value(); });
}

}  // namespace

Graph strip_kernels(Graph g, const Target &target) {
  std::map<ValueId, ValueId> done;
  for (Node &n : g.nodes) {
    if (!n.is("Conv") || n.integer("group", 1) != 1) continue;
    const ValueId w = n.inputs[1];
    const Value value = g.value(w);
    const bool computed = value.type == ElementType::Float32 || value.type == ElementType::Float64;
    if (!computed || !value.constant || value.constant->elements() == 0 ||
        value.constant->is_splat() || !is_constant(g.value(n.outputs[0]).shape)) {
      continue;
    }
    const int64_t results = value.constant->shape()[0];
    auto at = done.find(w);
    if (at == done.end()) {
      const int width =
          ops::strip_width(static_cast<int>(results), *language_type(value.type), target);
      const ValueId strips =
          g.add_constant(value.name + ".strips", in_strips(*value.constant, width));
      at = done.emplace(w, strips).first;
    }
    if (!n.has("kernel_shape")) {
      const std::vector<int64_t> &shape = value.constant->shape();
      n.attributes["kernel_shape"] = std::vector<int64_t>(shape.begin() + 2, shape.end());
    }
    n.inputs[1] = at->second;
    n.attributes["strips_of"] = results;
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
