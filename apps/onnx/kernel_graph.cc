#include "apps/onnx/kernel_graph.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "apps/onnx/infer.h"
#include "apps/onnx/kernel_rows.h"
#include "apps/onnx/kernel_sizes.h"
#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

namespace {

KernelGraph extract(const Graph &g, const Group &group, const std::map<ValueId, Layout> &layouts) {
  KernelGraph k;
  std::map<ValueId, ValueId> copies{{kNone, kNone}};
  const auto copy = [&](ValueId *v) {
    const auto [at, fresh] = copies.emplace(*v, kNone);
    if (fresh) {
      const Value &value = g.value(*v);
      at->second = k.graph.add_value(value.name);
      k.graph.value(at->second) = value;
      if (const auto layout = layouts.find(*v); layout != layouts.end())
        k.layouts.emplace(at->second, layout->second);
    }
    *v = at->second;
  };
  k.group.inputs = group.inputs;
  k.group.outputs = group.outputs;
  for (ValueId &v : k.group.inputs) copy(&v);
  for (size_t i : group.nodes) {
    k.group.nodes.push_back(k.graph.nodes.size());
    k.graph.nodes.push_back(g.nodes[i]);
    for (ValueId &v : k.graph.nodes.back().inputs) copy(&v);
    for (ValueId &v : k.graph.nodes.back().outputs) copy(&v);
  }
  for (ValueId &v : k.group.outputs) copy(&v);
  return k;
}

bool is_single(const Shape &s) {
  return std::all_of(s.begin(), s.end(), [](const Dim &d) { return d.is(1); });
}

// Rows of operand 0 by the matrix that is operand `right`; some operands might differ by row.
struct ProductNode {
  const char *op;
  size_t right;
  std::vector<size_t> of_rows;
};

const ProductNode *find_product(const Node &n) {
  static const std::vector<ProductNode> kProducts = {{"MatMul", 1, {}},
                                                     {"MatMulInteger", 1, {2}},
                                                     {"QLinearMatMul", 3, {1, 2, 6, 7}},
                                                     {"BlockProduct", 1, {}}};
  for (const ProductNode &p : kProducts) {
    if (n.op == p.op && (n.domain.empty() || n.domain == kInternalDomain)) return &p;
  }
  return nullptr;
}

// Merges the dimensions of a group whose results all have one shape.
class Merge {
 public:
  explicit Merge(KernelGraph *k) : k_(k), g_(k->graph) {}

  void run() {
    if (k_->group.outputs.size() != 1 || !find_operands()) return;
    order_ = memory_order(k_->group.outputs[0]);
    if (of_product_) {
      // Columns stay what they are, and are innermost.
      if (!std::all_of(operands_.begin(), operands_.end(),
                       [&](ValueId v) { return k_->layouts.count(v) == 0; }))
        return;
      columns_ = order_.back();
      order_.pop_back();
    }
    order_.erase(
        std::remove_if(order_.begin(), order_.end(), [&](size_t d) { return shape_[d].is(1); }),
        order_.end());
    for (size_t i = 0; i < order_.size(); i++) {
      if (i > 0 && joins(order_[i - 1], order_[i])) {
        parts_.back().push_back(order_[i]);
      } else {
        parts_.push_back({order_[i]});
      }
    }
    if (of_product_) {
      if (parts_.empty()) parts_.emplace_back();  // one row
      parts_.push_back({columns_});
    }
    if (parts_.empty() || parts_.size() == shape_.size()) return;
    for (ValueId v : operands_) reshape(v);
  }

 private:
  // Values whose elements meet those of the result: all but the right operand of a product.
  // False where a node treats dimensions in a way of its own.
  bool find_operands() {
    const auto &shape = g_.value(k_->group.outputs[0]).shape;
    if (!shape || shape->size() < 2) return false;
    shape_ = *shape;
    std::vector<ValueId> others;
    for (const Node &n : g_.nodes) {
      if (n.outputs.size() != 1 || g_.value(n.outputs[0]).shape != shape) return false;
      add(n.outputs[0]);
      if (const ProductNode *product = find_product(n)) {
        if (!add_product(n, *product, &others)) return false;
        continue;
      }
      if (!is_pointwise(n)) return false;
      for (size_t i = 0; i < n.inputs.size(); i++) {
        if (n.inputs[i] == kNone) continue;
        if (reads_elements(g_, n, i)) {
          add(n.inputs[i]);
        } else {
          others.push_back(n.inputs[i]);
        }
      }
    }
    for (ValueId v : others) {
      if (v != kNone && std::count(operands_.begin(), operands_.end(), v) != 0) return false;
    }
    return std::all_of(operands_.begin(), operands_.end(), [&](ValueId v) { return meets(v); });
  }

  bool add_product(const Node &n, const ProductNode &product, std::vector<ValueId> *others) {
    const ValueId right = n.inputs[product.right];
    const auto &a = g_.value(n.inputs[0]).shape, &b = g_.value(right).shape;
    const bool packed = n.has("strips_of") || n.has("packed_columns");
    if (!a || !b || (b->size() != 2 && !packed) || a->size() != shape_.size() ||
        !std::equal(a->begin(), a->end() - 1, shape_.begin()))
      return false;
    for (size_t i : product.of_rows) {
      if (n.has_input(i) && !is_single(*g_.value(n.inputs[i]).shape)) return false;
    }
    of_product_ = true;
    left_ = n.inputs[0];
    add(left_);
    others->insert(others->end(), n.inputs.begin() + 1, n.inputs.end());
    return true;
  }

  void add(ValueId v) {
    if (std::count(operands_.begin(), operands_.end(), v) == 0) operands_.push_back(v);
  }

  // Do elements meet as numpy's do, whatever the dimensions are?
  bool is_pointwise(const Node &n) const {
    if (operator_of(n.domain, n.op)->form != Operator::Pointwise || n.has("broadcast"))
      return false;
    if (!n.is("QuantizeLinear") && !n.is("DequantizeLinear")) return true;
    for (size_t i = 1; i < n.inputs.size(); i++) {
      if (n.inputs[i] != kNone && !is_single(*g_.value(n.inputs[i]).shape)) return false;
    }
    return true;
  }

  // Has each dimension of v the result's size, or 1?
  bool meets(ValueId v) const {
    const Value &value = g_.value(v);
    if (!value.shape || value.shape->size() > shape_.size()) return false;
    // Only shapes of constants can be told anew, and of what is in memory.
    const auto &in = k_->group.inputs;
    const bool external = std::count(in.begin(), in.end(), v) != 0;
    if (!external && !value.constant && value.contents) return false;
    const size_t last = shape_.size() - 1;
    for (size_t d = 0; d < shape_.size(); d++) {
      const Dim size = size_of(v, d);
      const bool summed = v == left_ && d == last;
      if (!summed && size != shape_[d] && !size.is(1)) return false;
    }
    return true;
  }

  // Along the result's dimension d.
  Dim size_of(ValueId v, size_t d) const {
    const Shape &s = *g_.value(v).shape;
    const size_t missing = shape_.size() - s.size();
    return d < missing ? Dim(1) : s[d - missing];
  }

  // The result's dimensions that v has, outermost first as they lie in memory.
  std::vector<size_t> memory_order(ValueId v) const {
    const Shape &s = *g_.value(v).shape;
    const size_t missing = shape_.size() - s.size();
    const auto layout = k_->layouts.find(v);
    std::vector<size_t> order;
    for (size_t k = 0; k < s.size(); k++) {
      const bool plain = layout == k_->layouts.end() || layout->second.empty();
      order.push_back(missing +
                      (plain ? k : static_cast<size_t>(layout->second[s.size() - 1 - k])));
    }
    return order;
  }

  bool has(ValueId v, size_t d) const { return !size_of(v, d).is(1); }

  // Does each operand repeat along both, or have them side by side, the second one inside?
  bool joins(size_t outer, size_t inner) const {
    const auto a = shape_[outer].constant(), b = shape_[inner].constant();
    if (a && b && *a != 0 && *b > INT32_MAX / *a) return false;
    for (ValueId v : operands_) {
      if (has(v, outer) != has(v, inner)) return false;
      if (!has(v, outer)) continue;
      std::vector<size_t> order = memory_order(v);
      order.erase(std::remove_if(order.begin(), order.end(), [&](size_t d) { return !has(v, d); }),
                  order.end());
      const auto at = std::find(order.begin(), order.end(), outer);
      if (at + 1 == order.end() || at[1] != inner) return false;
    }
    return true;
  }

  void reshape(ValueId v) {
    Value &value = g_.value(v);
    const std::vector<size_t> order = memory_order(v);
    // Where in memory each part begins, those of one place before all others.
    std::vector<std::pair<size_t, size_t>> places;
    Shape shape;
    bool in_order = true;
    for (size_t p = 0, last = 0; p < parts_.size(); p++) {
      Dim size = 1;
      for (size_t d : parts_[p]) size = size * size_of(v, d);
      if (shape.empty() && size.is(1) && v != left_ && !is_result(v)) continue;
      size_t place = 0;
      if (!size.is(1)) {
        const auto at = std::find(order.begin(), order.end(), parts_[p][0]);
        place = static_cast<size_t>(at - order.begin()) + 1;
        in_order = in_order && place > last;
        last = place;
      }
      places.emplace_back(place, shape.size());
      shape.push_back(size);
    }
    k_->layouts.erase(v);
    if (!in_order) {
      std::stable_sort(places.begin(), places.end());
      Layout &layout = k_->layouts[v];
      for (size_t i = places.size(); i-- > 0;) layout.push_back(static_cast<int>(places[i].second));
    }
    if (value.constant) {
      if (const auto sizes = constant_shape(shape))
        value.constant = value.constant->reshaped(*sizes);
    }
    value.shape = shape;
  }

  bool is_result(ValueId v) const {
    return std::any_of(g_.nodes.begin(), g_.nodes.end(),
                       [&](const Node &n) { return n.outputs[0] == v; });
  }

  KernelGraph *k_;
  Graph &g_;
  Shape shape_;                    // of all results
  std::vector<ValueId> operands_;  // and results
  bool of_product_ = false;
  ValueId left_ = kNone;  // a product's; its last dimension is the sum's
  size_t columns_ = 0;
  std::vector<size_t> order_;               // dimensions, outermost first
  std::vector<std::vector<size_t>> parts_;  // what is one dimension in the end
};

}  // namespace

KernelGraph kernel_graph(const Graph &g, const Group &group,
                         const std::map<ValueId, Layout> &layouts) {
  KernelGraph k = extract(g, group, layouts);
  Merge(&k).run();
  merge_rows(&k);
  k.sizes = name_sizes(&k.graph);
  return k;
}

}  // namespace polyhalite::onnx
