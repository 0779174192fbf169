#include <map>

#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

struct SameAttribute {
  const Attribute &other;
  bool operator()(const Constant &c) const { return c.same(std::get<Constant>(other)); }
  bool operator()(const std::shared_ptr<const Graph> &) const { return false; }
  template <typename T>
  bool operator()(const T &v) const {
    return v == std::get<T>(other);
  }
};

bool same_attribute(const Attribute &a, const Attribute &b) {
  return a.index() == b.index() && std::visit(SameAttribute{b}, a);
}

bool same_work(const Node &a, const Node &b) {
  if (a.domain != b.domain || a.op != b.op || a.version != b.version || a.inputs != b.inputs ||
      a.outputs.size() != b.outputs.size() || a.attributes.size() != b.attributes.size()) {
    return false;
  }
  for (size_t k = 0; k < a.outputs.size(); k++) {
    if ((a.outputs[k] == kNone) != (b.outputs[k] == kNone)) return false;
  }
  auto at = b.attributes.begin();
  for (const auto &[key, value] : a.attributes) {
    if (key != at->first || !same_attribute(value, at->second)) return false;
    ++at;
  }
  return true;
}

// Sizes that only running a node tells are those of the node that stays.
void share_sizes(const Value &gone, const Value &stays, std::map<std::string, Dim> *sizes) {
  for (size_t d = 0; gone.shape && stays.shape && d < gone.shape->size(); d++) {
    std::set<std::string> symbols;
    (*gone.shape)[d].add_symbols(&symbols);
    if (symbols.size() == 1 && (*gone.shape)[d] == Dim::symbol(*symbols.begin()) &&
        (*gone.shape)[d] != (*stays.shape)[d]) {
      sizes->emplace(*symbols.begin(), (*stays.shape)[d].substitute(*sizes));
    }
  }
}

}  // namespace

Graph share_common_nodes(Graph g) {
  std::map<ValueId, ValueId> replaced;
  auto current = [&](ValueId v) {
    const auto at = replaced.find(v);
    return at == replaced.end() ? v : at->second;
  };
  std::map<uint64_t, std::vector<ValueId>> constants;
  for (size_t v = 0; v < g.values.size(); v++) {
    if (!g.values[v].constant) continue;
    auto &same_hash = constants[g.values[v].constant->hash()];
    for (ValueId first : same_hash) {
      if (g.value(first).constant->same(*g.values[v].constant)) {
        replaced[static_cast<ValueId>(v)] = first;
        break;
      }
    }
    if (!replaced.count(static_cast<ValueId>(v))) same_hash.push_back(static_cast<ValueId>(v));
  }
  std::map<std::string, Dim> sizes;
  std::multimap<std::string, size_t> seen;
  std::vector<Node> kept;
  for (Node &n : g.nodes) {
    for (ValueId &v : n.inputs) v = current(v);
    std::string key = n.domain + n.op;
    for (ValueId v : n.inputs) key += "," + std::to_string(v);
    bool shared = false;
    const auto [begin, end] = seen.equal_range(key);
    for (auto at = begin; at != end && !shared; ++at) {
      const Node &first = kept[at->second];
      if (!same_work(first, n)) continue;
      for (size_t k = 0; k < n.outputs.size(); k++) {
        if (n.outputs[k] == kNone) continue;
        replaced[n.outputs[k]] = first.outputs[k];
        share_sizes(g.value(n.outputs[k]), g.value(first.outputs[k]), &sizes);
      }
      shared = true;
    }
    if (shared) continue;
    seen.emplace(key, kept.size());
    kept.push_back(std::move(n));
  }
  g.nodes = std::move(kept);
  for (ValueId &v : g.outputs) v = current(v);
  g.substitute(sizes);
  return g;
}

}  // namespace polyhalite::onnx
