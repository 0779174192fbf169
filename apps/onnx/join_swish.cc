#include <map>

#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

Graph join_swish(Graph g) {
  std::map<ValueId, ValueId> argument;  // of a sigmoid, by its result
  for (const Node &n : g.nodes) {
    if (n.is("Sigmoid")) argument[n.outputs[0]] = n.inputs[0];
  }
  for (Node &n : g.nodes) {
    if (!n.is("Mul")) continue;
    for (size_t i = 0; i < 2; i++) {
      const auto gate = argument.find(n.inputs[i]);
      const ValueId x = n.inputs[1 - i];
      if (gate == argument.end() || gate->second != x) continue;
      n.op = "Swish";
      n.version = 24;
      n.inputs = {x};
      break;
    }
  }
  return g;
}

}  // namespace polyhalite::onnx
