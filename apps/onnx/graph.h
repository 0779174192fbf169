// The graph IR: values in single-assignment form, nodes in an order in which they can run.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "apps/onnx/constant.h"
#include "apps/onnx/dim.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

/// A position in Graph::values; kNone for an optional input or output that is left out.
using ValueId = int;
inline constexpr ValueId kNone = -1;

struct Value {
  std::string name;  // the model's; unique in its graph
  ElementType type = ElementType::Undefined;
  std::optional<Shape> shape;        // not known before inference, or of unknown rank
  std::optional<Constant> constant;  // its elements, where they are known
  // The elements of an integer tensor of rank 0 or 1 where they follow from shapes.
  std::optional<std::vector<Dim>> contents;
};

struct Graph;
using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, Constant, std::shared_ptr<const Graph>>;

/// The domain of onnxruntime's own operators.
constexpr const char *kMicrosoft = "com.microsoft";

struct Node {
  std::string domain, op;  // the main domain is ""
  int version = 0;         // since which the operator is as it is here
  std::string name;        // for messages
  std::vector<ValueId> inputs, outputs;
  std::map<std::string, Attribute> attributes;

  bool is(const char *main_domain_op) const { return domain.empty() && op == main_domain_op; }
  bool has_input(size_t i) const { return i < inputs.size() && inputs[i] != kNone; }
  bool has(const std::string &attribute) const { return attributes.count(attribute) != 0; }
  // Values of attributes, or the default where there is none; CompileError for one of another kind.
  int64_t integer(const std::string &attribute, int64_t otherwise) const;
  float real(const std::string &attribute, float otherwise) const;
  std::string text(const std::string &attribute, const std::string &otherwise) const;
  std::vector<int64_t> integers(const std::string &attribute) const;
  /// Where the list is empty, `count` times the other number.
  std::vector<int64_t> integers(const std::string &attribute, size_t count,
                                int64_t otherwise) const;
  /// How many inputs are those of the operator; what its graphs take from around follows.
  size_t own_operands() const;
  /// "node 'conv1' (Conv, version 11)".
  std::string describe() const;
};

/// What is known of results that elements decide about, because what makes them was run, and what
/// is to be known.
struct Findings {
  std::map<std::string, Constant> elements;  // by the value's name
  std::map<std::string, int64_t> sizes;      // by symbol
  std::set<std::string> numbers;             // symbols that are to be numbers
  // Values whose elements, where they decide about shapes, are open sizes (ReadSizes), so that one
  // program serves all of them.
  std::set<std::string> open;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs, outputs;
  // Of a region: values of the graph around it that it reads, and their names inside.
  std::vector<std::pair<ValueId, ValueId>> captures;
  std::shared_ptr<const Findings> findings;  // null: nothing
  // Differences of sizes that inference took for equal, because nothing says that they are not; by
  // their texts.
  std::map<std::string, Dim> assumed_zero;

  const Value &value(ValueId v) const { return values[static_cast<size_t>(v)]; }
  Value &value(ValueId v) { return values[static_cast<size_t>(v)]; }
  /// `name` is completed where it is taken.
  ValueId add_value(const std::string &name, ElementType type = ElementType::Undefined,
                    std::optional<Shape> shape = std::nullopt);
  ValueId add_constant(const std::string &name, const Constant &c);
  /// A new node of one output before node `at`, which moves back.
  ValueId insert(size_t at, const std::string &op, std::vector<ValueId> inputs,
                 std::map<std::string, Attribute> attributes = {}, const std::string &name = "");
  /// For each value how often nodes and outputs read it.
  std::vector<int> use_counts() const;
  void replace_uses(ValueId old, ValueId with);
  /// Symbols in shapes and in elements that are sizes become these.
  void substitute(const std::map<std::string, Dim> &sizes);

 private:
  std::map<std::string, int> names_;
};

/// A node a line:
///
///   graph mnist(%x: float32[1, 1, 28, 28]) -> (%y)
///     %c = constant float32[8, 1, 5, 5]
///     %t: float32[1, 8, 28, 28] = Conv.11(%x, %c) {auto_pad = "SAME_UPPER"}
std::string to_text(const Graph &g);

/// What is wrong with the graph's form, or nothing:
/// - inputs, outputs and operands are values of the graph; operands are left out only at known
/// places
/// - each value is one of: an input, a constant, the output of one node
/// - operands of a node are inputs, constants or outputs of nodes before it, or their elements are
///   known sizes or are not read, so that nobody has to compute them
/// - shapes of constants are those of their elements
/// - names of values are unique
std::optional<Diagnostic> why_invalid(const Graph &g);

}  // namespace polyhalite::onnx
