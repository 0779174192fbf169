#include "apps/onnx/expansions.h"

#include <algorithm>
#include <map>

#include "apps/onnx/expansion_call.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

using Key = std::pair<std::string, std::string>;

const std::map<Key, Expansion> &expansions() {
  static const std::map<Key, Expansion> all = [] {
    std::map<Key, Expansion> m;
    for (auto part :
         {microsoft_expansions, quantized_expansions, qlinear_expansions, attention_expansions,
          training_expansions, flex_attention_expansions, classical_expansions, tree_expansions}) {
      for (const Expansion &e : part()) m.emplace(Key{e.domain, e.name}, e);
    }
    return m;
  }();
  return all;
}

bool asks_for_nothing(const Attribute &a) {
  if (const auto *i = std::get_if<int64_t>(&a)) return *i == 0;
  if (const auto *f = std::get_if<float>(&a)) return *f == 0;
  const auto *s = std::get_if<std::string>(&a);
  return s && *s == "NONE";
}

void check(const Call &c, const Expansion &e) {
  if (c.node.inputs.size() < e.fewest_inputs || c.node.inputs.size() > e.most_inputs ||
      c.node.outputs.size() > e.most_outputs) {
    c.fail("it has " + std::to_string(c.node.inputs.size()) + " inputs and " +
               std::to_string(c.node.outputs.size()) + " outputs",
           "it takes " + std::to_string(e.fewest_inputs) + " to " + std::to_string(e.most_inputs) +
               " inputs, and has at most " + std::to_string(e.most_outputs) + " outputs");
  }
  for (const auto &[name, a] : c.node.attributes) {
    if (std::count(e.attributes.begin(), e.attributes.end(), name) != 0 || asks_for_nothing(a))
      continue;
    c.fail("its attribute " + name + " is set", "that is not supported");
  }
}

}  // namespace

Graph expand_operators(Graph g) {
  std::vector<Node> nodes;
  ErrorList problems;
  const std::vector<int> uses = g.use_counts();
  const std::vector<Node> old = std::move(g.nodes);
  for (const Node &n : old) {
    const auto at = expansions().find({n.domain, n.op});
    if (at == expansions().end()) {
      nodes.push_back(n);
      continue;
    }
    problems.attempt([&] {
      // Exporters name outputs that nobody reads, too.
      Node asked = n;
      for (ValueId &v : asked.outputs) {
        if (v != kNone && uses[static_cast<size_t>(v)] == 0) v = kNone;
      }
      Call c(asked, &g, &nodes);
      check(c, at->second);
      at->second.expand(c);
    });
  }
  problems.raise();
  g.nodes = std::move(nodes);
  return g;
}

bool is_expanded(const std::string &domain, const std::string &op) {
  return expansions().count({domain, op}) != 0;
}

std::vector<std::string> expanded_operators() {
  std::vector<std::string> names;
  for (const auto &[key, e] : expansions())
    names.push_back((key.first.empty() ? "" : key.first + ".") + key.second);
  return names;
}

}  // namespace polyhalite::onnx
