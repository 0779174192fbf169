#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "apps/onnx/byte_products.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

namespace {

constexpr int64_t kDot = 4;  // terms of a dot product

std::shared_ptr<uint8_t> zeros(int64_t n) {
  auto bytes = weight_memory(static_cast<size_t>(n));
  std::fill_n(bytes.get(), n, uint8_t{0});
  return bytes;
}

// A matrix b[k, column], or the kernels w[column, k] of one cell, as ops::dot_strips() says.
Constant packed_matrix(const Constant &w, bool of_kernels, const ops::DotStrips &strips) {
  const int64_t columns = w.shape()[of_kernels ? 0 : 1], depth = w.elements() / columns;
  const int64_t width = strips.columns, terms = strips.terms;
  const auto bytes = weight_memory(static_cast<size_t>(w.elements()));
  uint8_t *to = bytes.get();
  for (int64_t first = 0; first < columns; first += width)
    for (int64_t k = 0; k < depth; k += terms)
      for (int64_t column = first; column < first + width; column++)
        for (int64_t term = k; term < k + terms; term++)
          *to++ = *w.at(of_kernels ? column * depth + term : term * columns + column);
  return Constant(w.type(), {columns / width, depth / terms, width, terms}, bytes, bytes.get());
}

// Kernels w[result, channel, cell...] in strips of `width` results as ops::packed_kernels() says.
Constant packed_kernels(const Constant &w, int64_t width) {
  const std::vector<int64_t> &shape = w.shape();
  const int64_t results = shape[0], channels = shape[1], cells = w.elements() / results / channels;
  const int64_t blocks = (channels + kDot - 1) / kDot;
  std::vector<int64_t> lies{results / width};
  lies.insert(lies.end(), shape.begin() + 2, shape.end());
  lies.insert(lies.end(), {blocks, width, kDot});
  const auto bytes = zeros(results * cells * blocks * kDot);
  uint8_t *to = bytes.get();
  for (int64_t strip = 0; strip < results; strip += width)
    for (int64_t cell = 0; cell < cells; cell++)
      for (int64_t first = 0; first < channels; first += kDot)
        for (int64_t result = strip; result < strip + width; result++, to += kDot)
          for (int64_t c = first; c < std::min(first + kDot, channels); c++)
            to[c - first] = *w.at((result * channels + c) * cells + cell);
  return Constant(w.type(), lies, bytes, bytes.get());
}

bool is_constant(const Shape &shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim &d) { return d.constant(); });
}

// Does each window see one pixel of many channels, and each pixel lie in one?
bool is_product(const Node &n, const Constant &w) {
  constexpr int64_t kManyChannels = 16;
  const auto all = [&](const char *attribute, int64_t value) {
    const std::vector<int64_t> list = n.integers(attribute);
    return std::all_of(list.begin(), list.end(), [=](int64_t v) { return v == value; });
  };
  return w.elements() == w.shape()[0] * w.shape()[1] && w.shape()[1] >= kManyChannels &&
         n.integer("group", 1) == 1 && all("strides", 1) && all("pads", 0);
}

// Packed weights, and the attribute that tells how they lie.
struct Packed {
  Constant weights;
  const char *attribute;
  int64_t columns;
};

// Nothing where the node does not multiply bytes by dot products, or by columns that fill no strip.
std::optional<Packed> packed(const Graph &g, const Node &n, const ByteProduct &places,
                             const Target &target) {
  const Value &x = g.value(n.inputs[0]);
  const bool bytes = x.type == ElementType::Int8 || x.type == ElementType::UInt8;
  if (!bytes || !x.shape) return std::nullopt;
  const Constant &w = *g.value(n.inputs[places.weights]).constant;
  const auto strips_of = [&](int64_t columns) {
    return ops::dot_strips(*language_type(x.type), *language_type(w.type()),
                           static_cast<int>(columns), target);
  };
  if (places.convolution && !is_constant(*x.shape)) return std::nullopt;
  if (!places.convolution || is_product(n, w)) {
    const int64_t columns = w.shape()[places.convolution ? 0 : 1];
    const auto strips = strips_of(columns);
    if (!strips || w.elements() / columns % strips->terms != 0) return std::nullopt;
    return Packed{packed_matrix(w, places.convolution, *strips), "packed_columns", columns};
  }
  const int64_t groups = n.integer("group", 1), results = w.shape()[0] / groups;
  const bool whole = groups == 1 || w.shape()[1] % kDot == 0;
  if (!whole || results < kDot || !strips_of(kDot)) return std::nullopt;
  const auto strips = strips_of(results);
  const int64_t width = strips ? strips->columns : results;
  return Packed{packed_kernels(w, width), "packed_kernels", w.shape()[0]};
}

}  // namespace

Graph pack_bytes(Graph g, const Target &target) {
  // Weights of several nodes are packed once.
  std::map<std::tuple<ValueId, std::string, int64_t>, ValueId> done;
  for (Node &n : g.nodes) {
    const ByteProduct *places = byte_product(g, n);
    if (!places) continue;
    const ValueId w = n.inputs[places->weights];
    const auto lie = packed(g, n, *places, target);
    if (!lie) continue;
    const std::vector<int64_t> shape = g.value(w).constant->shape();
    const std::tuple key(w, lie->attribute + std::to_string(places->convolution), lie->columns);
    auto at = done.find(key);
    if (at == done.end())
      at = done.emplace(key, g.add_constant(g.value(w).name + ".packed", lie->weights)).first;
    if (places->convolution && !n.has("kernel_shape"))
      n.attributes["kernel_shape"] = std::vector<int64_t>(shape.begin() + 2, shape.end());
    n.inputs[places->weights] = at->second;
    n.attributes[lie->attribute] = lie->columns;
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
