#include "apps/onnx/fold_weights.h"

#include <algorithm>
#include <set>

#include "apps/onnx/operators.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/program.h"

namespace polyhalite::onnx {

namespace {

constexpr const char *kName = "fold_weights";

int64_t elements_of(const Graph &g, ValueId v) {
  const auto &shape = g.value(v).shape;
  return shape ? elements(*shape).constant().value_or(-1) : -1;
}

// Does what the node makes take no more memory than what it reads?
bool keeps_size(const Graph &g, const Node &n) {
  int64_t read = 0, made = 0;
  for (ValueId v : n.inputs) {
    if (v != kNone) read += elements_of(g, v);
  }
  for (ValueId v : n.outputs) {
    if (v == kNone) continue;
    const int64_t count = elements_of(g, v);
    if (count < 0) return false;
    made += count;
  }
  return made <= read;
}

bool is_folded(const Graph &g, const Node &n, const std::set<ValueId> &known) {
  const bool reads_known = std::all_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) {
    return v == kNone || g.value(v).constant || known.count(v) != 0;
  });
  return reads_known && !n.inputs.empty() && !n.is("DequantizeLinear") &&
         operator_of(n.domain, n.op)->form != Operator::Host && keeps_size(g, n);
}

}  // namespace

Graph fold_weights(Graph g, const CompileOptions &options) {
  std::set<ValueId> known;
  std::set<ValueId> wanted(g.outputs.begin(), g.outputs.end());
  for (const Node &n : g.nodes) {
    if (is_folded(g, n, known)) {
      for (ValueId v : n.outputs) {
        if (v != kNone) known.insert(v);
      }
    } else {
      wanted.insert(n.inputs.begin(), n.inputs.end());
    }
  }
  std::vector<ValueId> found;
  std::set_intersection(known.begin(), known.end(), wanted.begin(), wanted.end(),
                        std::back_inserter(found));
  if (found.empty()) return g;
  Model m;
  m.graph = g;
  m.graph.findings.reset();
  m.graph.inputs.clear();
  m.graph.outputs = found;
  m.graph = remove_dead_nodes(std::move(m.graph));
  CompileOptions own;
  own.target = options.target;
  own.engine = options.engine;
  own.threads = options.threads;
  own.switched_off = options.switched_off;
  own.switched_off.insert(kName);
  const Program::Tensors results = Program(m, own).run({});
  for (const ValueId v : found) g.value(v).constant = results.at(g.value(v).name);
  g.nodes.erase(std::remove_if(g.nodes.begin(), g.nodes.end(),
                               [&](const Node &n) {
                                 return std::any_of(
                                     n.outputs.begin(), n.outputs.end(),
                                     [&](ValueId v) { return v != kNone && known.count(v) != 0; });
                               }),
                g.nodes.end());
  return g;
}

}  // namespace polyhalite::onnx
