// Operators of com.microsoft that are a few standard ones: sums with an activation or a
// normalisation behind them, products of turned operands.
#include "apps/onnx/expansion_call.h"

namespace polyhalite::onnx {

namespace {

ValueId gelu(Call &c, ValueId x, const char *approximate) {
  return c.w.op("Gelu", {x}, {{"approximate", std::string(approximate)}});
}

void expand_gelu(Call &c) { c.define(0, gelu(c, c.in(0), "none")); }
void expand_bias_gelu(Call &c) { c.define(0, gelu(c, c.w.op("Add", {c.in(0), c.in(1)}), "none")); }
void expand_fast_gelu(Call &c) {
  ValueId x = c.in(0);
  if (c.has(1)) x = c.w.op("Add", {x, c.in(1)});
  c.define(0, gelu(c, x, "tanh"));
}
void expand_quick_gelu(Call &c) {
  c.define(0, c.w.op("Swish", {c.in(0)}, {{"alpha", c.node.real("alpha", 1.702f)}}));
}

// input + skip (+ bias), which is an output too.
ValueId skip_sum(Call &c, size_t bias) {
  c.refuse_output(1, "the mean");
  c.refuse_output(2, "the inverse deviation");
  ValueId sum = c.w.op("Add", {c.in(0), c.in(1)});
  if (c.has(bias)) sum = c.w.op("Add", {sum, c.in(bias)});
  c.define(3, sum);
  return sum;
}

void expand_skip_layer_norm(Call &c) {
  std::vector<ValueId> operands{skip_sum(c, 4), c.in(2)};
  if (c.has(3)) operands.push_back(c.in(3));
  c.define(0,
           c.w.op("LayerNormalization", operands, {{"epsilon", c.node.real("epsilon", 1e-12f)}}));
}
void expand_skip_rms_norm(Call &c) {
  c.define(0, c.w.op("RMSNormalization", {skip_sum(c, 3), c.in(2)},
                     {{"epsilon", c.node.real("epsilon", 1e-12f)}}));
}
void expand_rms_norm(Call &c) {
  c.refuse_output(1, "the inverse deviation");
  c.define(0, c.w.op("RMSNormalization", {c.in(0), c.in(1)},
                     {{"axis", c.node.integer("axis", -1)},
                      {"epsilon", c.node.real("epsilon", 1e-5f)}}));
}

// An operand of a product, and its indices as they lie in memory: "...ij" where rows are rows.
struct Factor {
  ValueId v;
  std::string indices;
  bool turned;
};

// Known operands are turned here, which costs nothing when the model runs.
Factor factor(Call &c, size_t i, const std::string &rows, const std::string &columns, bool turned,
              bool batches_inside) {
  const ValueId v = c.in(i);
  const std::string front = turned ? columns : rows, back = turned ? rows : columns;
  const std::string plain = "..." + rows + columns;
  const auto &shape = c.w.graph().value(v).shape;
  // Vectors have no rows to turn.
  if ((!turned && !batches_inside) || (shape && shape->size() < 2)) return {v, plain, false};
  const Factor stored{v, batches_inside ? front + "..." + back : "..." + front + back, true};
  if (!c.w.graph().value(v).constant) return stored;
  const auto rank = static_cast<int64_t>(shape->size());
  const int64_t first = batches_inside ? 0 : rank - 2;
  std::vector<int64_t> perm;
  for (int64_t d = 0; d < rank - 1; d++) {
    if (d != first) perm.push_back(d);
  }
  perm.insert(perm.end(), {turned ? rank - 1 : first, turned ? first : rank - 1});
  return {c.w.op("Transpose", {v}, {{"perm", perm}}), plain, false};
}

void expand_matmul(Call &c) {
  auto flag = [&](const char *name) { return c.node.integer(name, 0) != 0; };
  const Factor a = factor(c, 0, "i", "j", flag("transA"), flag("transBatchA")),
               b = factor(c, 1, "j", "k", flag("transB"), flag("transBatchB"));
  ValueId y = a.turned || b.turned ? c.w.op("Einsum", {a.v, b.v},
                                            {{"equation", a.indices + "," + b.indices + "->...ik"}})
                                   : c.w.op("MatMul", {a.v, b.v});
  const float alpha = c.node.real("alpha", 1);
  if (alpha != 1) y = c.w.op("Mul", {y, c.w.number(alpha, y)});
  c.define(0, y);
}

// The activation that another operator ends with, and its parameters in the order of their names.
ValueId activated(Call &c, ValueId x, const std::vector<float> &parameters) {
  static const std::map<std::string, std::vector<std::string>> kParameters = {
      {"Relu", {}},
      {"Sigmoid", {}},
      {"Softplus", {}},
      {"Softsign", {}},
      {"Tanh", {}},
      {"LeakyRelu", {"alpha"}},
      {"Elu", {"alpha"}},
      {"ThresholdedRelu", {"alpha"}},
      {"HardSigmoid", {"alpha", "beta"}},
      {"Clip", {"least", "most"}}};
  const std::string name = c.node.text("activation", "");
  if (name.empty()) return x;
  const auto at = kParameters.find(name);
  if (at == kParameters.end()) c.fail("its activation is '" + name + "'", "that is not supported");
  if (parameters.size() < at->second.size()) {
    c.fail("its activation " + name + " has " + std::to_string(parameters.size()) + " parameters",
           "it takes " + std::to_string(at->second.size()));
  }
  if (name == "Clip")
    return c.w.op("Clip", {x, c.w.number(parameters[0], x), c.w.number(parameters[1], x)});
  Attributes attributes;
  for (size_t k = 0; k < at->second.size(); k++) attributes[at->second[k]] = parameters[k];
  return c.w.op(name, {x}, attributes);
}

Attributes attributes_of(const Call &c, const std::vector<std::string> &names) {
  Attributes given;
  for (const std::string &name : names) {
    const auto at = c.node.attributes.find(name);
    if (at != c.node.attributes.end()) given.insert(*at);
  }
  return given;
}

const std::vector<std::string> kConvAttributes = {"auto_pad",     "dilations", "group",
                                                  "kernel_shape", "pads",      "strides"};

void expand_conv(Call &c) {
  std::vector<ValueId> operands{c.in(0), c.in(1)};
  if (c.has(2)) operands.push_back(c.in(2));
  ValueId y = c.w.op("Conv", operands, attributes_of(c, kConvAttributes));
  if (c.has(3)) y = c.w.op("Add", {y, c.in(3)});
  std::vector<float> parameters;
  if (c.node.has("activation_params")) {
    const auto *list = std::get_if<std::vector<float>>(&c.node.attributes.at("activation_params"));
    if (!list) c.fail("activation_params is no list of numbers", "parameters are numbers");
    parameters = *list;
  }
  c.define(0, activated(c, y, parameters));
}

void expand_gemm(Call &c) {
  std::vector<ValueId> operands{c.in(0), c.in(1)};
  if (c.has(2)) operands.push_back(c.in(2));
  const ValueId y =
      c.w.op("Gemm", operands, attributes_of(c, {"alpha", "beta", "transA", "transB"}));
  std::vector<float> parameters;
  for (const char *name : {"activation_alpha", "activation_beta"}) {
    if (c.node.has(name)) parameters.push_back(c.node.real(name, 0));
  }
  c.define(0, activated(c, y, parameters));
}

// Each row of the left operand with each of the right one.
void expand_distances(Call &c) {
  const std::string metric = c.node.text("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    c.fail("its metric is '" + metric + "'", "'sqeuclidean' and 'euclidean' are supported");
  const ValueId a = c.w.op("Unsqueeze", {c.in(0), c.w.integers({1})}),
                b = c.w.op("Unsqueeze", {c.in(1), c.w.integers({0})});
  c.define(0, c.w.op(metric == "euclidean" ? "ReduceL2" : "ReduceSumSquare",
                     {c.w.op("Sub", {a, b}), c.w.integers({-1})}, {{"keepdims", int64_t{0}}}));
}

void expand_unsqueeze(Call &c) {
  c.define(0, c.w.op("Unsqueeze", {c.in(0), c.w.op("Reshape", {c.in(1), c.w.integers({1})})}));
}

// What the main domain has as well.
void expand_same(Call &c) { c.define(0, c.w.op(c.node.op, c.node.inputs, c.node.attributes)); }

std::vector<std::string> with(std::vector<std::string> a, const std::vector<std::string> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

std::vector<Expansion> microsoft_expansions() {
  const std::vector<std::string> turns = {"alpha", "transA", "transB"};
  return {
      {kMicrosoft, "BiasGelu", 2, 2, 1, {}, expand_bias_gelu},
      {kMicrosoft, "CDist", 2, 2, 1, {"metric"}, expand_distances},
      {kMicrosoft, "ExpandDims", 2, 2, 1, {}, expand_unsqueeze},
      {kMicrosoft, "FastGelu", 1, 2, 1, {}, expand_fast_gelu},
      {kMicrosoft, "FusedConv", 2, 4, 1, with(kConvAttributes, {"activation", "activation_params"}),
       expand_conv},
      {kMicrosoft, "FusedGemm", 2, 3, 1,
       with(turns, {"beta", "activation", "activation_alpha", "activation_beta"}), expand_gemm},
      {kMicrosoft, "FusedMatMul", 2, 2, 1, with(turns, {"transBatchA", "transBatchB"}),
       expand_matmul},
      {kMicrosoft, "GatherND", 2, 2, 1, {}, expand_same},
      {kMicrosoft, "Gelu", 1, 1, 1, {}, expand_gelu},
      {kMicrosoft, "Pad", 2, 3, 1, {"mode"}, expand_same},
      {kMicrosoft, "QuickGelu", 1, 1, 1, {"alpha"}, expand_quick_gelu},
      {kMicrosoft,
       "SimplifiedLayerNormalization",
       2,
       2,
       2,
       {"axis", "epsilon", "stash_type"},
       expand_rms_norm},
      // onnxruntime keeps it in the main domain.
      {"",
       "SimplifiedLayerNormalization",
       2,
       2,
       2,
       {"axis", "epsilon", "stash_type"},
       expand_rms_norm},
      {kMicrosoft, "SkipLayerNormalization", 3, 5, 4, {"epsilon"}, expand_skip_layer_norm},
      {kMicrosoft, "SkipSimplifiedLayerNormalization", 3, 4, 4, {"epsilon"}, expand_skip_rms_norm},
      {kMicrosoft, "Trilu", 1, 2, 1, {"upper"}, expand_same},
      {kMicrosoft, "TransposeMatMul", 2, 2, 1, turns, expand_matmul},
  };
}

}  // namespace polyhalite::onnx
