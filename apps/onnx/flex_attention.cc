// ai.onnx.preview.FlexAttention: attention whose scores and weights go through graphs of the
// model's own, which are put in their places.
#include "apps/onnx/canonicalize.h"
#include "apps/onnx/expansion_call.h"
#include "apps/onnx/regions.h"

namespace polyhalite::onnx {

namespace {

// The nodes of a graph of one operand and one result behind what was written.
ValueId in_place(Call &c, const std::string &attribute, ValueId operand) {
  const auto at = c.node.attributes.find(attribute);
  if (at == c.node.attributes.end()) return operand;
  const auto *given = std::get_if<std::shared_ptr<const Graph>>(&at->second);
  if (!given || (*given)->inputs.size() != 1 || (*given)->outputs.size() != 1)
    c.fail(attribute + " is no graph with one input and one output",
           "it makes scores of scores, or weights of weights");
  // What the graph reads around it are operands behind its own.
  Graph region = **given;
  std::vector<ValueId> operands{operand}, results;
  for (const auto &[outer, inner] : region.captures) {
    operands.push_back(outer);
    region.inputs.push_back(inner);
  }
  region.captures.clear();
  region = canonicalize(std::move(region));
  for (Node &n : nodes_of(region, operands, c.node.name + "/", &c.w.graph(), &results))
    c.w.add(std::move(n));
  return results[0];
}

// [batch, key heads, ...]  ->  [batch, heads, ...], each as often as heads share it.
ValueId shared_heads(Call &c, ValueId v, ValueId heads) {
  const ValueId own = size_of(&c.w, v, 1), share = c.w.op("Div", {heads, own});
  auto shape = [&](std::vector<ValueId> middle) {
    std::vector<ValueId> sizes{size_of(&c.w, v, 0)};
    sizes.insert(sizes.end(), middle.begin(), middle.end());
    sizes.push_back(size_of(&c.w, v, 2));
    sizes.push_back(size_of(&c.w, v, 3));
    return c.w.op("Concat", sizes, {{"axis", int64_t{0}}});
  };
  const ValueId each =
      c.w.op("Expand", {c.w.op("Unsqueeze", {v, c.w.integers({2})}), shape({own, share})});
  return c.w.op("Reshape", {each, shape({heads})});
}

void expand_flex_attention(Call &c) {
  for (size_t i = 0; i < 3; i++) {
    const auto &shape = c.w.graph().value(c.in(i)).shape;
    if (shape && shape->size() != 4)
      c.fail("operand " + std::to_string(i) + " has rank " + std::to_string(shape->size()),
             "it is [batch, heads, positions, width]");
  }
  Attributes attributes;
  if (c.node.has("scale")) attributes["scale"] = c.node.real("scale", 1);
  if (!c.node.has("score_mod") && !c.node.has("prob_mod")) {
    c.define(0, c.w.op("Attention", {c.in(0), c.in(1), c.in(2)}, attributes));
    return;
  }
  const auto precision = c.node.integer("softmax_precision", 0);
  const ValueId query = c.in(0), heads = size_of(&c.w, query, 1);
  const ValueId key = shared_heads(c, c.in(1), heads), value = shared_heads(c, c.in(2), heads);
  ValueId scores = c.w.op(
      "MatMul", {query, c.w.op("Transpose", {key}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}})});
  if (c.node.has("scale")) {
    scores = c.w.op("Mul", {scores, c.w.number(c.node.real("scale", 1), scores)});
  } else {
    const ValueId width = c.w.op("CastLike", {size_of(&c.w, query, 3), scores});
    scores = c.w.op("Div", {scores, c.w.op("Sqrt", {width})});
  }
  scores = in_place(c, "score_mod", scores);
  ValueId wide = scores;
  if (precision != 0) wide = c.w.op("Cast", {scores}, {{"to", precision}});
  wide = c.w.op("Softmax", {wide}, {{"axis", int64_t{-1}}});
  const ValueId weights = in_place(c, "prob_mod", c.w.op("CastLike", {wide, scores}));
  c.define(0, c.w.op("MatMul", {weights, value}));
}

}  // namespace

std::vector<Expansion> flex_attention_expansions() {
  return {{"ai.onnx.preview",
           "FlexAttention",
           3,
           3,
           1,
           {"prob_mod", "scale", "score_mod", "softmax_precision"},
           expand_flex_attention}};
}

}  // namespace polyhalite::onnx
