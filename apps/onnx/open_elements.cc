#include "apps/onnx/open_elements.h"

#include <algorithm>

#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

bool may_be_open(const Value &v) {
  constexpr int64_t kMostElements = 16;
  if (!holds_sizes(v.type) || !v.shape || v.shape->size() > 1) return false;
  const auto count = elements(*v.shape).constant();
  return count && *count > 0 && *count <= kMostElements;
}

bool OpenElements::open(size_t *at, ValueId v) {
  if (!g_.findings || g_.findings->open.count(g_.value(v).name) == 0) return false;
  if (!may_be_open(g_.value(v)) || read_.count(v) != 0) return false;
  first_ = *at;
  read(v);
  *at = first_;
  return true;
}

// Whether the sizes that the node's result holds may follow from those of its operands.
bool OpenElements::is_followed(const Node &n) const {
  static const std::set<std::string> kFollowed = {"Concat",   "Unsqueeze", "Squeeze", "Reshape",
                                                  "Identity", "Cast",      "Add",     "Sub",
                                                  "Mul",      "Min",       "Max"};
  return n.domain.empty() && kFollowed.count(n.op) != 0 &&
         std::all_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) {
           return v == kNone || g_.value(v).constant || g_.value(v).contents ||
                  may_be_open(g_.value(v));
         });
}

void OpenElements::read(ValueId v) {
  if (g_.value(v).constant || g_.value(v).contents) return;
  size_t place = 0;  // behind what makes v
  for (size_t i = 0; i < g_.nodes.size(); i++) {
    const Node &n = g_.nodes[i];
    if (std::count(n.outputs.begin(), n.outputs.end(), v) == 0) continue;
    place = i + 1;
    if (!is_followed(n) || !tried_.insert(v).second) break;
    first_ = std::min(first_, i);
    const std::vector<ValueId> operands = n.inputs;
    for (ValueId operand : operands) {
      if (operand != kNone) read(operand);
    }
    return;
  }
  if (!read_.insert(v).second) return;
  const Value value = g_.value(v);
  Node n;
  n.domain = kInternalDomain;
  n.op = "ReadSizes";
  n.name = "sizes in " + value.name;
  const ValueId copy = g_.add_value(value.name + ".sizes", value.type);
  n.inputs = {v};
  n.outputs = {copy, g_.add_value(value.name + ".shape", ElementType::Bool)};
  for (size_t i = place; i < g_.nodes.size(); i++)
    std::replace(g_.nodes[i].inputs.begin(), g_.nodes[i].inputs.end(), v, copy);
  g_.nodes.insert(g_.nodes.begin() + static_cast<ptrdiff_t>(place), std::move(n));
  first_ = std::min(first_, place);
}

}  // namespace polyhalite::onnx
