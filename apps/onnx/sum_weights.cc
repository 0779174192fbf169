#include <map>

#include "apps/onnx/byte_products.h"
#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

bool is_zero(const Value &point) {
  const auto &c = point.constant;
  return c && c->elements() == 1 && c->integer_at(0) == 0;
}

// Of each kernel w[result, ...], or of each column b[k, column].
Constant sums_of(const Constant &w, bool by_kernel) {
  const int64_t all = w.elements(), results = w.shape()[by_kernel ? 0 : 1];
  std::vector<int32_t> sums(static_cast<size_t>(results));
  for (int64_t i = 0; i < all; i++) {
    const int64_t result = by_kernel ? i / (all / results) : i % results;
    sums[static_cast<size_t>(result)] += static_cast<int32_t>(w.integer_at(i));
  }
  const auto *bytes = reinterpret_cast<const uint8_t *>(sums.data());
  return Constant::of_bytes(ElementType::Int32, {results},
                            {bytes, bytes + sums.size() * sizeof(int32_t)});
}

}  // namespace

Graph sum_weights(Graph g) {
  std::map<std::pair<ValueId, bool>, ValueId> done;
  for (Node &n : g.nodes) {
    const ByteProduct *places = byte_product(g, n);
    if (!places || !n.has_input(places->point) || n.has_input(places->sums)) continue;
    if (is_zero(g.value(n.inputs[places->point]))) continue;
    const ValueId w = n.inputs[places->weights];
    const Value weights = g.value(w);
    const std::pair key(w, places->convolution);
    auto at = done.find(key);
    if (at == done.end()) {
      const Constant sums = sums_of(*weights.constant, places->convolution);
      at = done.emplace(key, g.add_constant(weights.name + ".sums", sums)).first;
    }
    n.inputs.resize(places->sums, kNone);
    n.inputs.push_back(at->second);
  }
  return g;
}

}  // namespace polyhalite::onnx
