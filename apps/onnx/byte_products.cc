#include "apps/onnx/byte_products.h"

#include <map>
#include <string>

namespace polyhalite::onnx {

const ByteProduct *byte_product(const Graph &g, const Node &n) {
  static const std::map<std::string, ByteProduct> kPlaces = {{"MatMulInteger", {2, 1, 3, 4, false}},
                                                             {"ConvInteger", {2, 1, 3, 4, true}},
                                                             {"QLinearMatMul", {2, 3, 5, 8, false}},
                                                             {"QLinearConv", {2, 3, 5, 9, true}}};
  const auto at = kPlaces.find(n.op);
  if (!n.domain.empty() || at == kPlaces.end()) return nullptr;
  const ByteProduct &places = at->second;
  const Value &weights = g.value(n.inputs[places.weights]);
  const bool bytes = weights.type == ElementType::Int8 || weights.type == ElementType::UInt8;
  if (!bytes || !weights.constant || weights.constant->elements() == 0) return nullptr;
  return places.convolution || weights.constant->shape().size() == 2 ? &places : nullptr;
}

const Constant *known_point(const Graph &g, const Node &n, const ByteProduct &places) {
  if (!n.has_input(places.weights_point)) return nullptr;
  const auto &point = g.value(n.inputs[places.weights_point]).constant;
  const std::vector<int64_t> &shape = g.value(n.inputs[places.weights]).constant->shape();
  const int64_t results = shape[places.convolution ? 0 : 1];
  const bool fits = point && (point->elements() == 1 || point->elements() == results);
  return fits ? &*point : nullptr;
}

bool point_is_known(const Graph &g, const Node &n, const ByteProduct &places) {
  return !n.has_input(places.weights_point) || known_point(g, n, places);
}

}  // namespace polyhalite::onnx
