#include <cmath>
#include <map>
#include <optional>

#include "apps/onnx/passes.h"
#include "apps/onnx/write_nodes.h"

namespace polyhalite::onnx {

namespace {

const Constant *float_constant(const Graph &g, const Node &n, size_t i) {
  if (!n.has_input(i)) return nullptr;
  const auto &c = g.value(n.inputs[i]).constant;
  return c && c->type() == ElementType::Float32 ? &*c : nullptr;
}

// y = factor * x + summand for each channel, in double: the folded model is as exact as the one in
// two steps.
struct Scaling {
  std::vector<double> factors, summands;
};

// Undefined where a number is not known, or the node computes means.
std::optional<Scaling> scaling_of(const Graph &g, const Node &n) {
  if (!n.is("BatchNormalization") || n.integer("training_mode", 0) != 0 || n.outputs.size() > 1)
    return std::nullopt;
  const Constant *scale = float_constant(g, n, 1), *shift = float_constant(g, n, 2);
  const Constant *mean = float_constant(g, n, 3), *variance = float_constant(g, n, 4);
  if (!scale || !shift || !mean || !variance || scale->elements() == 0) return std::nullopt;
  const auto epsilon = static_cast<double>(n.real("epsilon", 1e-5f));
  Scaling s;
  for (int64_t c = 0; c < scale->elements(); c++) {
    const double factor = scale->number(c) / std::sqrt(variance->number(c) + epsilon);
    s.factors.push_back(factor);
    s.summands.push_back(shift->number(c) - mean->number(c) * factor);
  }
  return s;
}

std::vector<float> rounded(const std::vector<double> &v) { return {v.begin(), v.end()}; }

// Into the weights of a convolution that nobody else reads; false where it has none that are known.
bool fold_into(Graph *g, Node *conv, const Scaling &s) {
  const Constant *w = float_constant(*g, *conv, 1), *old = float_constant(*g, *conv, 2);
  const auto channels = static_cast<int64_t>(s.factors.size());
  if (!w || w->shape()[0] != channels || (conv->has_input(2) && !old)) return false;
  const int64_t each = w->elements() / channels;
  std::vector<float> weights(static_cast<size_t>(w->elements())),
      bias(static_cast<size_t>(channels));
  for (int64_t c = 0; c < channels; c++) {
    const auto at = static_cast<size_t>(c);
    for (int64_t k = 0; k < each; k++) {
      weights[static_cast<size_t>(c * each + k)] =
          static_cast<float>(w->number(c * each + k) * s.factors[at]);
    }
    bias[at] = static_cast<float>((old ? old->number(c) : 0) * s.factors[at] + s.summands[at]);
  }
  const std::vector<int64_t> shape = w->shape();
  const ValueId weight_id =
      g->add_constant(conv->name + ".weights", Constant::reals(shape, weights));
  const ValueId bias_id = g->add_constant(conv->name + ".bias", Constant::reals({channels}, bias));
  conv->inputs.resize(3);
  conv->inputs[1] = weight_id;
  conv->inputs[2] = bias_id;
  return true;
}

// A multiplication and an addition, which join the kernels around them.
void write(Graph *g, std::vector<Node> *nodes, const Node &n, const Scaling &s) {
  std::vector<int64_t> shape{static_cast<int64_t>(s.factors.size())};
  shape.resize(g->value(n.inputs[0]).shape->size() - 1, 1);
  const Value x = g->value(n.inputs[0]);
  Writer writer(g, nodes, n.name + ".");
  const ValueId scaled = writer.op(
      "Mul", {n.inputs[0],
              g->add_constant(n.name + ".factors", Constant::reals(shape, rounded(s.factors)))});
  g->value(scaled).type = x.type;
  g->value(scaled).shape = x.shape;
  writer.op("Add", {scaled, g->add_constant(n.name + ".summands",
                                            Constant::reals(shape, rounded(s.summands)))});
  writer.last().outputs = n.outputs;
}

}  // namespace

Graph fold_batch_norm(Graph g) {
  const std::vector<int> uses = g.use_counts();
  std::map<ValueId, size_t> producer;  // a place in the new list
  std::vector<Node> before = std::move(g.nodes), after;
  g.nodes.clear();
  for (Node &n : before) {
    const auto scaling = scaling_of(g, n);
    const auto at = scaling ? producer.find(n.inputs[0]) : producer.end();
    if (at != producer.end() && uses[static_cast<size_t>(n.inputs[0])] == 1 &&
        fold_into(&g, &after[at->second], *scaling)) {
      after[at->second].outputs[0] = n.outputs[0];
    } else if (scaling && g.value(n.inputs[0]).shape && g.value(n.inputs[0]).shape->size() >= 2) {
      write(&g, &after, n, *scaling);
    } else {
      if (n.is("Conv")) producer[n.outputs[0]] = after.size();
      after.push_back(std::move(n));
    }
  }
  g.nodes = std::move(after);
  return g;
}

}  // namespace polyhalite::onnx
