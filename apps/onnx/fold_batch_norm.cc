#include <cmath>
#include <cstring>

#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

const Constant *float_constant(const Graph &g, const Node &n, size_t i) {
  if (!n.has_input(i)) return nullptr;
  const auto &c = g.value(n.inputs[i]).constant;
  return c && c->type() == ElementType::Float32 ? &*c : nullptr;
}

Constant floats(std::vector<int64_t> shape, const std::vector<float> &values) {
  std::vector<uint8_t> bytes(values.size() * 4);
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Constant::of_bytes(ElementType::Float32, std::move(shape), std::move(bytes));
}

}  // namespace

Graph fold_batch_norm(Graph g) {
  const std::vector<int> uses = g.use_counts();
  std::map<ValueId, size_t> producer;
  for (size_t i = 0; i < g.nodes.size(); i++) {
    if (g.nodes[i].is("Conv")) producer[g.nodes[i].outputs[0]] = i;
  }
  std::vector<char> gone(g.nodes.size());
  for (size_t i = 0; i < g.nodes.size(); i++) {
    const Node &n = g.nodes[i];
    if (!n.is("BatchNormalization") || n.integer("training_mode", 0) != 0) continue;
    const auto at = producer.find(n.inputs[0]);
    if (at == producer.end() || uses[static_cast<size_t>(n.inputs[0])] != 1) continue;
    Node &conv = g.nodes[at->second];
    const Constant *w = float_constant(g, conv, 1);
    const Constant *old = float_constant(g, conv, 2);
    const Constant *scale = float_constant(g, n, 1), *shift = float_constant(g, n, 2);
    const Constant *mean = float_constant(g, n, 3), *variance = float_constant(g, n, 4);
    if (!w || !scale || !shift || !mean || !variance || (conv.has_input(2) && !old)) continue;
    const int64_t channels = w->shape()[0];
    if (scale->elements() != channels || channels == 0) continue;
    const float epsilon = n.real("epsilon", 1e-5f);
    const int64_t each = w->elements() / channels;
    std::vector<float> weights(static_cast<size_t>(w->elements())),
        bias(static_cast<size_t>(channels));
    for (int64_t c = 0; c < channels; c++) {
      // In double: the folded model is as exact as the one in two steps.
      const double factor =
          scale->number(c) / std::sqrt(variance->number(c) + static_cast<double>(epsilon));
      for (int64_t k = 0; k < each; k++) {
        weights[static_cast<size_t>(c * each + k)] =
            static_cast<float>(w->number(c * each + k) * factor);
      }
      const double before = old ? old->number(c) : 0;
      bias[static_cast<size_t>(c)] =
          static_cast<float>((before - mean->number(c)) * factor + shift->number(c));
    }
    const std::vector<int64_t> shape = w->shape();
    const ValueId weight_id = g.add_constant(conv.name + ".weights", floats(shape, weights));
    const ValueId bias_id = g.add_constant(conv.name + ".bias", floats({channels}, bias));
    conv.inputs.resize(3);
    conv.inputs[1] = weight_id;
    conv.inputs[2] = bias_id;
    conv.outputs[0] = n.outputs[0];
    gone[i] = 1;
  }
  std::vector<Node> kept;
  for (size_t i = 0; i < g.nodes.size(); i++) {
    if (!gone[i]) kept.push_back(std::move(g.nodes[i]));
  }
  g.nodes = std::move(kept);
  return g;
}

}  // namespace polyhalite::onnx
