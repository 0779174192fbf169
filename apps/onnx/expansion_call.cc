#include "apps/onnx/expansion_call.h"

#include "polyhalite/error.h"

namespace polyhalite::onnx {

ValueId Call::in(size_t i) const {
  if (!has(i)) fail("operand " + std::to_string(i) + " is left out", "the operator needs it");
  return node.inputs[i];
}

void Call::define(size_t k, ValueId v) {
  if (!wants(k)) return;
  w.op("Identity", {v});
  w.last().outputs = {node.outputs[k]};
}

Constant Call::constant(size_t i) {
  const Value &v = w.graph().value(in(i));
  if (!v.constant)
    fail("operand " + std::to_string(i) + " ('" + v.name + "') is no weight of the model",
         "it is laid out anew when the model is read");
  return *v.constant;
}

void Call::refuse_input(size_t i, const std::string &what) const {
  if (has(i)) fail("it has " + what + ", operand " + std::to_string(i), "that is not supported");
}

void Call::refuse_output(size_t k, const std::string &what) const {
  if (wants(k))
    fail("its output " + std::to_string(k) + ", " + what + ", is read", "that is not supported");
}

void Call::fail(const std::string &what, const std::string &why) const {
  const bool own = node.domain.empty() || node.domain == "com.microsoft";  // onnxruntime's
  user_error("node '" + node.name + "' (" + (own ? "com.microsoft" : node.domain) + "." + node.op +
                 "): " + what,
             why,
             own ? "export the model without optimisations of onnxruntime, or with other ones"
                 : "export the model with other operators");
}

ValueId size_of(Writer *w, ValueId v, int64_t d) {
  return w->op("Gather", {w->op("Shape", {v}), w->integers({d})});
}

ValueId by_rank(Writer *w, ValueId v, int64_t rank, const std::vector<ValueId> &operands,
                const Branch &yes, const Branch &no) {
  if (const auto &shape = w->graph().value(v).shape)
    return (static_cast<int64_t>(shape->size()) == rank ? yes : no)(*w, operands);
  auto region = [&](const Branch &branch) {
    Graph g;
    g.name = "rank";
    for (size_t k = 0; k < operands.size(); k++)
      g.inputs.push_back(g.add_value("in" + std::to_string(k)));
    std::vector<Node> nodes;
    Writer inner(&g, &nodes, "");
    g.outputs = {branch(inner, g.inputs)};
    g.nodes = std::move(nodes);
    return std::make_shared<const Graph>(std::move(g));
  };
  const ValueId rank_of_v = w->op("Size", {w->op("Shape", {v})});
  std::vector<ValueId> all{w->op("Equal", {rank_of_v, w->integer(rank)})};
  for (int branch = 0; branch < 2; branch++)
    all.insert(all.end(), operands.begin(), operands.end());
  return w->op(
      "If", all,
      {{"then_branch", region(yes)}, {"else_branch", region(no)}, {"operands", int64_t{1}}});
}

}  // namespace polyhalite::onnx
