#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "apps/onnx/halves.h"
#include "apps/onnx/infer.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "apps/onnx/write_nodes.h"

namespace polyhalite::onnx {

namespace {

constexpr ElementType kHalf = ElementType::Float16, kSingle = ElementType::Float32;

Constant widened(const Constant &c) {
  const int64_t n = c.is_splat() ? 1 : c.elements();
  const auto bytes = weight_memory(static_cast<size_t>(n) * sizeof(float));
  widen(reinterpret_cast<float *>(bytes.get()), c.data(), n);
  return c.is_splat() ? Constant::splat(kSingle, c.shape(), bytes.get())
                      : Constant(kSingle, c.shape(), bytes, bytes.get());
}

// Do the types of a node's results follow from anything but those of its operands, or does
// something else than a kernel make them?
bool keeps_types(const Node &n) {
  static const std::set<std::string> kTyped = {"BitCast", "RandomNormalLike", "RandomUniformLike",
                                               "Bernoulli", "Multinomial"};
  if (operator_of(n.domain, n.op)->form == Operator::Host || kTyped.count(n.op) != 0) return true;
  for (const auto &[name, attribute] : n.attributes) {
    if (name == "to" || name == "dtype" || name == "output_dtype") return true;
    if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute)) return true;
    const auto *constant = std::get_if<Constant>(&attribute);
    if (constant && constant->type() == kHalf) return true;
  }
  return n.is("ConstantOfShape");
}

// Is it a known matrix that is multiplied by rows? One that one row reads comes from memory, of
// which halves take half; strips of others are made of them.
bool is_matrix_of_product(const Graph &g, const Node &n, size_t i) {
  const auto &b = g.value(n.inputs[i]).constant;
  return i == 1 && (n.is("MatMul") || n.is("Gemm")) && b && b->shape().size() == 2;
}

// The graph as it becomes, and the wide value of each that was narrow.
class Widening {
 public:
  explicit Widening(Graph *g) : g_(*g) {}

  void run() {
    for (const ValueId v : g_.inputs) define(v);
    std::vector<Node> before = std::move(g_.nodes);
    g_.nodes.clear();
    for (Node &n : before) {
      const bool keeps = keeps_types(n);
      for (size_t i = 0; i < n.inputs.size(); i++) {
        if (n.inputs[i] == kNone || type(n.inputs[i]) != kHalf || is_matrix_of_product(g_, n, i))
          continue;
        if (!keeps) {
          n.inputs[i] = wide(n.inputs[i]);
        } else if (reads_elements(g_, n, i)) {
          narrow(n.inputs[i]);
        }
      }
      const std::vector<ValueId> outputs = n.outputs;
      for (ValueId &v : n.outputs) {
        if (v == kNone || type(v) != kHalf || keeps) continue;
        wide_[v] = add_value(v);
        v = wide_[v];
      }
      g_.nodes.push_back(std::move(n));
      for (const ValueId v : outputs) {
        if (v != kNone && keeps) define(v);
      }
    }
    for (const ValueId v : g_.outputs) {
      if (type(v) == kHalf) narrow(v);
    }
  }

 private:
  ElementType type(ValueId v) const { return g_.value(v).type; }
  void define(ValueId v) {
    if (type(v) == kHalf) defined_.insert(v);
  }
  ValueId add_value(ValueId v) {
    const Value value = g_.value(v);
    return g_.add_value(value.name + ".wide", kSingle, value.shape);
  }
  void cast(ValueId from, ValueId to) {
    Node n;
    n.op = "Cast";
    n.version = find_operator(n.op)->versions.back();
    n.name = g_.value(to).name;
    n.inputs = {from};
    n.outputs = {to};
    n.attributes["to"] = static_cast<int64_t>(type(to));
    g_.nodes.push_back(std::move(n));
  }
  ValueId wide(ValueId v) {
    const auto at = wide_.find(v);
    if (at != wide_.end()) return at->second;
    if (const auto constant = g_.value(v).constant)
      return wide_[v] = g_.add_constant(g_.value(v).name + ".wide", widened(*constant));
    const ValueId to = wide_[v] = add_value(v);
    cast(v, to);
    return to;
  }
  // Makes sure that something defines the narrow value itself.
  void narrow(ValueId v) {
    if (g_.value(v).constant || !defined_.insert(v).second) return;
    cast(wide_.at(v), v);
  }

  Graph &g_;
  std::map<ValueId, ValueId> wide_;
  std::set<ValueId> defined_;  // narrow values that a node or nobody has to make
};

}  // namespace

Graph widen_halves(Graph g) {
  const bool any =
      std::any_of(g.values.begin(), g.values.end(), [](const Value &v) { return v.type == kHalf; });
  if (any) Widening(&g).run();
  return g;
}

}  // namespace polyhalite::onnx
