#include <algorithm>

#include "apps/onnx/infer.h"
#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

Graph remove_dead_nodes(Graph g) {
  std::vector<char> live(g.values.size());
  for (ValueId v : g.outputs) live[static_cast<size_t>(v)] = 1;
  std::vector<Node> kept;
  for (size_t i = g.nodes.size(); i-- > 0;) {
    Node &n = g.nodes[i];
    const bool wanted = std::any_of(n.outputs.begin(), n.outputs.end(), [&](ValueId v) {
      return v != kNone && live[static_cast<size_t>(v)];
    });
    if (!wanted) continue;
    // What only decides about the algorithm, and is known, is computed by nobody.
    for (size_t k = 0; k < n.inputs.size(); k++) {
      if (n.inputs[k] != kNone && reads_elements(g, n, k))
        live[static_cast<size_t>(n.inputs[k])] = 1;
    }
    for (ValueId &v : n.outputs) {
      if (v != kNone && !live[static_cast<size_t>(v)]) v = kNone;
    }
    kept.push_back(std::move(n));
  }
  std::reverse(kept.begin(), kept.end());
  g.nodes = std::move(kept);
  return g;
}

}  // namespace polyhalite::onnx
