#include "apps/onnx/batched_scan.h"

#include <algorithm>

#include "apps/onnx/operator_table.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

Node expanded(const Node &n) {
  if (n.has_input(0))
    user_error(n.describe() + ": its sequences have lengths of their own",
               "sequences of one length are supported", "export the model with a newer opset");
  const auto at = n.attributes.find("body");
  const auto *given =
      at == n.attributes.end() ? nullptr : std::get_if<std::shared_ptr<const Graph>>(&at->second);
  if (!given || n.inputs.size() < 2)
    user_error(n.describe() + ": it has no body, or nothing to scan",
               "its nodes are a graph of this name", "mend the model");
  const int version = find_operator("Scan")->versions.back();
  Node outer = n;
  outer.version = version;
  outer.inputs.erase(outer.inputs.begin());
  outer.attributes = {{"num_scan_inputs", static_cast<int64_t>(outer.inputs.size())}};

  Graph each;
  each.name = n.name;
  Node inner = outer;
  inner.name = n.name + "/each";
  inner.attributes = {{"num_scan_inputs", n.integer("num_scan_inputs", 0)}};
  if (n.has("directions")) inner.attributes["scan_input_directions"] = n.integers("directions");
  for (size_t k = 0; k < inner.inputs.size(); k++) {
    inner.inputs[k] = each.add_value("in" + std::to_string(k));
    each.inputs.push_back(inner.inputs[k]);
  }
  for (size_t k = 0; k < inner.outputs.size(); k++) {
    inner.outputs[k] = each.add_value("out" + std::to_string(k));
    each.outputs.push_back(inner.outputs[k]);
  }
  Graph body = **given;
  for (auto &[around, inside] : body.captures) {
    const ValueId between = each.add_value("around" + std::to_string(each.captures.size()));
    each.captures.emplace_back(around, between);
    around = between;
  }
  inner.attributes["body"] = std::make_shared<const Graph>(std::move(body));
  each.nodes = {std::move(inner)};
  outer.attributes["body"] = std::make_shared<const Graph>(std::move(each));
  return outer;
}

}  // namespace

Graph expand_batched_scans(Graph g) {
  for (Node &n : g.nodes) {
    if (n.is("Scan") && n.version == 8) n = expanded(n);
  }
  return g;
}

}  // namespace polyhalite::onnx
