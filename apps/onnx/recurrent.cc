#include "apps/onnx/recurrent.h"

#include <algorithm>
#include <cctype>

#include "apps/onnx/write_nodes.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

struct Activation {
  std::string name;
  std::optional<float> alpha, beta;
};

ValueId activate(Writer &w, const Activation &a, ValueId x) {
  Attributes given;
  if (a.alpha) given["alpha"] = *a.alpha;
  if (a.beta) given["beta"] = *a.beta;
  if (a.name == "affine") {
    const ValueId scaled = w.op("Mul", {x, w.number(a.alpha.value_or(1), x)});
    return w.op("Add", {scaled, w.number(a.beta.value_or(0), x)});
  }
  if (a.name == "scaledtanh") {
    const ValueId t = w.op("Tanh", {w.op("Mul", {x, w.number(a.beta.value_or(1), x)})});
    return w.op("Mul", {t, w.number(a.alpha.value_or(1), x)});
  }
  static const std::map<std::string, std::pair<const char *, Attributes>> kNames = {
      {"relu", {"Relu", {}}},
      {"tanh", {"Tanh", {}}},
      {"sigmoid", {"Sigmoid", {}}},
      {"softsign", {"Softsign", {}}},
      {"softplus", {"Softplus", {}}},
      {"leakyrelu", {"LeakyRelu", {{"alpha", 0.01f}}}},
      {"thresholdedrelu", {"ThresholdedRelu", {{"alpha", 1.0f}}}},
      {"hardsigmoid", {"HardSigmoid", {{"alpha", 0.2f}, {"beta", 0.5f}}}},
      {"elu", {"Elu", {{"alpha", 1.0f}}}}};
  const auto at = kNames.find(a.name);
  if (at == kNames.end()) {
    user_error("the activation '" + a.name + "' of " + w.last().name + " is not supported",
               "it is none of the standard's", "use another one");
  }
  Attributes attributes = at->second.second;
  for (auto &[key, value] : attributes) {
    if (given.count(key)) value = given[key];
  }
  return w.op(at->second.first, {x}, attributes);
}

class CellExpansion {
 public:
  CellExpansion(const Node &n, Graph *g, std::vector<Node> *nodes)
      : n_(n),
        w_(g, nodes, n.name + "/"),
        gates_(n.op == "LSTM"  ? 4
               : n.op == "GRU" ? 3
                               : 1),
        batch_first_(n.integer("layout", 0) != 0) {
    const std::string direction = n.text("direction", "forward");
    if (direction == "bidirectional") {
      backwards_ = {false, true};
    } else {
      backwards_ = {direction == "reverse"};
    }
    read_activations();
  }

  void run() {
    x_ = n_.inputs[0];
    if (batch_first_) x_ = w_.op("Transpose", {x_}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
    if (n_.has_input(4))
      lengths_ = w_.op("Cast", {n_.inputs[4]}, {{"to", static_cast<int64_t>(ElementType::Int64)}});
    std::vector<ValueId> y, h, c;
    for (size_t d = 0; d < backwards_.size(); d++) {
      const std::vector<ValueId> results = direction(d);
      const ValueId front = w_.integers({0});
      h.push_back(w_.op("Unsqueeze", {results[0], front}));
      if (gates_ == 4) c.push_back(w_.op("Unsqueeze", {results[1], front}));
      y.push_back(w_.op("Unsqueeze", {results.back(), w_.integers({1})}));
    }
    finish(0, y, 1, {2, 0, 1, 3});
    finish(1, h, 0, {1, 0, 2});
    if (gates_ == 4) finish(2, c, 0, {1, 0, 2});
  }

 private:
  void read_activations() {
    const size_t each = gates_ == 4 ? 3 : gates_ == 3 ? 2 : 1;
    std::vector<std::string> names;
    std::vector<float> alphas, betas;
    auto read = [&](const char *key, auto *list) {
      const auto at = n_.attributes.find(key);
      if (at == n_.attributes.end()) return;
      if (const auto *given = std::get_if<std::decay_t<decltype(*list)>>(&at->second))
        *list = *given;
    };
    read("activations", &names);
    read("activation_alpha", &alphas);
    read("activation_beta", &betas);
    const std::vector<std::string> usual =
        gates_ == 1 ? std::vector<std::string>{"Tanh"}
                    : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
    // Parameters are listed for the activations that have some.
    size_t alpha = 0, beta = 0;
    for (size_t k = 0; k < each * backwards_.size(); k++) {
      Activation a{k < names.size() ? names[k] : usual[k % each], {}, {}};
      for (char &ch : a.name) ch = static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
      const bool both = a.name == "hardsigmoid" || a.name == "affine" || a.name == "scaledtanh";
      const bool one =
          both || a.name == "leakyrelu" || a.name == "thresholdedrelu" || a.name == "elu";
      if (one && alpha < alphas.size()) a.alpha = alphas[alpha++];
      if (both && beta < betas.size()) a.beta = betas[beta++];
      activations_.push_back(a);
    }
  }

  // Operand i of direction d, without the dimension of directions.
  ValueId part(size_t i, size_t d) {
    return w_.op("Gather", {n_.inputs[i], w_.integer(static_cast<int64_t>(d))},
                 {{"axis", int64_t{0}}});
  }
  ValueId transposed(ValueId v) {
    return w_.op("Transpose", {v}, {{"perm", std::vector<int64_t>{1, 0}}});
  }

  // States [batch, hidden] in front of the first step.
  ValueId initial(size_t i, size_t d) {
    if (n_.has_input(i)) {
      return w_.op("Gather", {n_.inputs[i], w_.integer(static_cast<int64_t>(d))},
                   {{"axis", int64_t{batch_first_ ? 1 : 0}}});
    }
    const ValueId batch = w_.op("Gather", {w_.op("Shape", {x_}), w_.integers({1})});
    const ValueId hidden = w_.op("Gather", {w_.op("Shape", {n_.inputs[2]}), w_.integers({2})});
    const ValueId shape = w_.op("Concat", {batch, hidden}, {{"axis", int64_t{0}}});
    return w_.op("CastLike", {w_.op("ConstantOfShape", {shape}), x_});
  }

  // The last states and the states of all steps.
  std::vector<ValueId> direction(size_t d) {
    const bool before_reset = gates_ == 3 && n_.integer("linear_before_reset", 0) != 0;
    ValueId xw = w_.op("MatMul", {x_, transposed(part(1, d))});
    ValueId recurrent_bias = kNone;
    if (n_.has_input(3)) {
      const std::vector<ValueId> b =
          w_.ops("Split", 2, {part(3, d)}, {{"axis", int64_t{0}}, {"num_outputs", int64_t{2}}});
      xw = w_.op("Add", {xw, b[0]});
      if (gates_ == 3) {
        recurrent_bias = b[1];
      } else {
        xw = w_.op("Add", {xw, b[1]});
      }
    }
    const bool reversed = backwards_[d] && lengths_ != kNone;
    const Attributes along = {{"time_axis", int64_t{0}}, {"batch_axis", int64_t{1}}};
    if (reversed) xw = w_.op("ReverseSequence", {xw, lengths_}, along);
    std::vector<ValueId> operands{initial(5, d)};
    if (gates_ == 4) operands.push_back(initial(6, d));
    if (lengths_ != kNone) operands.push_back(w_.integer(0));
    const size_t states = operands.size();
    operands.push_back(xw);
    if (lengths_ != kNone) operands.push_back(lengths_);
    const size_t own = operands.size();
    // What the body reads beside them.
    operands.push_back(transposed(part(2, d)));
    if (recurrent_bias != kNone) operands.push_back(recurrent_bias);
    if (gates_ == 4 && n_.has_input(7)) operands.push_back(part(7, d));
    Attributes attributes = {{"num_scan_inputs", int64_t{1}},
                             {"operands", static_cast<int64_t>(own)}};
    if (lengths_ != kNone) attributes["bounded"] = int64_t{1};
    if (backwards_[d] && !reversed) {
      attributes["scan_input_directions"] = std::vector<int64_t>{1};
      attributes["scan_output_directions"] = std::vector<int64_t>{1};
    }
    attributes["body"] = std::make_shared<const Graph>(
        body(d, states, operands.size(), recurrent_bias != kNone, before_reset));
    std::vector<ValueId> results = w_.ops("Scan", states + 1, operands, attributes);
    if (reversed) results.back() = w_.op("ReverseSequence", {results.back(), lengths_}, along);
    return results;
  }

  Graph body(size_t d, size_t states, size_t inputs, bool bias, bool before_reset) {
    Graph g;
    g.name = n_.name;
    for (size_t k = 0; k < inputs; k++) g.inputs.push_back(g.add_value("in" + std::to_string(k)));
    std::vector<Node> nodes;
    Writer w(&g, &nodes, n_.name + "/");
    const ValueId h = g.inputs[0], x = g.inputs[states];
    size_t next = states + 1;
    const ValueId lengths = lengths_ != kNone ? g.inputs[next++] : kNone;
    const ValueId r = g.inputs[next++];
    const ValueId rb = bias ? g.inputs[next++] : kNone;
    const bool peepholes = gates_ == 4 && n_.has_input(7);
    const ValueId p = peepholes ? g.inputs[next++] : kNone;
    const size_t each = gates_ == 4 ? 3 : gates_ == 3 ? 2 : 1;
    auto gate = [&](size_t which, ValueId v) {
      if (n_.has("clip")) {
        const float most = n_.real("clip", 0);
        v = w.op("Clip", {v, w.number(-most, v), w.number(most, v)});
      }
      return activate(w, activations_[d * each + which], v);
    };
    auto split = [&](ValueId v, size_t parts, int64_t axis) {
      return w.ops("Split", parts, {v},
                   {{"axis", axis}, {"num_outputs", static_cast<int64_t>(parts)}});
    };
    auto add = [&](ValueId a, ValueId b) { return w.op("Add", {a, b}); };
    auto mul = [&](ValueId a, ValueId b) { return w.op("Mul", {a, b}); };
    ValueId new_h, new_c = kNone;
    if (gates_ == 1) {
      new_h = gate(0, add(x, w.op("MatMul", {h, r})));
    } else if (gates_ == 4) {
      const ValueId c = g.inputs[1];
      std::vector<ValueId> s = split(add(x, w.op("MatMul", {h, r})), 4, -1);  // i, o, f, c
      std::vector<ValueId> watch;                                             // i, o, f
      if (peepholes) watch = split(p, 3, 0);
      if (peepholes) s[0] = add(s[0], mul(watch[0], c));
      const ValueId in = gate(0, s[0]);
      ValueId forget;
      if (n_.integer("input_forget", 0) != 0) {
        forget = w.op("Sub", {w.number(1, in), in});
      } else {
        if (peepholes) s[2] = add(s[2], mul(watch[2], c));
        forget = gate(0, s[2]);
      }
      new_c = add(mul(forget, c), mul(in, gate(1, s[3])));
      if (peepholes) s[1] = add(s[1], mul(watch[1], new_c));
      new_h = mul(gate(0, s[1]), activate(w, activations_[d * each + 2], new_c));
    } else {
      const std::vector<ValueId> xs = split(x, 3, -1), rs = split(r, 3, 1);  // z, r, h
      std::vector<ValueId> bs;
      if (rb != kNone) bs = split(rb, 3, 0);
      auto with_bias = [&](ValueId v, size_t k) { return bs.empty() ? v : add(v, bs[k]); };
      const ValueId z = gate(0, add(xs[0], with_bias(w.op("MatMul", {h, rs[0]}), 0)));
      const ValueId reset = gate(0, add(xs[1], with_bias(w.op("MatMul", {h, rs[1]}), 1)));
      const ValueId from_h = before_reset ? mul(reset, with_bias(w.op("MatMul", {h, rs[2]}), 2))
                                          : with_bias(w.op("MatMul", {mul(reset, h), rs[2]}), 2);
      const ValueId fresh = gate(1, add(xs[2], from_h));
      new_h = add(mul(w.op("Sub", {w.number(1, z), z}), fresh), mul(z, h));
    }
    ValueId y = new_h;
    if (lengths != kNone) {
      // Behind the end of its sequence a state stays, and results are 0.
      const ValueId turn = g.inputs[states - 1];
      const ValueId live = w.op("Unsqueeze", {w.op("Less", {turn, lengths}), w.integers({-1})});
      y = w.op("Where", {live, new_h, w.number(0, new_h)});
      new_h = w.op("Where", {live, new_h, h});
      if (gates_ == 4) new_c = w.op("Where", {live, new_c, g.inputs[1]});
    }
    g.outputs = {new_h};
    if (gates_ == 4) g.outputs.push_back(new_c);
    if (lengths != kNone) g.outputs.push_back(add(g.inputs[states - 1], w.integer(1)));
    g.outputs.push_back(y);
    g.nodes = std::move(nodes);
    return g;
  }

  // Output k of the node: the directions side by side, and as its layout wants them.
  void finish(size_t k, const std::vector<ValueId> &parts, int64_t axis,
              const std::vector<int64_t> &batch_first) {
    if (k >= n_.outputs.size() || n_.outputs[k] == kNone) return;
    const ValueId all = w_.op("Concat", parts, {{"axis", axis}});
    if (batch_first_) w_.op("Transpose", {all}, {{"perm", batch_first}});
    w_.last().outputs = {n_.outputs[k]};
  }

  const Node &n_;
  Writer w_;
  const size_t gates_;
  const bool batch_first_;
  std::vector<bool> backwards_;
  std::vector<Activation> activations_;
  ValueId x_ = kNone, lengths_ = kNone;
};

}  // namespace

Graph expand_recurrent(Graph g) {
  std::vector<Node> nodes;
  const std::vector<Node> old = std::move(g.nodes);
  for (const Node &n : old) {
    if (n.is("RNN") || n.is("LSTM") || n.is("GRU")) {
      CellExpansion(n, &g, &nodes).run();
    } else {
      nodes.push_back(n);
    }
  }
  g.nodes = std::move(nodes);
  return g;
}

}  // namespace polyhalite::onnx
