#include <algorithm>
#include <map>

#include "apps/onnx/operator_table.h"
#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

// Is the node's first result its first operand as it is?
bool is_copy(const Graph &g, const Node &n) {
  if (n.is("Identity")) return true;
  if (n.is("Concat")) return n.inputs.size() == 1;
  if (n.is("Cast")) return g.value(n.inputs[0]).type == g.value(n.outputs[0]).type;
  if (!n.is("Dropout") || (n.outputs.size() > 1 && n.outputs[1] != kNone)) return false;
  if (!n.has_input(2)) return true;
  const auto &training = g.value(n.inputs[2]).constant;
  return training && training->elements() == 1 && training->integer_at(0) == 0;
}

}  // namespace

Graph remove_copies(Graph g) {
  std::vector<Node> nodes = std::move(g.nodes);
  g.nodes.clear();
  // Of each copy what it is one of; a copy of a copy stands behind the other.
  std::map<ValueId, ValueId> originals;
  for (Node &n : nodes) {
    for (ValueId &v : n.inputs) {
      if (const auto at = originals.find(v); at != originals.end()) v = at->second;
    }
    // The type is known, and what else it was the type of need not be there.
    if (n.is("CastLike")) {
      n.op = "Cast";
      n.version = find_operator("Cast")->versions.back();
      n.attributes["to"] = static_cast<int64_t>(g.value(n.outputs[0]).type);
      n.inputs.resize(1);
    }
    // What the graph gives away keeps its name.
    const bool given = std::count(g.outputs.begin(), g.outputs.end(), n.outputs[0]) != 0;
    if (!given && is_copy(g, n)) {
      originals[n.outputs[0]] = n.inputs[0];
    } else {
      g.nodes.push_back(std::move(n));
    }
  }
  return g;
}

}  // namespace polyhalite::onnx
