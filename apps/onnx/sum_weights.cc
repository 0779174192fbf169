#include <map>

#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

// Where operands of a product of bytes stand.
struct Places {
  size_t point, weights, sums;  // the left operand's zero point; sums stand behind all others
  bool convolution;
};

const Places *places_of(const Node &n) {
  static const std::map<std::string, Places> kPlaces = {{"MatMulInteger", {2, 1, 4, false}},
                                                        {"ConvInteger", {2, 1, 4, true}},
                                                        {"QLinearMatMul", {2, 3, 8, false}},
                                                        {"QLinearConv", {2, 3, 9, true}}};
  const auto at = kPlaces.find(n.op);
  return n.domain.empty() && at != kPlaces.end() ? &at->second : nullptr;
}

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
    const Places *places = places_of(n);
    if (!places || !n.has_input(places->point) || n.has_input(places->sums)) continue;
    if (is_zero(g.value(n.inputs[places->point]))) continue;
    if (places->convolution && n.integer("group", 1) != 1) continue;
    const ValueId w = n.inputs[places->weights];
    const Value weights = g.value(w);
    const bool bytes = weights.type == ElementType::Int8 || weights.type == ElementType::UInt8;
    if (!bytes || !weights.constant || weights.constant->elements() == 0) continue;
    if (!places->convolution && weights.constant->shape().size() != 2) continue;
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
