#include "apps/onnx/linear_attention.h"

#include "apps/onnx/expansion_call.h"
#include "apps/onnx/write_nodes.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

// Has output k of the node defined by the last node that was written, if anybody wants it.
void define(Writer *w, const Node &n, size_t k, ValueId v) {
  if (k >= n.outputs.size() || n.outputs[k] == kNone) return;
  w->op("Identity", {v});
  w->last().outputs = {n.outputs[k]};
}

ValueId zeros(Writer *w, const std::vector<ValueId> &sizes, ValueId like) {
  const ValueId shape = w->op("Concat", sizes, {{"axis", int64_t{0}}});
  return w->op("CastLike", {w->op("ConstantOfShape", {shape}), like});
}

void expand_convolution(const Node &n, Graph *g, std::vector<Node> *nodes) {
  Writer w(g, nodes, n.name + "/");
  const ValueId x = n.inputs[0], weights = n.inputs[1];
  const auto &shape = g->value(weights).shape;
  const auto channels = shape && shape->size() == 3 ? (*shape)[0].constant() : std::nullopt;
  const auto kernel = shape && shape->size() == 3 ? (*shape)[2].constant() : std::nullopt;
  if (!channels || !kernel || *channels < 1 || *kernel < 1) {
    user_error(n.describe() + ": the kernels' sizes are not known", "each channel has a kernel",
               "give them a fixed shape [channels, 1, size]");
  }
  ValueId past = n.has_input(3) ? n.inputs[3] : kNone;
  if (past == kNone)
    past = zeros(&w, {size_of(&w, x, 0), size_of(&w, x, 1), w.integers({*kernel - 1})}, x);
  const ValueId all =
      *kernel > 1 ? w.op("Concat", {past, x}, {{"axis", int64_t{2}}}) : w.op("Identity", {x});
  std::vector<ValueId> operands{all, weights};
  if (n.has_input(2)) operands.push_back(n.inputs[2]);
  ValueId y = w.op("Conv", operands, {{"group", *channels}});
  const std::string activation = n.text("activation", "none");
  if (activation == "silu" || activation == "swish") y = w.op("Mul", {y, w.op("Sigmoid", {y})});
  define(&w, n, 0, y);
  if (*kernel > 1) {
    past =
        w.op("Slice", {all, w.integers({1 - *kernel}), w.integers({INT64_MAX}), w.integers({2})});
  }
  define(&w, n, 1, past);
}

void expand_attention(const Node &n, Graph *g, std::vector<Node> *nodes) {
  Writer w(g, nodes, n.name + "/");
  const int64_t queries = n.integer("q_num_heads", 0), heads = n.integer("kv_num_heads", 0);
  if (heads < 1 || queries < heads || queries % heads != 0) {
    user_error(n.describe() + " has " + std::to_string(queries) + " heads of queries for " +
                   std::to_string(heads) + " of keys",
               "each head of keys serves equally many", "export the model again");
  }
  const std::string rule = n.text("update_rule", "gated_delta");
  const bool gated = rule.rfind("gated", 0) == 0,
             delta = rule.size() >= 5 && rule.compare(rule.size() - 5, 5, "delta") == 0;
  if ((gated && !n.has_input(4)) || (delta && !n.has_input(5))) {
    user_error(n.describe() + ": the decay or the rate is left out",
               "the update rule '" + rule + "' has " + (gated ? "a decay" : "a rate"),
               "export the model again");
  }
  // Sums of many tokens are not for 16 bits.
  const ElementType type = g->value(n.inputs[0]).type;
  const bool widened = type == ElementType::Float16 || type == ElementType::BFloat16;
  auto wide = [&](ValueId v) {
    return widened ? w.op("Cast", {v}, {{"to", static_cast<int64_t>(ElementType::Float32)}}) : v;
  };
  const ValueId query = wide(n.inputs[0]), key = wide(n.inputs[1]), value = wide(n.inputs[2]);
  ValueId past = n.has_input(3) ? wide(n.inputs[3]) : kNone;
  if (past == kNone) {
    // [batch, heads, width of keys, width of values], widths being those of one head.
    auto width = [&](ValueId v) {
      const ValueId one = w.op("Reshape", {v, w.integers({0, 0, heads, -1})});
      return size_of(&w, one, 3);
    };
    past = zeros(&w, {size_of(&w, key, 0), w.integers({heads}), width(key), width(value)}, key);
  }
  std::vector<ValueId> operands{past, query, key, value};
  if (gated) operands.push_back(wide(n.inputs[4]));
  if (delta) operands.push_back(wide(n.inputs[5]));

  Graph body;
  body.name = n.name;
  for (size_t k = 0; k < operands.size(); k++)
    body.inputs.push_back(body.add_value("in" + std::to_string(k)));
  std::vector<Node> inner;
  Writer b(&body, &inner, n.name + "/");
  auto reshaped = [&](ValueId v, const std::vector<int64_t> &shape) {
    return b.op("Reshape", {v, b.integers(shape)});
  };
  size_t next = 4;
  ValueId state = body.inputs[0];
  if (gated) {
    const ValueId decay = reshaped(body.inputs[next++], {0, heads, -1, 1});
    state = b.op("Mul", {b.op("Exp", {decay}), state});
  }
  const ValueId column = reshaped(body.inputs[2], {0, heads, -1, 1});
  ValueId update = reshaped(body.inputs[3], {0, heads, 1, -1});
  if (delta) {
    const ValueId row = reshaped(body.inputs[2], {0, heads, 1, -1});
    update = b.op("Sub", {update, b.op("MatMul", {row, state})});
    update = b.op("Mul", {reshaped(body.inputs[next++], {0, -1, 1, 1}), update});
  }
  state = b.op("Add", {state, b.op("MatMul", {column, update})});
  const ValueId q = reshaped(body.inputs[1], {0, heads, queries / heads, -1});
  ValueId y = b.op("MatMul", {q, state});
  if (n.real("scale", 0) != 0) {
    y = b.op("Mul", {y, b.number(n.real("scale", 0), y)});
  } else {
    y = b.op("Div", {y, b.op("Sqrt", {b.op("CastLike", {size_of(&b, q, 3), y})})});
  }
  body.outputs = {state, reshaped(y, {0, -1})};
  body.nodes = std::move(inner);

  const std::vector<int64_t> along(operands.size() - 1, 1);
  const std::vector<ValueId> results =
      w.ops("Scan", 2, operands,
            {{"num_scan_inputs", static_cast<int64_t>(operands.size()) - 1},
             {"operands", static_cast<int64_t>(operands.size())},
             {"scan_input_axes", along},
             {"scan_output_axes", std::vector<int64_t>{1}},
             {"body", std::make_shared<const Graph>(std::move(body))}});
  auto narrowed = [&](ValueId v) { return widened ? w.op("CastLike", {v, n.inputs[0]}) : v; };
  define(&w, n, 0, narrowed(results[1]));
  define(&w, n, 1, narrowed(results[0]));
}

}  // namespace

Graph expand_linear_attention(Graph g) {
  std::vector<Node> nodes;
  const std::vector<Node> old = std::move(g.nodes);
  for (const Node &n : old) {
    if (n.is("LinearAttention")) {
      expand_attention(n, &g, &nodes);
    } else if (n.is("CausalConvWithState")) {
      expand_convolution(n, &g, &nodes);
    } else {
      nodes.push_back(n);
    }
  }
  g.nodes = std::move(nodes);
  return g;
}

}  // namespace polyhalite::onnx
