#include "apps/onnx/kernel_rows.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

namespace {

bool is_reduction(const Node &n) { return n.domain.empty() && n.op.rfind("Reduce", 0) == 0; }
bool is_arg(const Node &n) { return n.is("ArgMax") || n.is("ArgMin"); }

// The operand's axes that the operator runs along; nullopt: another operator, or axes that are not
// known.
std::optional<std::set<size_t>> axes_of(const Graph &g, const Node &n, size_t rank) {
  std::set<size_t> axes;
  const auto add = [&](int64_t axis) {
    axes.insert(static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis));
  };
  if (is_reduction(n)) {
    if (n.has_input(1)) {
      const auto &known = g.value(n.inputs[1]).constant;
      if (!known) return std::nullopt;
      for (int64_t i = 0; i < known->elements(); i++) add(known->integer_at(i));
    }
    if (axes.empty() && n.integer("noop_with_empty_axes", 0) == 0) {
      for (size_t d = 0; d < rank; d++) axes.insert(d);
    }
    return axes;
  }
  if (is_arg(n)) {
    add(n.integer("axis", 0));
    return axes;
  }
  if (n.is("Softmax") || n.is("LogSoftmax") || n.is("LpNormalization")) {
    add(n.integer("axis", -1));
    if (n.integer("trailing", 0) != 0) {
      for (size_t d = axes.empty() ? rank : *axes.begin(); d < rank; d++) axes.insert(d);
    }
    return axes;
  }
  return std::nullopt;
}

class MergeRows {
 public:
  explicit MergeRows(KernelGraph *k) : k_(k), g_(k->graph) {}

  void run() {
    if (k_->group.inputs.empty() || !k_->layouts.empty() || g_.nodes.empty()) return;
    Node &n = g_.nodes[0];
    const ValueId x = n.inputs[0], y = n.outputs[0];
    if (x == kNone || n.outputs.size() != 1 || !g_.value(x).shape || g_.value(x).contents ||
        g_.value(y).contents)
      return;
    const Shape shape = *g_.value(x).shape;
    if (g_.value(x).constant && !constant_shape(shape)) return;
    const auto axes = axes_of(g_, n, shape.size());
    if (!axes || axes->empty() || *axes->rbegin() >= shape.size()) return;
    const Shape from = *g_.value(y).shape;
    if (!find_followers(from)) return;

    Shape rows, results;
    std::vector<int64_t> along;
    bool before = false;  // is the last dimension so far along an axis?
    for (size_t d = 0; d < shape.size(); d++) {
      if (shape[d].is(1)) continue;
      const bool axis = axes->count(d) != 0;
      if (!rows.empty() && axis == before && fits(rows.back(), shape[d])) {
        rows.back() = rows.back() * shape[d];
      } else {
        if (axis) along.push_back(static_cast<int64_t>(rows.size()));
        rows.push_back(shape[d]);
      }
      before = axis;
    }
    // Rows of one element stay as they are.
    if (along.empty() || rows.size() == shape.size()) return;
    const bool reduces = is_reduction(n) || is_arg(n);
    if (!is_reduction(n) && along.size() != 1) return;
    results = rows;
    if (reduces) {
      for (int64_t a : along) results[static_cast<size_t>(a)] = 1;
      n.attributes["keepdims"] = int64_t{1};
    }
    if (is_reduction(n)) {
      const ValueId list = g_.add_constant("axes", Constant::integers(along));
      n.inputs.resize(std::max<size_t>(n.inputs.size(), 2), kNone);
      n.inputs[1] = list;
    } else {
      n.attributes["axis"] = along[0];
      n.attributes.erase("trailing");
    }
    Value &operand = g_.value(x);
    operand.shape = rows;
    if (const auto sizes = constant_shape(rows); sizes && operand.constant)
      operand.constant = operand.constant->reshaped(*sizes);
    for (ValueId v : same_) g_.value(v).shape = results;
  }

 private:
  // What follows point by point, of results alone and of single elements.
  bool find_followers(const Shape &from) {
    same_.insert(g_.nodes[0].outputs[0]);
    for (size_t i = 1; i < g_.nodes.size(); i++) {
      const Node &n = g_.nodes[i];
      if (operator_of(n.domain, n.op)->form != Operator::Pointwise || n.has("broadcast") ||
          n.outputs.size() != 1)
        return false;
      for (ValueId v : n.inputs) {
        if (v == kNone || same_.count(v) != 0) continue;
        const auto &value = g_.value(v);
        if (!value.shape || !elements(*value.shape).is(1) || value.shape->size() > 1) return false;
      }
      if (g_.value(n.outputs[0]).shape != from) return false;
      same_.insert(n.outputs[0]);
    }
    return std::all_of(k_->group.outputs.begin(), k_->group.outputs.end(),
                       [&](ValueId v) { return same_.count(v) != 0; });
  }

  static bool fits(const Dim &a, const Dim &b) {
    const auto n = a.constant(), m = b.constant();
    return !n || !m || *n == 0 || *m <= INT32_MAX / *n;
  }

  KernelGraph *k_;
  Graph &g_;
  std::set<ValueId> same_;  // values of the results' shape
};

}  // namespace

void merge_rows(KernelGraph *k) { MergeRows(k).run(); }

}  // namespace polyhalite::onnx
