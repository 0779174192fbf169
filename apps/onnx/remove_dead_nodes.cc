#include <algorithm>
#include <set>
#include <utility>

#include "apps/onnx/infer.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

// Values that are wanted, and the sizes that they have.
class Live {
 public:
  explicit Live(const Graph &g) : g_(g), live_(g.values.size()) {}

  void add(ValueId v) {
    if (std::exchange(live_[static_cast<size_t>(v)], char{1})) return;
    const Value &value = g_.value(v);
    for (const auto *dims : {&value.shape, &value.contents}) {
      if (!*dims) continue;
      for (const Dim &d : **dims) d.add_symbols(&symbols_);
    }
  }
  bool has(ValueId v) const { return live_[static_cast<size_t>(v)] != 0; }
  // Is v what tells a run a size that live values have?
  bool needs_size_of(ValueId v) const {
    const Value &value = g_.value(v);
    return value.shape && std::any_of(value.shape->begin(), value.shape->end(), [&](const Dim &d) {
             const std::string name = d.to_string();
             return symbols_.count(name) != 0 && defines_size(value, name);
           });
  }

 private:
  const Graph &g_;
  std::vector<char> live_;
  std::set<std::string> symbols_;
};

}  // namespace

Graph remove_dead_nodes(Graph g) {
  Live live(g);
  for (ValueId v : g.outputs) live.add(v);
  std::vector<Node> kept;
  for (size_t i = g.nodes.size(); i-- > 0;) {
    Node &n = g.nodes[i];
    bool wanted = false;
    for (ValueId v : n.outputs) {
      if (v == kNone) continue;
      if (live.needs_size_of(v)) live.add(v);
      wanted = wanted || live.has(v);
    }
    if (!wanted) continue;
    // What only decides about the algorithm, and is known, is computed by nobody.
    for (size_t k = 0; k < n.inputs.size(); k++) {
      if (n.inputs[k] != kNone && reads_elements(g, n, k)) live.add(n.inputs[k]);
    }
    for (ValueId &v : n.outputs) {
      if (v != kNone && !live.has(v)) v = kNone;
    }
    kept.push_back(std::move(n));
  }
  std::reverse(kept.begin(), kept.end());
  g.nodes = std::move(kept);
  return g;
}

}  // namespace polyhalite::onnx
