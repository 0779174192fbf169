// What is known of each operator: how shapes follow, and which algorithm computes it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/onnx/graph.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

/// Thrown by inference and lowering where the elements of an operand decide about shapes or about
/// the algorithm, and are not known. A diagnostic where nobody can find them out.
struct NeedsValue {
  ValueId value;
};
/// Thrown where an operand's shape is not known.
struct NeedsShape {
  ValueId value;
};
/// Thrown where a size has to be a number.
struct NeedsNumber {
  Dim size;
};

/// Whether elements of such tensors are followed as sizes.
bool holds_sizes(ElementType t);

/// Inference of one node: what its operands are, and where results go.
class Inference {
 public:
  Inference(Graph *graph, Node *node) : graph_(graph), node_(node) {}

  const Node &node() const { return *node_; }
  size_t inputs() const { return node_->inputs.size(); }
  size_t outputs() const { return node_->outputs.size(); }
  bool has(size_t i) const { return node_->has_input(i); }
  bool wants(size_t k) const { return k < outputs() && node_->outputs[k] != kNone; }
  const Value &in(size_t i) const;
  ElementType type(size_t i) const { return in(i).type; }
  ElementType result_type(size_t k) const { return graph_->value(node_->outputs[k]).type; }
  const Shape &shape(size_t i) const;
  int rank(size_t i) const { return static_cast<int>(shape(i).size()); }
  /// The elements of an integer operand; as numbers, or as sizes.
  std::vector<int64_t> integers(size_t i) const;
  std::vector<Dim> sizes(size_t i) const;
  /// The same where they are known.
  std::optional<std::vector<Dim>> known_sizes(size_t i) const;
  /// Does the size follow from sizes of the graph's inputs?
  bool follows_from_inputs(const Dim &size) const;
  /// The size as a number.
  int64_t number(const Dim &size) const;
  /// In [0, rank); CompileError outside of [-rank, rank).
  int axis(int64_t a, int rank) const;
  std::vector<int> axes(const std::vector<int64_t> &list, int rank) const;
  /// CompileError unless operand i has a rank in [least, most].
  void require_rank(size_t i, int least, int most) const;
  /// CompileError unless the two may be equal; where that is open, the graph assumes that they are.
  void require_equal(const Dim &a, const Dim &b, const std::string &what) const;
  [[noreturn]] void fail(const std::string &what, const std::string &why) const;

  void result(size_t k, ElementType type, Shape shape);
  void contents(size_t k, std::vector<Dim> elements);
  /// A size of result k that follows from elements: known once the node has run.
  Dim fresh_size(size_t k, const std::string &what) const;
  /// The node is from now on the operator of this name in kInternalDomain, with the operands that
  /// it has.
  void become(const std::string &op);
  /// The node's attribute, a closed region, becomes this one.
  void set_region(const std::string &attribute, Graph region);

 private:
  Graph *graph_;
  Node *node_;
};

/// Lowering of one node whose shapes are known.
class Lowering {
 public:
  Lowering(const Graph &graph, const Node &node, std::vector<ops::Tensor> inputs,
           const std::map<std::string, Expr> &symbols, const Target &target, bool rows)
      : graph_(graph),
        node_(node),
        inputs_(std::move(inputs)),
        symbols_(symbols),
        target_(target),
        results_are_rows_(rows) {}

  const Node &node() const { return node_; }
  const Target &target() const { return target_; }
  /// Does each point of the kernel's results, which lie row-major, follow from one of this node's?
  bool results_are_rows() const { return results_are_rows_; }
  size_t inputs() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i].defined(); }
  bool wants(size_t k) const { return k < node_.outputs.size() && node_.outputs[k] != kNone; }
  const ops::Tensor &in(size_t i) const { return inputs_[i]; }
  const std::vector<ops::Tensor> &all() const { return inputs_; }
  int rank(size_t i) const { return in(i).rank(); }
  const Shape &shape(size_t i) const { return *value_of_input(i).shape; }
  ElementType element(size_t i) const { return value_of_input(i).type; }
  ElementType result_element(size_t k) const { return graph_.value(node_.outputs[k]).type; }
  const Shape &result_shape(size_t k) const;
  Type result_type(size_t k) const;
  ops::Index sizes(const Shape &shape) const;
  ops::Index result_sizes(size_t k) const { return sizes(result_shape(k)); }
  Expr size(const Dim &d) const { return d.to_expr(symbols_); }
  std::vector<int64_t> integers(size_t i) const;
  std::vector<Dim> known_sizes(size_t i) const;
  int64_t number(const Dim &size) const;
  int axis(int64_t a, int rank) const { return static_cast<int>(a < 0 ? a + rank : a); }
  std::vector<int> axes(const std::vector<int64_t> &list, int rank) const;
  /// Of an operand whose elements are known when the kernel is made.
  const Constant &constant(size_t i) const;
  /// Is the operand one number that is 0, and written into the kernel?
  bool is_literal_zero(size_t i) const;
  [[noreturn]] void fail(const std::string &what, const std::string &why) const;

 private:
  const Value &value_of_input(size_t i) const { return graph_.value(node_.inputs[i]); }
  const Graph &graph_;
  const Node &node_;
  std::vector<ops::Tensor> inputs_;
  const std::map<std::string, Expr> &symbols_;
  const Target &target_;
  const bool results_are_rows_;
};

/// Is the symbol a size that a run finds when it has made v? (Inference::fresh_size)
bool defines_size(const Value &v, const std::string &symbol);

/// Of operators whose result has the type and the shape of operand 0.
void infer_same(Inference &i);

struct Operator {
  enum Form {
    Pointwise,  // each element from the operands' elements at the same place, as numpy meets them
    View,       // the elements of operand 0, in order, in another shape
    Host,       // runs between kernels: elements decide how large results are, or what is run
    Other,
  };
  std::string domain, name;
  Form form;
  void (*infer)(Inference &);
  /// One tensor for each output that is wanted, in order; undefined ones for others.
  std::vector<ops::Tensor> (*lower)(Lowering &);
  // Operands whose elements must be known when the kernel is made.
  std::vector<int> structural = {};
  // Of a Host operator without regions: the results of row-major operands, an undefined Constant
  // standing for each that is left out.
  std::vector<Constant> (*compute)(const Node &, const std::vector<Constant> &) = nullptr;
};

/// Of operators that no file has: what others are written as, or become.
inline constexpr const char *kInternalDomain = "polyhalite";

/// Null where there is none.
const Operator *operator_of(const std::string &domain, const std::string &name);
/// Of an image's memory, see turn_images().
inline bool is_turn(const Node &n) { return n.domain == kInternalDomain && n.op == "Turn"; }
/// In files.
bool is_supported(const std::string &domain, const std::string &name);
/// All of them, in order of names.
std::vector<const Operator *> all_operators();

// Each file of operators/ has its part.
std::vector<Operator> pointwise_operators();
std::vector<Operator> shape_operators();
std::vector<Operator> movement_operators();
std::vector<Operator> reduction_operators();
std::vector<Operator> network_operators();
std::vector<Operator> quantized_operators();
std::vector<Operator> block_product_operators();
std::vector<Operator> attention_operators();
std::vector<Operator> image_operators();
std::vector<Operator> resize_operators();
std::vector<Operator> signal_operators();
std::vector<Operator> einsum_operators();
std::vector<Operator> selection_operators();
std::vector<Operator> control_operators();
std::vector<Operator> geometry_operators();
std::vector<Operator> fourier_operators();
std::vector<Operator> random_operators();
std::vector<Operator> top_k_operators();
std::vector<Operator> adaptive_roi_align_operators();
std::vector<Operator> concat_operators();
std::vector<Operator> read_sizes_operators();

/// Of two sizes that are equal the one that says more.
Dim plainer(const Dim &a, const Dim &b);
/// Shapes of the operands meet as numpy's do.
Shape broadcast(const Inference &i, const std::vector<Shape> &shapes);
/// The node's result is the product of operands 0 and `right`: a vector is a row on the left, a
/// column on the right, whose dimension the result lacks.
void infer_product(Inference &i, size_t right, ElementType type);

}  // namespace polyhalite::onnx
