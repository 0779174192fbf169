#include <algorithm>
#include <map>
#include <optional>

#include "apps/onnx/byte_products.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

namespace {

// Weights as a matrix of terms and results.
struct Matrix {
  const Constant &weights;
  bool convolution;
  int64_t results, terms, cells;

  Matrix(const Constant &w, bool is_convolution) : weights(w), convolution(is_convolution) {
    const std::vector<int64_t> &shape = w.shape();
    results = shape[convolution ? 0 : 1];
    terms = w.elements() / results;
    cells = convolution ? terms / shape[1] : 1;
  }
  // Terms go through the kernel's cells, and innermost through channels.
  uint8_t at(int64_t term, int64_t result) const {
    if (!convolution) return *weights.at(term * results + result);
    const int64_t channels = terms / cells;
    return *weights.at((result * channels + term % channels) * cells + term / channels);
  }
};

Constant packed(const Matrix &m, const ops::DotStrips &strips) {
  const int64_t width = strips.columns, terms = strips.terms;
  const std::vector<int64_t> shape{m.results / width, m.terms / terms, width, terms};
  const auto bytes = weight_memory(static_cast<size_t>(m.results * m.terms));
  uint8_t *to = bytes.get();
  for (int64_t first = 0; first < m.results; first += width) {
    for (int64_t k = 0; k < m.terms; k += terms) {
      for (int64_t column = first; column < first + width; column++) {
        for (int64_t term = k; term < k + terms; term++) *to++ = m.at(term, column);
      }
    }
  }
  return Constant(m.weights.type(), shape, bytes, bytes.get());
}

bool is_constant(const Shape &shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim &d) { return d.constant(); });
}

// How the node's operands may lie; nothing where it does not multiply bytes by a packed matrix.
std::optional<ops::DotStrips> strips_of(const Graph &g, const Node &n, const ByteProduct &places,
                                        const Target &target) {
  // Those of fewer channels have a form of their own.
  constexpr int64_t kManyChannels = 16;
  const Value &x = g.value(n.inputs[0]);
  const bool bytes = x.type == ElementType::Int8 || x.type == ElementType::UInt8;
  if (!bytes || !x.shape) return std::nullopt;
  const Value &weights = g.value(n.inputs[places.weights]);
  const Matrix m(*weights.constant, places.convolution);
  if (places.convolution &&
      (!is_constant(*x.shape) || weights.constant->shape()[1] < kManyChannels))
    return std::nullopt;
  const auto strips = ops::dot_strips(*language_type(x.type), *language_type(weights.type),
                                      static_cast<int>(m.results), target);
  return strips && m.terms % strips->terms == 0 ? strips : std::nullopt;
}

}  // namespace

Graph pack_bytes(Graph g, const Target &target) {
  std::map<std::pair<ValueId, bool>, ValueId> done;
  for (Node &n : g.nodes) {
    const ByteProduct *places = byte_product(g, n);
    if (!places) continue;
    const auto strips = strips_of(g, n, *places, target);
    if (!strips) continue;
    const ValueId w = n.inputs[places->weights];
    const Value weights = g.value(w);
    const Matrix m(*weights.constant, places->convolution);
    const std::pair key(w, places->convolution);
    auto at = done.find(key);
    if (at == done.end())
      at = done.emplace(key, g.add_constant(weights.name + ".packed", packed(m, *strips))).first;
    if (places->convolution && !n.has("kernel_shape")) {
      const std::vector<int64_t> &shape = weights.constant->shape();
      n.attributes["kernel_shape"] = std::vector<int64_t>(shape.begin() + 2, shape.end());
    }
    n.inputs[places->weights] = at->second;
    n.attributes["packed_columns"] = m.results;
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
