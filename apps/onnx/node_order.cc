#include "apps/onnx/node_order.h"

#include <algorithm>
#include <map>
#include <utility>

namespace polyhalite::onnx {

std::vector<size_t> reading_order(
    const std::vector<NodeProto> &nodes,
    const std::function<void(size_t node, const std::string &value)> &on_cycle) {
  std::map<std::string, size_t> producer;
  for (size_t i = 0; i < nodes.size(); i++) {
    for (const std::string &o : nodes[i].outputs) {
      if (!o.empty()) producer.emplace(o, i);
    }
  }
  std::vector<size_t> order;
  std::vector<char> state(nodes.size());  // 1: on the path, 2: done
  for (size_t first = 0; first < nodes.size(); first++) {
    // A stack of nodes and their next operand: chains may be as long as the file.
    std::vector<std::pair<size_t, size_t>> path;
    if (state[first] == 0) path.emplace_back(first, 0);
    state[first] = std::max<char>(state[first], 1);
    while (!path.empty()) {
      auto &[node, operand] = path.back();
      if (operand == nodes[node].inputs.size()) {
        state[node] = 2;
        order.push_back(node);
        path.pop_back();
        continue;
      }
      const auto at = producer.find(nodes[node].inputs[operand++]);
      if (at == producer.end() || state[at->second] == 2) continue;
      if (state[at->second] == 1) {
        on_cycle(at->second, at->first);
        continue;
      }
      state[at->second] = 1;
      path.emplace_back(at->second, 0);
    }
  }
  return order;
}

}  // namespace polyhalite::onnx
