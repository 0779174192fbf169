// SequenceNode: one node that has to do with sequences, and the nodes that come in its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/onnx/sequences.h"
#include "apps/onnx/write_nodes.h"

namespace polyhalite::onnx {

class SequenceNode {
 public:
  SequenceNode(Sequences *all, Graph *g, size_t at)
      : all_(all), g_(g), at_(at), node_(g->nodes[at]), w_(g, &nodes_, node_.name + "/") {}

  const Node &node() const { return node_; }
  Graph &graph() { return *g_; }
  Writer &writer() { return w_; }

  /// Null for a tensor.
  const Sequence *sequence_of(size_t i) const;
  const Sequence &sequence(size_t i) const;
  ValueId tensor(size_t i) const;
  /// The one integer of operand i. NeedsValue or NeedsNumber where it is not known.
  int64_t integer(size_t i);
  std::optional<int64_t> known_integer(size_t i);
  /// In [0, most], counted from the end where it is negative.
  int64_t position(int64_t at, int64_t length, int64_t most) const;

  /// CompileError where more nodes, or values, would be written than a program can have.
  void require_size(size_t count) const;
  /// A tensor for each element. NeedsNumber for a stack of open length.
  std::vector<ValueId> elements(const Sequence &s);
  /// One tensor of all elements; kNone where their shapes differ.
  ValueId stacked(const Sequence &s);
  /// Element `at` of a stack: a scalar, as Gather takes it.
  ValueId place(ValueId stack, ValueId at);

  /// Result k is this tensor, or this sequence.
  void give(size_t k, ValueId v);
  void give(size_t k, Sequence s);
  /// The new nodes stand in the place of the old one.
  void finish();
  [[noreturn]] void fail(const std::string &what, const std::string &why,
                         const std::string &fix) const;
  /// Of an operand that should be a tensor.
  [[noreturn]] void refuse_operand(size_t i) const;

 private:
  Sequences *all_;
  Graph *g_;
  const size_t at_;
  const Node node_;
  std::vector<Node> nodes_;
  Writer w_;
};

}  // namespace polyhalite::onnx
