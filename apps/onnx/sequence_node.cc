#include "apps/onnx/sequence_node.h"

#include <algorithm>

#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

namespace {

// Compiling takes about a millisecond for each node.
constexpr size_t kMostWritten = 30000;

}  // namespace

void SequenceNode::fail(const std::string &what, const std::string &why,
                        const std::string &fix) const {
  user_error(node_.describe() + ": " + what, why, fix);
}

void SequenceNode::refuse_operand(size_t i) const {
  const std::string operand = "operand " + std::to_string(i);
  if (!node_.has_input(i)) {
    fail(operand + " is left out", "the operator needs it", "export the model again");
  }
  const Sequence *s = sequence_of(i);
  const std::string name = " '" + g_->value(node_.inputs[i]).name + "'";
  if (s && s->form == Form::Absent) {
    fail(operand + name + " is an optional value that is absent", "there is nothing to take",
         "ask OptionalHasElement first, or give the value");
  }
  if (s) {
    fail(operand + name + " is a sequence", "the operator takes a tensor",
         "take an element with SequenceAt, or all with ConcatFromSequence");
  }
  fail(operand + name + " is a tensor", "the operator takes a sequence",
       "make it one with SequenceConstruct");
}

const Sequence *SequenceNode::sequence_of(size_t i) const {
  return node_.has_input(i) ? all_->find(node_.inputs[i]) : nullptr;
}

const Sequence &SequenceNode::sequence(size_t i) const {
  const Sequence *s = sequence_of(i);
  if (!s || s->form == Form::Absent) refuse_operand(i);
  return *s;
}

ValueId SequenceNode::tensor(size_t i) const {
  if (!node_.has_input(i) || sequence_of(i)) refuse_operand(i);
  if (!g_->value(node_.inputs[i]).shape) throw NeedsShape{node_.inputs[i]};
  return node_.inputs[i];
}

int64_t SequenceNode::integer(size_t i) {
  tensor(i);
  const std::vector<int64_t> list = Inference(g_, &g_->nodes[at_]).integers(i);
  if (list.size() != 1) {
    fail("operand " + std::to_string(i) + " has " + std::to_string(list.size()) + " elements",
         "it is one integer", "give a tensor of shape []");
  }
  return list[0];
}

std::optional<int64_t> SequenceNode::known_integer(size_t i) {
  try {
    return integer(i);
  } catch (const NeedsValue &) {
    return std::nullopt;
  } catch (const NeedsNumber &) {
    return std::nullopt;
  }
}

int64_t SequenceNode::position(int64_t at, int64_t length, int64_t most) const {
  if (length == 0 && most < 0) {
    fail("its sequence has no elements", "there is none to take", "give one element at least");
  }
  if (at < -length || at > most) {
    fail("position " + std::to_string(at) + " of a sequence of " + std::to_string(length),
         "positions are from " + std::to_string(-length) + " to " + std::to_string(most),
         "give one of these");
  }
  return at < 0 ? at + length : at;
}

void SequenceNode::require_size(size_t count) const {
  if (count <= kMostWritten) return;
  fail("it would be written out as more than " + std::to_string(kMostWritten) + " nodes",
       "each element, or turn, has nodes of its own where they are not of one shape",
       "give tensors of one shape, or fewer of them");
}

std::vector<ValueId> SequenceNode::elements(const Sequence &s) {
  if (s.form != Form::Stack) return s.parts;
  const Dim length = (*g_->value(s.parts[0]).shape)[0];
  if (!length.constant()) throw NeedsNumber{length};
  require_size(static_cast<size_t>(*length.constant()));
  std::vector<ValueId> list;
  for (int64_t i = 0; i < *length.constant(); i++) list.push_back(place(s.parts[0], w_.integer(i)));
  return list;
}

ValueId SequenceNode::stacked(const Sequence &s) {
  if (s.form == Form::Stack) return s.parts[0];
  if (s.parts.empty()) return kNone;
  const std::optional<Shape> first = g_->value(s.parts[0]).shape;
  std::vector<ValueId> rows;
  for (const ValueId v : s.parts) {
    if (!first || g_->value(v).shape != first) return kNone;
    rows.push_back(w_.op("Unsqueeze", {v, w_.integers({0})}));
  }
  return w_.op("Concat", rows, {{"axis", int64_t{0}}});
}

ValueId SequenceNode::place(ValueId stack, ValueId at) {
  const auto &shape = g_->value(at).shape;
  if (shape && !shape->empty()) at = w_.op("Reshape", {at, w_.integers({})});
  return w_.op("Gather", {stack, at}, {{"axis", int64_t{0}}});
}

void SequenceNode::give(size_t k, ValueId v) {
  if (k >= node_.outputs.size() || node_.outputs[k] == kNone) return;
  w_.op("Identity", {v});
  w_.last().outputs = {node_.outputs[k]};
}

void SequenceNode::give(size_t k, Sequence s) {
  if (k < node_.outputs.size() && node_.outputs[k] != kNone)
    all_->define(node_.outputs[k], std::move(s));
}

void SequenceNode::finish() {
  const auto at = g_->nodes.begin() + static_cast<ptrdiff_t>(at_);
  g_->nodes.insert(g_->nodes.erase(at), nodes_.begin(), nodes_.end());
}

}  // namespace polyhalite::onnx
