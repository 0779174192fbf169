#include "apps/onnx/regions.h"

#include "apps/onnx/canonicalize.h"

namespace polyhalite::onnx {

const Graph *region_of(const Node &n, const std::string &attribute) {
  const auto at = n.attributes.find(attribute);
  if (at == n.attributes.end()) return nullptr;
  const auto *g = std::get_if<std::shared_ptr<const Graph>>(&at->second);
  return g ? g->get() : nullptr;
}

void close_regions(Node *n) {
  if (n->has("operands")) return;
  // Loop's first two operands may be left out at the end of the list too.
  if (n->is("Loop") && n->inputs.size() < 2) n->inputs.resize(2, kNone);
  bool any = false;
  const auto own = static_cast<int64_t>(n->inputs.size());
  for (auto &[name, a] : n->attributes) {
    const auto *given = std::get_if<std::shared_ptr<const Graph>>(&a);
    if (!given) continue;
    any = true;
    Graph region = **given;
    for (const auto &[outer, inner] : region.captures) {
      n->inputs.push_back(outer);
      region.inputs.push_back(inner);
    }
    region.captures.clear();
    a = std::make_shared<const Graph>(canonicalize(std::move(region)));
  }
  if (any) n->attributes["operands"] = own;
}

bool inline_branch(Graph *g, size_t at) {
  const Node node = g->nodes[at];
  if (!node.is("If") || !node.has_input(0)) return false;
  const auto &condition = g->value(node.inputs[0]).constant;
  if (!condition || condition->elements() < 1) return false;
  const Graph *yes = region_of(node, "then_branch"), *no = region_of(node, "else_branch");
  if (!yes || !no) return false;
  // Operands of the regions stand in the order of the attributes' names.
  const bool taken = condition->integer_at(0) != 0;
  const Graph &branch = taken ? *yes : *no;
  const size_t first = 1 + (taken ? no->inputs.size() : 0);
  if (branch.outputs.size() != node.outputs.size() ||
      node.inputs.size() != 1 + yes->inputs.size() + no->inputs.size()) {
    return false;
  }
  std::vector<ValueId> outside(branch.values.size(), kNone);
  for (size_t i = 0; i < branch.inputs.size(); i++)
    outside[static_cast<size_t>(branch.inputs[i])] = node.inputs[first + i];
  std::string prefix;
  for (ValueId v : node.outputs) {
    if (prefix.empty() && v != kNone) prefix = g->value(v).name + "/";
  }
  auto map = [&](ValueId v) {
    if (v == kNone) return kNone;
    ValueId &to = outside[static_cast<size_t>(v)];
    if (to == kNone) {
      const Value &value = branch.value(v);
      // Named after the node, so that the name does not depend on which other branches are inlined.
      to = g->add_value(prefix + value.name, value.type, value.shape);
      g->value(to).constant = value.constant;
    }
    return to;
  };
  std::vector<Node> nodes = branch.nodes;
  for (Node &n : nodes) {
    for (ValueId &v : n.inputs) v = map(v);
    for (ValueId &v : n.outputs) v = map(v);
  }
  std::vector<ValueId> results;
  for (ValueId v : branch.outputs) results.push_back(map(v));
  g->nodes.erase(g->nodes.begin() + static_cast<ptrdiff_t>(at));
  g->nodes.insert(g->nodes.begin() + static_cast<ptrdiff_t>(at),
                  std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
  for (size_t k = 0; k < results.size(); k++) {
    if (node.outputs[k] != kNone) g->replace_uses(node.outputs[k], results[k]);
  }
  return true;
}

}  // namespace polyhalite::onnx
