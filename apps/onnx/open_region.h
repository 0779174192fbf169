// OpenRegion: a region that takes and gives the tensors of sequences in the place of these.
#pragma once

#include <vector>

#include "apps/onnx/sequences.h"

namespace polyhalite::onnx {

/// Inside of the region a sequence is made from its tensors:
///
///   If(%s) {graph(%s) ...}   ->   If(%a, %b) {graph(%a, %b) %s = SequenceConstruct(%a, %b) ...}
class OpenRegion {
 public:
  /// Inputs and outputs are to be told anew, in order.
  explicit OpenRegion(const Graph &region);

  /// Input `inside` is given v, which is a sequence where s is not null.
  void give(ValueId inside, ValueId v, const Sequence *s);
  /// Input `inside` is nothing that the node around gives: an empty sequence.
  void give_nothing(ValueId inside);
  /// Of the node around, for the inputs.
  const std::vector<ValueId> &operands() const { return operands_; }
  void take(ValueId output) { region_.outputs.push_back(output); }
  /// A sequence as the outputs that its tensors are.
  void take(ValueId output, const OutputForm &form);
  Graph region() const;

 private:
  Graph region_;
  std::vector<Node> front_;
  std::vector<ValueId> operands_;
};

}  // namespace polyhalite::onnx
