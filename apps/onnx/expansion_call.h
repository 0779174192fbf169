// A node of another domain, as those read it who write standard nodes in its place.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/onnx/write_nodes.h"

namespace polyhalite::onnx {

struct Call {
  Call(const Node &n, Graph *g, std::vector<Node> *nodes) : node(n), w(g, nodes, n.name + "/") {}

  bool has(size_t i) const { return node.has_input(i); }
  bool wants(size_t k) const { return k < node.outputs.size() && node.outputs[k] != kNone; }
  ValueId in(size_t i) const;
  /// Has output k of the node be v, where anybody wants it.
  void define(size_t k, ValueId v);
  /// The elements of operand i, which have to be known when the model is read; a view that stays,
  /// whatever is added to the graph.
  Constant constant(size_t i);
  /// CompileError where operand i is given, or output k is wanted.
  void refuse_input(size_t i, const std::string &what) const;
  void refuse_output(size_t k, const std::string &what) const;
  [[noreturn]] void fail(const std::string &what, const std::string &why) const;

  const Node &node;
  Writer w;
};

/// How one operator is written: what it takes besides, all else is refused.
struct Expansion {
  const char *domain, *name;
  size_t fewest_inputs, most_inputs, most_outputs;
  std::vector<std::string> attributes;  // others have to be 0 or "NONE"
  void (*expand)(Call &);
};

std::vector<Expansion> microsoft_expansions();
std::vector<Expansion> quantized_expansions();
std::vector<Expansion> qlinear_expansions();
std::vector<Expansion> attention_expansions();
std::vector<Expansion> training_expansions();
std::vector<Expansion> flex_attention_expansions();
std::vector<Expansion> classical_expansions();
std::vector<Expansion> tree_expansions();

/// (a - zero point) x (b - zero point) of `operands`, times both scales, plus the bias; of the type
/// of `like`.
ValueId product_of_bytes(Call &c, const std::vector<ValueId> &operands, ValueId a_scale,
                         ValueId b_scale, ValueId bias, ValueId like);

/// The size along dimension d, as a list of one.
ValueId size_of(Writer *w, ValueId v, int64_t d);

/// What `yes` writes where v has this rank, and else what `no` does; both get the operands. Ranks
/// of what nodes make are known when shapes are: until then it is an If.
using Branch = std::function<ValueId(Writer &, const std::vector<ValueId> &)>;
ValueId by_rank(Writer *w, ValueId v, int64_t rank, const std::vector<ValueId> &operands,
                const Branch &yes, const Branch &no);

}  // namespace polyhalite::onnx
