// Writes nodes of the newest versions behind each other, for operators that are made of others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/onnx/operator_table.h"
#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

using Attributes = std::map<std::string, Attribute>;

// Writes nodes behind each other.
class Writer {
 public:
  Writer(Graph *g, std::vector<Node> *nodes, std::string prefix)
      : g_(g), nodes_(nodes), prefix_(std::move(prefix)) {}

  std::vector<ValueId> ops(const std::string &op, size_t results, std::vector<ValueId> operands,
                           Attributes attributes = {}) {
    return write("", op, find_operator(op)->versions.back(), results, std::move(operands),
                 std::move(attributes));
  }
  ValueId op(const std::string &name, std::vector<ValueId> operands, Attributes attributes = {}) {
    return ops(name, 1, std::move(operands), std::move(attributes))[0];
  }
  // Of an operator that no file has.
  ValueId internal(const std::string &name, std::vector<ValueId> operands,
                   Attributes attributes = {}) {
    return write(kInternalDomain, name, 1, 1, std::move(operands), std::move(attributes))[0];
  }
  ValueId integers(const std::vector<int64_t> &list) {
    return g_->add_constant(prefix_ + "sizes", Constant::integers(list));
  }
  ValueId integer(int64_t v) { return g_->add_constant(prefix_ + "place", Constant::integer(v)); }
  // A number of the type of `like`.
  ValueId number(float v, ValueId like) {
    return op("CastLike", {g_->add_constant(prefix_ + "number", Constant::real(v)), like});
  }
  void add(Node n) { nodes_->push_back(std::move(n)); }
  Node &last() { return nodes_->back(); }
  Graph &graph() { return *g_; }

 private:
  std::vector<ValueId> write(const std::string &domain, const std::string &op, int version,
                             size_t results, std::vector<ValueId> operands, Attributes attributes) {
    Node n;
    n.domain = domain;
    n.op = op;
    n.version = version;
    n.name = prefix_ + op + std::to_string(nodes_->size());
    while (!operands.empty() && operands.back() == kNone) operands.pop_back();
    n.inputs = std::move(operands);
    n.attributes = std::move(attributes);
    for (size_t k = 0; k < results; k++)
      n.outputs.push_back(g_->add_value(n.name + "." + std::to_string(k)));
    nodes_->push_back(n);
    return n.outputs;
  }

  Graph *g_;
  std::vector<Node> *nodes_;
  const std::string prefix_;
};

}  // namespace polyhalite::onnx
