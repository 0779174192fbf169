// Sequences and optional values become tensors while shapes are inferred: no node behind that knows
// of them. An optional value that is there is what it holds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

enum class Form {
  Tensor,
  Absent,  // an optional value
  List,    // a tensor for each element
  Stack,   // one tensor: elements of one shape, along its first dimension
};

/// What a value is that is no tensor.
struct Sequence {
  Form form = Form::Absent;
  ElementType type = ElementType::Undefined;  // of elements, where it is known without any
  std::vector<ValueId> parts;
};

/// What an output of a graph has become: so many outputs, one behind the other.
struct OutputForm {
  Form form = Form::Tensor;
  size_t count = 1;
  ElementType type = ElementType::Undefined;
};

/// Whether the main domain's operator makes or takes sequences or optional values only.
bool is_sequence_operator(const std::string &op);
std::vector<std::string> sequence_operators();

/// A node whose result is this sequence, of values of another graph or of this one.
Node node_that_makes(const Sequence &s, const std::vector<ValueId> &parts, ValueId result);
/// A node that takes a sequence apart which has exactly so many elements.
Node node_that_takes_apart(ValueId sequence, const std::vector<ValueId> &elements);

/// Of one graph.
class Sequences {
 public:
  /// Whether node `at`, what is in front of which is inferred, has to do with sequences: others
  /// stand in its place then.
  ///
  ///   %s = SequenceConstruct(%a, %b); %y = SequenceAt(%s, 1)   ->   %y = Identity(%b)
  ///
  /// CompileError for what cannot be one; NeedsValue, NeedsNumber where a length or a position is
  /// not known.
  bool expand(Graph *g, size_t at);
  /// Outputs that are sequences become those that their tensors are.
  std::vector<OutputForm> flatten_outputs(Graph *g) const;

  /// Null for tensors.
  const Sequence *find(ValueId v) const;
  void define(ValueId v, Sequence s);

  /// Of a Loop that is written out: what its turns gave beside its states, and why it is.
  struct WrittenLoop {
    std::string why;
    std::vector<std::vector<ValueId>> collected;
  };
  /// By the first result of the node.
  WrittenLoop &written_loop(ValueId result) { return loops_[result]; }

 private:
  std::map<ValueId, Sequence> sequences_;
  std::map<ValueId, WrittenLoop> loops_;
};

}  // namespace polyhalite::onnx
