#include "apps/onnx/canonicalize.h"

#include "apps/onnx/batched_scan.h"
#include "apps/onnx/expansions.h"
#include "apps/onnx/linear_attention.h"
#include "apps/onnx/random_keys.h"
#include "apps/onnx/recurrent.h"
#include "apps/onnx/regions.h"

namespace polyhalite::onnx {

namespace {

// An attribute that is an input from version `since` on.
struct MovedAttribute {
  const char *op, *attribute;
  size_t input;
  int since;
};

const MovedAttribute kMoved[] = {
    {"Squeeze", "axes", 1, 13},
    {"Unsqueeze", "axes", 1, 13},
    {"ReduceSum", "axes", 1, 13},
    {"ReduceMean", "axes", 1, 18},
    {"ReduceMax", "axes", 1, 18},
    {"ReduceMin", "axes", 1, 18},
    {"ReduceProd", "axes", 1, 18},
    {"ReduceL1", "axes", 1, 18},
    {"ReduceL2", "axes", 1, 18},
    {"ReduceLogSum", "axes", 1, 18},
    {"ReduceLogSumExp", "axes", 1, 18},
    {"ReduceSumSquare", "axes", 1, 18},
    {"Split", "split", 1, 13},
    {"Slice", "starts", 1, 10},
    {"Slice", "ends", 2, 10},
    {"Slice", "axes", 3, 10},
    {"Pad", "paddings", 1, 2},
    {"Pad", "pads", 1, 11},
    {"Pad", "value", 2, 11},
    {"Clip", "min", 1, 11},
    {"Clip", "max", 2, 11},
    {"Reshape", "shape", 1, 5},
    {"TopK", "k", 1, 10},
    {"Upsample", "scales", 2, 9},
};

std::optional<Constant> as_constant(const Attribute &a) {
  if (const auto *list = std::get_if<std::vector<int64_t>>(&a)) return Constant::integers(*list);
  if (const auto *i = std::get_if<int64_t>(&a)) return Constant::integers({*i});
  if (const auto *f = std::get_if<float>(&a)) return Constant::real(*f);
  if (const auto *list = std::get_if<std::vector<float>>(&a)) {
    std::vector<uint8_t> bytes;
    for (float f : *list) {
      const auto *p = reinterpret_cast<const uint8_t *>(&f);
      bytes.insert(bytes.end(), p, p + 4);
    }
    return Constant::of_bytes(ElementType::Float32, {static_cast<int64_t>(list->size())}, bytes);
  }
  return std::nullopt;
}

void move_attributes(Graph *g, Node *n) {
  for (const MovedAttribute &m : kMoved) {
    if (n->op != m.op || n->version >= m.since) continue;
    const auto at = n->attributes.find(m.attribute);
    if (at == n->attributes.end()) continue;
    const auto c = as_constant(at->second);
    if (!c) continue;
    if (n->inputs.size() <= m.input) n->inputs.resize(m.input + 1, kNone);
    n->inputs[m.input] = g->add_constant(n->name + "." + m.attribute, *c);
    n->attributes.erase(at);
  }
}

}  // namespace

bool is_rewritten(const std::string &op) {
  return op == "Constant" || op == "Scatter" || op == "Upsample" || op == "RNN" || op == "LSTM" ||
         op == "GRU" || op == "LinearAttention" || op == "CausalConvWithState" ||
         op == "Bernoulli" || op == "Multinomial";
}

Graph canonicalize(Graph g) {
  g = add_random_keys(expand_batched_scans(std::move(g)));
  g = expand_linear_attention(expand_recurrent(expand_operators(std::move(g))));
  for (Node &n : g.nodes) {
    if (!n.domain.empty()) continue;
    close_regions(&n);
    capture_invariants(&g, &n);
    move_attributes(&g, &n);
    if (n.op == "Scatter") n.op = "ScatterElements";
    const bool upsample = n.op == "Upsample";
    if (upsample) {
      n.op = "Resize";
      if (n.version >= 9 && n.inputs.size() == 2) n.inputs.insert(n.inputs.begin() + 1, kNone);
    } else if (n.op == "Resize" && n.version == 10 && n.inputs.size() == 2) {
      n.inputs.insert(n.inputs.begin() + 1, kNone);
    }
    if (n.op == "Resize" && (upsample || n.version == 10)) {
      n.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
      n.attributes["nearest_mode"] = std::string("floor");
    }
    const bool softmax = n.op == "Softmax" || n.op == "LogSoftmax" || n.op == "Hardmax";
    if (softmax && n.version < 13) {
      // Dimensions from `axis` on were one.
      n.attributes["trailing"] = int64_t{1};
      n.attributes.emplace("axis", int64_t{1});
    }
    if (n.op == "Concat" && n.version < 4) n.attributes.emplace("axis", int64_t{1});
  }
  return g;
}

}  // namespace polyhalite::onnx
