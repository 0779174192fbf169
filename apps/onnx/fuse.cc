#include "apps/onnx/fuse.h"

#include <algorithm>
#include <set>

#include "apps/onnx/infer.h"
#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

namespace {

// Larger kernels compile slower and gain little.
constexpr size_t kMostNodes = 24;

Operator::Form form_of(const Node &n) { return operator_of(n.domain, n.op)->form; }

}  // namespace

std::vector<ValueId> storage_roots(const Graph &g) {
  std::vector<ValueId> roots(g.values.size());
  for (size_t v = 0; v < roots.size(); v++) roots[v] = static_cast<ValueId>(v);
  for (const Node &n : g.nodes) {
    if (form_of(n) != Operator::View) continue;
    roots[static_cast<size_t>(n.outputs[0])] = roots[static_cast<size_t>(n.inputs[0])];
  }
  return roots;
}

std::vector<Group> fuse(const Graph &g, bool enabled) {
  const size_t count = g.nodes.size();
  // The group of each node, named by its last node.
  std::vector<size_t> group(count);
  std::vector<size_t> heavy(count), size(count, 1);
  std::vector<std::vector<size_t>> consumers(g.values.size());
  std::set<ValueId> outputs(g.outputs.begin(), g.outputs.end());
  for (size_t i = 0; i < count; i++) {
    group[i] = i;
    heavy[i] = form_of(g.nodes[i]) == Operator::Pointwise ? 0 : 1;
    for (size_t k = 0; k < g.nodes[i].inputs.size(); k++) {
      const ValueId v = g.nodes[i].inputs[k];
      if (v != kNone && reads_elements(g, g.nodes[i], k))
        consumers[static_cast<size_t>(v)].push_back(i);
    }
  }
  for (size_t i = count; enabled && i-- > 0;) {
    const Node &n = g.nodes[i];
    const Operator::Form form = form_of(n);
    if (form == Operator::View || form == Operator::Host || n.outputs.size() != 1 ||
        outputs.count(n.outputs[0])) {
      continue;
    }
    const auto &users = consumers[static_cast<size_t>(n.outputs[0])];
    if (users.empty()) continue;
    const size_t into = group[users[0]];
    const Value &value = g.value(n.outputs[0]);
    bool fits = size[into] < kMostNodes && heavy[into] + heavy[i] <= 1;
    for (size_t u : users) {
      const Node &user = g.nodes[u];
      fits = fits && group[u] == into && form_of(user) == Operator::Pointwise &&
             g.value(user.outputs[0]).shape == value.shape &&
             !is_turn(user);  // what is turned is made first
    }
    if (!fits) continue;
    group[i] = into;
    heavy[into] += heavy[i];
    size[into]++;
  }
  std::vector<Group> groups;
  std::vector<std::vector<size_t>> members(count);
  for (size_t i = 0; i < count; i++) members[group[i]].push_back(i);
  for (size_t i = 0; i < count; i++) {
    if (members[i].empty() || form_of(g.nodes[i]) == Operator::View) continue;
    Group one;
    one.nodes = members[i];
    std::set<ValueId> inside;
    for (size_t m : one.nodes) {
      const Node &n = g.nodes[m];
      const bool host = form_of(n) == Operator::Host;
      for (size_t k = 0; k < n.inputs.size(); k++) {
        const ValueId v = n.inputs[k];
        if (v == kNone || inside.count(v)) continue;
        if (!host && (is_literal(g.value(v)) || !reads_elements(g, n, k))) continue;
        if (std::count(one.inputs.begin(), one.inputs.end(), v) == 0) one.inputs.push_back(v);
      }
      for (ValueId v : n.outputs) inside.insert(v);
    }
    for (ValueId v : g.nodes[i].outputs) {
      if (v != kNone) one.outputs.push_back(v);
    }
    groups.push_back(std::move(one));
  }
  return groups;
}

}  // namespace polyhalite::onnx
