// If, Loop and Scan: what their regions' results are.
#include <algorithm>
#include <functional>

#include "apps/onnx/infer.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/regions.h"

namespace polyhalite::onnx {

namespace {

// Infers a region for operands of the graph around it. Sizes that are no numbers are symbols of the
// region's own, equal ones where equal sizes come in, so that it is compiled once for all sizes.
class RegionInference {
 public:
  RegionInference(Inference *i, std::string attribute)
      : i_(i), attribute_(std::move(attribute)), operand_(graph().inputs.size(), kNone) {
    known_.resize(graph().inputs.size());
    types_.resize(graph().inputs.size());
    shapes_.resize(graph().inputs.size());
  }

  size_t inputs() const { return graph().inputs.size(); }
  size_t outputs() const { return graph().outputs.size(); }
  const Shape &input_shape(size_t k) const { return shapes_[k]; }

  bool reads_input(size_t k) const { return reads(graph(), graph().inputs[k]); }
  void input(size_t k, ElementType type, const Shape &shape) {
    types_[k] = type;
    shapes_[k].clear();
    for (const Dim &d : shape) shapes_[k].push_back(d.constant() ? d : symbol_of(d));
  }
  // Input k is operand `from` of the node.
  void operand(size_t k, size_t from, bool elements_too) {
    input(k, i_->type(from), i_->shape(from));
    operand_[k] = i_->node().inputs[from];
    if (elements_too) known_[k] = i_->in(from).constant;
  }
  // Input k has another rank: of one number.
  void reshape(size_t k, const Shape &shape) { shapes_[k] = shape; }
  // Dimension d of input k differs between runs.
  void open(size_t k, size_t d) {
    shapes_[k][d] = Dim::symbol("turn" + std::to_string(k) + "." + std::to_string(d));
  }

  void infer() {
    inferred_ = graph();
    std::vector<ValueId> left;
    Graph typed = graph();
    for (size_t k = 0; k < inputs(); k++) {
      const ValueId v = graph().inputs[k];
      Value &value = inferred_.value(v);
      value.type = typed.value(v).type = types_[k];
      value.shape = typed.value(v).shape = shapes_[k];
      value.constant = known_[k];
      if (!known_[k]) left.push_back(v);
    }
    inferred_.inputs = left;
    results_ = inferred_.outputs;
    const InferenceReport report = infer_shapes(&inferred_);
    results_ = inferred_.outputs;
    for (size_t k = 0; k < report.outputs.size(); k++) {
      if (report.outputs[k].form == Form::Tensor) continue;
      i_->fail("result " + std::to_string(k) + " of its region is a sequence or an optional value",
               "a tensor is wanted there");
    }
    for (ValueId v : results_) {
      if (!inferred_.value(v).shape) refuse(report);
    }
    i_->set_region(attribute_, std::move(typed));
  }

  ElementType type(size_t k) const { return inferred_.value(results_[k]).type; }
  const Shape &shape(size_t k) const { return *inferred_.value(results_[k]).shape; }
  const Value &value(size_t k) const { return inferred_.value(results_[k]); }
  bool is_input(size_t k, size_t input) const { return results_[k] == graph().inputs[input]; }
  // The size around the region, where it does not follow from what the region computes.
  std::optional<Dim> outside(const Dim &d) const {
    std::set<std::string> symbols;
    d.add_symbols(&symbols);
    for (const std::string &s : symbols) {
      if (!outside_.count(s)) return std::nullopt;
    }
    return d.substitute(outside_);
  }
  // The result's shape around the region, open sizes being new ones of result `k` of the node.
  Shape outside_shape(size_t from, size_t k) const {
    Shape shape_out;
    for (size_t d = 0; d < shape(from).size(); d++) {
      const auto known = outside(shape(from)[d]);
      shape_out.push_back(known ? *known : i_->fresh_size(k, std::to_string(d)));
    }
    return shape_out;
  }

 private:
  const Graph &graph() const { return *region_of(i_->node(), attribute_); }

  Dim symbol_of(const Dim &d) {
    for (const auto &[symbol, size] : outside_) {
      if (size == d) return Dim::symbol(symbol);
    }
    const std::string symbol = "around" + std::to_string(outside_.size());
    outside_.emplace(symbol, d);
    return Dim::symbol(symbol);
  }

  // Elements decide about the region's results: the operands from which they are made are wanted.
  [[noreturn]] void refuse(const InferenceReport &report) const {
    for (const std::string &s : report.symbols) {
      if (const auto at = outside_.find(s); at != outside_.end()) throw NeedsNumber{at->second};
    }
    std::set<ValueId> wanted = report.needed;
    for (size_t n = inferred_.nodes.size(); n-- > 0;) {
      const Node &node = inferred_.nodes[n];
      if (!std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](ValueId v) { return wanted.count(v) != 0; }))
        continue;
      wanted.insert(node.inputs.begin(), node.inputs.end());
    }
    for (size_t k = 0; k < inputs(); k++) {
      if (wanted.count(graph().inputs[k]) && operand_[k] != kNone && !known_[k])
        throw NeedsValue{operand_[k]};
    }
    for (const Node &n : inferred_.nodes) {
      for (const ValueId v : n.inputs) {
        if (report.needed.count(v) == 0) continue;
        i_->fail(
            n.describe() + " in its region needs the elements of '" + inferred_.value(v).name + "'",
            "they decide about shapes or sequences, and the region computes them");
      }
    }
    i_->fail("the rank of a result of its region is not known",
             "it follows from elements that the region computes");
  }

  Inference *i_;
  const std::string attribute_;
  Graph inferred_;
  std::vector<ElementType> types_;
  std::vector<Shape> shapes_;
  std::vector<std::optional<Constant>> known_;
  std::vector<ValueId> operand_, results_;
  std::map<std::string, Dim> outside_;
};

void require_region(const Inference &i, const std::string &attribute) {
  if (!region_of(i.node(), attribute))
    i.fail("it has no attribute '" + attribute + "'", "its nodes are a graph of this name");
}

// Exporters mix [] and [1], which are then [1].
bool is_one_number(const Shape &s) { return s.empty() || (s.size() == 1 && s[0] == Dim(1)); }

// A branch that does not fit the sizes around it may be one that is not taken: the program is made
// for the condition's value.
void infer_branches(const Inference &i, RegionInference *no, RegionInference *yes) {
  try {
    no->infer();
  } catch (const CompileError &) {
    yes->infer();  // where neither fits, this is what is told
    throw NeedsValue{i.node().inputs[0]};
  }
  try {
    yes->infer();
  } catch (const CompileError &) {
    throw NeedsValue{i.node().inputs[0]};
  }
}

void infer_if(Inference &i) {
  require_region(i, "then_branch");
  require_region(i, "else_branch");
  RegionInference no(&i, "else_branch"), yes(&i, "then_branch");
  if (i.inputs() != 1 + no.inputs() + yes.inputs())
    i.fail("a branch has inputs", "branches read the values around them");
  // Operands of the regions stand in the order of the attributes' names.
  for (size_t k = 0; k < no.inputs(); k++) no.operand(k, 1 + k, true);
  for (size_t k = 0; k < yes.inputs(); k++) yes.operand(k, 1 + no.inputs() + k, true);
  infer_branches(i, &no, &yes);
  if (no.outputs() != i.outputs() || yes.outputs() != i.outputs())
    i.fail("its branches have " + std::to_string(yes.outputs()) + " and " +
               std::to_string(no.outputs()) + " results",
           "the node has " + std::to_string(i.outputs()));
  for (size_t k = 0; k < i.outputs(); k++) {
    if (!i.wants(k)) continue;
    const bool numbers = is_one_number(yes.shape(k)) && is_one_number(no.shape(k));
    // A rank that follows from the condition: the program is made for its value.
    if (yes.shape(k).size() != no.shape(k).size() && !numbers) throw NeedsValue{i.node().inputs[0]};
    if (yes.type(k) != no.type(k))
      i.fail("result " + std::to_string(k) + " is " + element_name(yes.type(k)) +
                 to_string(yes.shape(k)) + " or " + element_name(no.type(k)) +
                 to_string(no.shape(k)),
             "both branches give tensors of one type");
    Shape shape = yes.outside_shape(k, k);
    const Shape other = no.outside_shape(k, k);
    if (numbers) {
      i.result(k, yes.type(k), shape.size() > other.size() ? shape : other);
      continue;
    }
    for (size_t d = 0; d < shape.size(); d++) {
      if (shape[d] != other[d]) shape[d] = i.fresh_size(k, std::to_string(d));
    }
    i.result(k, yes.type(k), shape);
  }
}

// Infers the body until states come out as they went in; sizes that change are open. What a state
// that no turn reads was in front of the first one is for no turn at all.
void infer_states(Inference &i, RegionInference *body, size_t states, size_t first_input,
                  size_t first_output) {
  for (bool settled = false; !settled;) {
    body->infer();
    settled = true;
    for (size_t k = 0; k < states; k++) {
      if (!body->reads_input(first_input + k)) continue;
      const Shape in = body->input_shape(first_input + k), &out = body->shape(first_output + k);
      if (out.size() > in.size() && is_one_number(in) && is_one_number(out)) {
        body->reshape(first_input + k, out);
        settled = false;
        continue;
      }
      if (out.size() != in.size())
        i.fail("state " + std::to_string(k) + " has rank " + std::to_string(in.size()) +
                   " in front of a turn and " + std::to_string(out.size()) + " behind it",
               "the rank is the same in all turns");
      for (size_t d = 0; d < in.size(); d++) {
        if (in[d] == out[d] || !body->outside(in[d])) continue;
        body->open(first_input + k, d);
        settled = false;
      }
    }
  }
}

// Is there certainly a turn, or certainly none? And what decides, where neither is known.
struct FirstTurn {
  bool runs = false, none = false;
  std::function<void()> ask;
};

FirstTurn first_turn_of_loop(const Inference &i) {
  const auto known = [&](size_t k) -> std::optional<int64_t> {
    if (!i.has(k)) return 1;
    const auto &c = i.in(k).constant;
    return c && c->elements() > 0 ? std::optional(c->integer_at(0)) : std::nullopt;
  };
  const auto most = known(0), goes = known(1);
  return {most && goes && *most > 0 && *goes != 0, (most && *most <= 0) || (goes && *goes == 0),
          [&i, goes] { throw NeedsValue{i.node().inputs[goes ? 0 : 1]}; }};
}

// The result of a state that no turn reads: the last turn's, or, where none runs, the operand.
Shape unread_state(const Inference &i, size_t k, const Shape &first, Shape last,
                   const FirstTurn &turn) {
  if (turn.runs) return last;
  if (turn.none) return first;
  // A rank that follows from how often it runs: the program is made for that number.
  if (first.size() != last.size()) turn.ask();
  for (size_t d = 0; d < last.size(); d++) {
    if (last[d] != first[d]) last[d] = i.fresh_size(k, std::to_string(d));
  }
  return last;
}

void infer_loop(Inference &i) {
  require_region(i, "body");
  RegionInference body(&i, "body");
  const size_t own = i.node().own_operands(), captures = i.inputs() - own;
  const size_t states = own - 2;
  if (body.inputs() != own + captures)
    i.fail("its body has " + std::to_string(body.inputs() - captures) + " inputs",
           "there are the turn's number, the condition and " + std::to_string(states) + " states");
  if (body.outputs() != 1 + i.outputs() || i.outputs() < states)
    i.fail("its body has " + std::to_string(body.outputs()) + " results",
           "there are the condition and the node's " + std::to_string(i.outputs()));
  body.input(0, ElementType::Int64, {});
  body.input(1, ElementType::Bool, {});
  for (size_t k = 0; k < states; k++) body.operand(2 + k, 2 + k, false);
  for (size_t k = 0; k < captures; k++) body.operand(own + k, own + k, true);
  infer_states(i, &body, states, 2, 1);
  const Value &goes_on = body.value(0);
  const bool whole =
      (body.is_input(0, 1) || (goes_on.constant && goes_on.constant->elements() == 1 &&
                               goes_on.constant->integer_at(0) != 0)) &&
      (!i.has(1) || (i.in(1).constant && i.in(1).constant->integer_at(0) != 0));
  const auto most = i.has(0) ? i.known_sizes(0) : std::nullopt;
  const bool counted = whole && most && most->size() == 1;
  for (size_t k = 0; k < i.outputs(); k++) {
    if (!i.wants(k)) continue;
    Shape shape = body.outside_shape(1 + k, k);
    if (k < states && !body.reads_input(2 + k)) {
      shape = unread_state(i, k, i.shape(2 + k), shape, first_turn_of_loop(i));
    } else if (k >= states) {
      const auto number = counted ? (*most)[0].constant() : std::nullopt;
      shape.insert(shape.begin(), number    ? Dim(std::max<int64_t>(*number, 0))
                                  : counted ? (*most)[0]
                                            : i.fresh_size(k, "turns"));
    }
    i.result(k, body.type(1 + k), shape);
  }
}

void infer_scan(Inference &i) {
  require_region(i, "body");
  RegionInference body(&i, "body");
  const size_t own = i.node().own_operands(), captures = i.inputs() - own;
  const int64_t scans = i.node().integer("num_scan_inputs", 0);
  if (scans < 1 || scans > static_cast<int64_t>(own))
    i.fail("num_scan_inputs is " + std::to_string(scans),
           "it has " + std::to_string(own) + " operands, of which one at least is scanned");
  const size_t bounds = scan_bounds(i.node());
  const size_t states = own - static_cast<size_t>(scans) - bounds;
  if (body.inputs() != own + captures || body.outputs() != i.outputs() || i.outputs() < states)
    i.fail("its body has " + std::to_string(body.inputs() - captures) + " inputs and " +
               std::to_string(body.outputs()) + " results",
           "the node has " + std::to_string(own) + " operands and " + std::to_string(i.outputs()) +
               " results");
  auto listed = [&](const char *attribute, size_t k) {
    const std::vector<int64_t> list = i.node().integers(attribute);
    return k < list.size() ? list[k] : int64_t{0};
  };
  Dim turns = 0;
  for (size_t k = 0; k < states; k++) body.operand(k, k, false);
  for (size_t k = 0; k < static_cast<size_t>(scans); k++) {
    Shape shape = i.shape(states + k);
    const int axis = i.axis(listed("scan_input_axes", k), static_cast<int>(shape.size()));
    if (k > 0) i.require_equal(turns, shape[static_cast<size_t>(axis)], "lengths of sequences");
    if (k == 0 || !turns.constant()) turns = shape[static_cast<size_t>(axis)];
    shape.erase(shape.begin() + axis);
    body.input(states + k, i.type(states + k), shape);
  }
  for (size_t k = own - bounds; k < own + captures; k++) body.operand(k, k, true);
  infer_states(i, &body, states, 0, 0);
  for (size_t k = 0; k < i.outputs(); k++) {
    if (!i.wants(k)) continue;
    Shape shape = body.outside_shape(k, k);
    if (k < states && !body.reads_input(k)) {
      const auto known = turns.constant();
      shape = unread_state(
          i, k, i.shape(k), shape,
          {known && *known > 0, known && *known <= 0, [&turns] { throw NeedsNumber{turns}; }});
    } else if (k >= states) {
      const int axis =
          i.axis(listed("scan_output_axes", k - states), static_cast<int>(shape.size()) + 1);
      shape.insert(shape.begin() + axis, turns);
    }
    i.result(k, body.type(k), shape);
  }
}

}  // namespace

std::vector<Operator> control_operators() {
  return {
      {"", "If", Operator::Host, infer_if, nullptr},
      {"", "Loop", Operator::Host, infer_loop, nullptr},
      {"", "Scan", Operator::Host, infer_scan, nullptr},
  };
}

}  // namespace polyhalite::onnx
