#include "apps/onnx/regions.h"

#include <algorithm>

#include "apps/onnx/canonicalize.h"

namespace polyhalite::onnx {

const Graph *region_of(const Node &n, const std::string &attribute) {
  const auto at = n.attributes.find(attribute);
  if (at == n.attributes.end()) return nullptr;
  const auto *g = std::get_if<std::shared_ptr<const Graph>>(&at->second);
  return g ? g->get() : nullptr;
}

bool is_own_attribute(const std::string &name) {
  return name == "operands" || name == "bounded" || name == "turn";
}

size_t scan_bounds(const Node &n) { return n.integer("bounded", 0) != 0 ? 1 : 0; }

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

bool reads(const Graph &region, ValueId v) {
  const auto among = [&](const std::vector<ValueId> &list) {
    return std::find(list.begin(), list.end(), v) != list.end();
  };
  return among(region.outputs) || std::any_of(region.nodes.begin(), region.nodes.end(),
                                              [&](const Node &n) { return among(n.inputs); });
}

ValueId original(const Graph &g, ValueId v) {
  for (size_t i = g.nodes.size(); i-- > 0;) {
    const Node &n = g.nodes[i];
    if (n.is("Identity") && n.has_input(0) && n.outputs[0] == v) v = n.inputs[0];
  }
  return v;
}

void capture_invariants(Graph *g, Node *n) {
  const bool loop = n->is("Loop");
  if (!loop && !(n->is("Scan") && n->version >= 9)) return;
  const Graph *given = region_of(*n, "body");
  if (!given || !n->has("operands")) return;
  Graph body = *given;
  const auto own = static_cast<size_t>(n->integer("operands", 0));
  const size_t before = loop ? 2 : 0, tests = loop ? 1 : 0;  // counters and conditions come first
  const size_t scans = static_cast<size_t>(n->integer("num_scan_inputs", 0)) + scan_bounds(*n);
  if (own < before + scans || own > n->inputs.size() || body.inputs.size() != n->inputs.size() ||
      body.outputs.size() < tests + own - before - scans)
    return;
  bool any = false;
  size_t count = own;
  for (size_t k = own - before - scans; k-- > 0;) {
    const ValueId inside = body.inputs[before + k], around = n->inputs[before + k];
    const ValueId result = k < n->outputs.size() ? n->outputs[k] : kNone;
    const bool given_away =
        std::count(g->outputs.begin(), g->outputs.end(), result) != 0 && result != kNone;
    if (around == kNone || given_away || original(body, body.outputs[tests + k]) != inside)
      continue;
    const auto at = static_cast<ptrdiff_t>(before + k);
    n->inputs.erase(n->inputs.begin() + at);
    body.inputs.erase(body.inputs.begin() + at);
    n->inputs.push_back(around);
    body.inputs.push_back(inside);
    body.outputs.erase(body.outputs.begin() + static_cast<ptrdiff_t>(tests + k));
    if (k < n->outputs.size()) n->outputs.erase(n->outputs.begin() + static_cast<ptrdiff_t>(k));
    if (result != kNone) g->replace_uses(result, around);
    count--;
    any = true;
  }
  if (!any) return;
  n->attributes["operands"] = static_cast<int64_t>(count);
  n->attributes["body"] = std::make_shared<const Graph>(std::move(body));
}

std::vector<Node> nodes_of(const Graph &region, const std::vector<ValueId> &operands,
                           const std::string &prefix, Graph *g, std::vector<ValueId> *results) {
  std::vector<ValueId> outside(region.values.size(), kNone);
  for (size_t i = 0; i < region.inputs.size(); i++)
    outside[static_cast<size_t>(region.inputs[i])] = operands[i];
  auto map = [&](ValueId v) {
    if (v == kNone) return kNone;
    ValueId &to = outside[static_cast<size_t>(v)];
    if (to == kNone) {
      const Value &value = region.value(v);
      to = g->add_value(prefix + value.name, value.type, value.shape);
      g->value(to).constant = value.constant;
    }
    return to;
  };
  std::vector<Node> nodes = region.nodes;
  for (Node &n : nodes) {
    for (ValueId &v : n.inputs) v = map(v);
    for (ValueId &v : n.outputs) v = map(v);
  }
  for (ValueId v : region.outputs) results->push_back(map(v));
  return nodes;
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
  std::string prefix;
  for (ValueId v : node.outputs) {
    if (prefix.empty() && v != kNone) prefix = g->value(v).name + "/";
  }
  const auto begin = node.inputs.begin() + static_cast<ptrdiff_t>(first);
  std::vector<ValueId> results;
  // Named after the node, so that names do not depend on which other branches are inlined.
  std::vector<Node> nodes = nodes_of(
      branch, {begin, begin + static_cast<ptrdiff_t>(branch.inputs.size())}, prefix, g, &results);
  g->nodes.erase(g->nodes.begin() + static_cast<ptrdiff_t>(at));
  g->nodes.insert(g->nodes.begin() + static_cast<ptrdiff_t>(at),
                  std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
  for (size_t k = 0; k < results.size(); k++) {
    if (node.outputs[k] != kNone) g->replace_uses(node.outputs[k], results[k]);
  }
  return true;
}

}  // namespace polyhalite::onnx
