#include <map>

#include "apps/onnx/byte_products.h"
#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

constexpr uint8_t kMiddle = 128;  // of the bytes without a sign

Constant less_middle(const Constant &c) {
  std::vector<uint8_t> bytes(static_cast<size_t>(c.elements()));
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = *c.at(static_cast<int64_t>(i)) ^ kMiddle;
  return Constant::of_bytes(ElementType::Int8, c.shape(), std::move(bytes));
}

// Of kernels or columns of so many terms.
Constant sums_less_middle(const Constant &sums, int64_t terms) {
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < sums.elements(); i++)
    append_number(&bytes, ElementType::Int32,
                  static_cast<double>(sums.integer_at(i) - kMiddle * terms));
  return Constant::of_bytes(ElementType::Int32, sums.shape(), std::move(bytes));
}

}  // namespace

Graph sign_weights(Graph g, const Target &target) {
  if (target.arch != Target::X86) return g;
  std::map<ValueId, ValueId> done;
  const auto replaced = [&](ValueId v, const Constant &by) {
    const auto at = done.find(v);
    return at != done.end()
               ? at->second
               : done.emplace(v, g.add_constant(g.value(v).name + ".signed", by)).first->second;
  };
  for (Node &n : g.nodes) {
    const ByteProduct *places = byte_product(g, n);
    if (!places || g.value(n.inputs[places->weights]).type != ElementType::UInt8) continue;
    const bool has_point = n.has_input(places->weights_point);
    if (has_point && !g.value(n.inputs[places->weights_point]).constant) continue;
    const Constant weights = *g.value(n.inputs[places->weights]).constant;
    const int64_t results = weights.shape()[places->convolution ? 0 : 1];
    if (n.has_input(places->sums)) {
      const ValueId sums = n.inputs[places->sums];
      const Constant known = *g.value(sums).constant;
      n.inputs[places->sums] =
          replaced(sums, sums_less_middle(known, weights.elements() / results));
    }
    n.inputs[places->weights] = replaced(n.inputs[places->weights], less_middle(weights));
    const Constant point = has_point ? *g.value(n.inputs[places->weights_point]).constant
                                     : Constant::of_bytes(ElementType::UInt8, {}, {0});
    if (n.inputs.size() <= places->weights_point) n.inputs.resize(places->weights_point + 1, kNone);
    n.inputs[places->weights_point] =
        has_point ? replaced(n.inputs[places->weights_point], less_middle(point))
                  : g.add_constant(n.describe() + ".point", less_middle(point));
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
