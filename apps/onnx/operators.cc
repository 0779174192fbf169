#include "apps/onnx/operators.h"

#include <algorithm>

#include "apps/onnx/canonicalize.h"
#include "apps/onnx/expansions.h"
#include "apps/onnx/kernel.h"
#include "apps/onnx/sequences.h"

namespace polyhalite::onnx {

namespace {

using Key = std::pair<std::string, std::string>;

const std::map<Key, Operator> &registry() {
  static const std::map<Key, Operator> all = [] {
    std::map<Key, Operator> m;
    for (auto part : {pointwise_operators,     shape_operators,     movement_operators,
                      reduction_operators,     network_operators,   quantized_operators,
                      block_product_operators, attention_operators, image_operators,
                      signal_operators,        einsum_operators,    selection_operators,
                      control_operators,       geometry_operators,  fourier_operators,
                      random_operators,        top_k_operators,     concat_operators,
                      read_sizes_operators,    resize_operators,    adaptive_roi_align_operators}) {
      for (Operator &o : part()) {
        const Key key{o.domain, o.name};
        internal_check(m.emplace(key, std::move(o)).second, "an operator stands in two tables");
      }
    }
    return m;
  }();
  return all;
}

std::optional<std::vector<Dim>> known_elements(const Value &v) {
  if (v.contents) return v.contents;
  if (!v.constant || v.constant->elements() > 4096 || !holds_sizes(v.type)) return std::nullopt;
  std::vector<Dim> list;
  for (int64_t i = 0; i < v.constant->elements(); i++) list.emplace_back(v.constant->integer_at(i));
  return list;
}

int64_t number_of(const Dim &size) {
  const auto n = size.constant();
  if (!n) throw NeedsNumber{size};
  return *n;
}

std::vector<int64_t> numbers(const Value &v, ValueId id) {
  std::vector<int64_t> list;
  if (v.constant) {
    for (int64_t i = 0; i < v.constant->elements(); i++) list.push_back(v.constant->integer_at(i));
    return list;
  }
  const auto known = known_elements(v);
  if (!known) throw NeedsValue{id};
  for (const Dim &d : *known) list.push_back(number_of(d));
  return list;
}

}  // namespace

bool holds_sizes(ElementType t) {
  return t == ElementType::Int64 || t == ElementType::Int32 || t == ElementType::Bool;
}

const Operator *operator_of(const std::string &domain, const std::string &name) {
  const auto at = registry().find({domain, name});
  return at == registry().end() ? nullptr : &at->second;
}

bool is_supported(const std::string &domain, const std::string &name) {
  return (domain != kInternalDomain && operator_of(domain, name) != nullptr) ||
         (domain.empty() && is_rewritten(name)) || (domain.empty() && is_sequence_operator(name)) ||
         is_expanded(domain, name);
}

std::vector<const Operator *> all_operators() {
  std::vector<const Operator *> list;
  for (const auto &[key, o] : registry()) list.push_back(&o);
  return list;
}

const Value &Inference::in(size_t i) const {
  if (!has(i)) fail("operand " + std::to_string(i) + " is left out", "the operator needs it");
  return graph_->value(node_->inputs[i]);
}

const Shape &Inference::shape(size_t i) const {
  const Value &v = in(i);
  if (!v.shape) throw NeedsShape{node_->inputs[i]};
  return *v.shape;
}

std::vector<int64_t> Inference::integers(size_t i) const {
  return numbers(in(i), node_->inputs[i]);
}

std::optional<std::vector<Dim>> Inference::known_sizes(size_t i) const {
  return known_elements(in(i));
}

std::vector<Dim> Inference::sizes(size_t i) const {
  if (!holds_sizes(type(i))) {
    fail("operand " + std::to_string(i) + " has elements of " + element_name(type(i)),
         "they are sizes, which are integers");
  }
  auto known = known_sizes(i);
  if (!known) throw NeedsValue{node_->inputs[i]};
  return *known;
}

bool Inference::follows_from_inputs(const Dim &size) const {
  std::set<std::string> given, asked;
  for (ValueId v : graph_->inputs) {
    const auto &shape = graph_->value(v).shape;
    if (!shape) continue;
    for (const Dim &d : *shape) d.add_symbols(&given);
  }
  size.add_symbols(&asked);
  return std::includes(given.begin(), given.end(), asked.begin(), asked.end());
}

int64_t Inference::number(const Dim &size) const { return number_of(size); }

int Inference::axis(int64_t a, int rank) const {
  if (a < -rank || a >= rank) {
    fail("axis " + std::to_string(a) + " of a tensor of rank " + std::to_string(rank),
         "axes are from -rank to rank - 1");
  }
  return static_cast<int>(a < 0 ? a + rank : a);
}

std::vector<int> Inference::axes(const std::vector<int64_t> &list, int rank) const {
  std::vector<int> out;
  for (int64_t a : list) out.push_back(axis(a, rank));
  return out;
}

void infer_same(Inference &i) { i.result(0, i.type(0), i.shape(0)); }

void Inference::require_rank(size_t i, int least, int most) const {
  if (rank(i) >= least && rank(i) <= most) return;
  const bool bounded = most < INT32_MAX;
  fail("operand " + std::to_string(i) + " has rank " + std::to_string(rank(i)),
       std::string(least == most ? "it is "
                   : bounded     ? "it is from "
                                 : "it is at least ") +
           std::to_string(least) + (bounded && least != most ? " to " + std::to_string(most) : ""));
}

void Inference::require_equal(const Dim &a, const Dim &b, const std::string &what) const {
  const Dim difference = a - b;
  const auto known = difference.constant();
  if (known && *known != 0) {
    fail(what + " are " + a.to_string() + " and " + b.to_string(), "they have to be equal");
  }
  if (!known) graph_->assumed_zero.emplace(difference.to_string(), difference);
}

void Inference::fail(const std::string &what, const std::string &why) const {
  user_error(node_->describe() + ": " + what, why, "mend the model, or give other shapes");
}

void Inference::result(size_t k, ElementType type, Shape shape) {
  if (!wants(k)) return;
  if (!language_type(type)) {
    fail("its result has elements of type " + std::to_string(static_cast<int>(type)),
         "the format has no such elements, or they are not supported");
  }
  for (const Dim &d : shape) {
    const auto c = d.constant();
    if (c && (*c < 0 || *c > INT32_MAX)) {
      fail("its result has the shape " + to_string(shape), "sizes are from 0 to 2^31 - 1");
    }
  }
  Value &v = graph_->value(node_->outputs[k]);
  v.type = type;
  v.shape = std::move(shape);
}

void Inference::contents(size_t k, std::vector<Dim> elements) {
  if (wants(k)) graph_->value(node_->outputs[k]).contents = std::move(elements);
}

Dim Inference::fresh_size(size_t k, const std::string &what) const {
  const std::string symbol = graph_->value(node_->outputs[k]).name + "." + what;
  if (graph_->findings) {
    const auto known = graph_->findings->sizes.find(symbol);
    if (known != graph_->findings->sizes.end()) return known->second;
  }
  return Dim::symbol(symbol);
}

bool defines_size(const Value &v, const std::string &symbol) {
  return symbol.rfind(v.name + ".", 0) == 0 && v.shape &&
         std::count(v.shape->begin(), v.shape->end(), Dim::symbol(symbol)) != 0;
}

void Inference::become(const std::string &op) {
  node_->domain = kInternalDomain;
  node_->op = op;
}

void Inference::set_region(const std::string &attribute, Graph region) {
  node_->attributes[attribute] = std::make_shared<const Graph>(std::move(region));
}

const Shape &Lowering::result_shape(size_t k) const {
  return *graph_.value(node_.outputs[k]).shape;
}

Type Lowering::result_type(size_t k) const {
  return *language_type(graph_.value(node_.outputs[k]).type);
}

ops::Index Lowering::sizes(const Shape &shape) const {
  ops::Index list;
  for (const Dim &d : shape) list.push_back(size(d));
  return list;
}

std::vector<int64_t> Lowering::integers(size_t i) const {
  return numbers(value_of_input(i), node_.inputs[i]);
}

std::vector<Dim> Lowering::known_sizes(size_t i) const {
  auto known = known_elements(value_of_input(i));
  if (!known) throw NeedsValue{node_.inputs[i]};
  return *known;
}

int64_t Lowering::number(const Dim &size) const { return number_of(size); }

std::vector<int> Lowering::axes(const std::vector<int64_t> &list, int rank) const {
  std::vector<int> out;
  for (int64_t a : list) out.push_back(axis(a, rank));
  return out;
}

const Constant &Lowering::constant(size_t i) const {
  const Value &v = value_of_input(i);
  if (!v.constant) throw NeedsValue{node_.inputs[i]};
  return *v.constant;
}

bool Lowering::is_literal_zero(size_t i) const {
  if (!has(i)) return false;
  const Value &v = value_of_input(i);
  return v.constant && is_literal(v) && v.constant->elements() > 0 && v.constant->number(0) == 0;
}

void Lowering::fail(const std::string &what, const std::string &why) const {
  user_error(node_.describe() + ": " + what, why, "replace the operator, or export with others");
}

Dim plainer(const Dim &a, const Dim &b) {
  if (a.constant()) return a;
  return b.constant() || b.to_string().size() < a.to_string().size() ? b : a;
}

Shape broadcast(const Inference &i, const std::vector<Shape> &shapes) {
  size_t rank = 0;
  for (const Shape &s : shapes) rank = std::max(rank, s.size());
  Shape out(rank, Dim(1));
  for (const Shape &s : shapes) {
    for (size_t d = 0; d < s.size(); d++) {
      Dim &met = out[rank - s.size() + d];
      if (s[d].is(1)) continue;
      if (met.is(1)) {
        met = s[d];
      } else {
        i.require_equal(met, s[d], "sizes of dimension " + std::to_string(d));
        met = plainer(met, s[d]);
      }
    }
  }
  return out;
}

void infer_product(Inference &i, size_t right, ElementType type) {
  Shape a = i.shape(0), b = i.shape(right);
  if (a.empty() || b.empty())
    i.fail("an operand is a scalar", "matrices have at least one dimension");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), Dim(1));
  if (column) b.emplace_back(1);
  i.require_equal(a.back(), b[b.size() - 2], "columns and rows");
  Shape shape = broadcast(i, {Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2)});
  if (!row) shape.push_back(a[a.size() - 2]);
  if (!column) shape.push_back(b.back());
  i.result(0, type, shape);
}

}  // namespace polyhalite::onnx
