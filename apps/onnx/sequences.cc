#include "apps/onnx/sequences.h"

#include <algorithm>

#include "apps/onnx/operators.h"
#include "apps/onnx/sequence_node.h"
#include "apps/onnx/sequence_regions.h"

namespace polyhalite::onnx {

namespace {

// The domain of nodes that no file has.
const char *const kOwnDomain = "polyhalite";
const char *const kTakeApart = "TakeApart";

void require_type(const SequenceNode &n, ElementType elements, size_t operand, ElementType given) {
  if (elements == ElementType::Undefined || elements == given) return;
  n.fail("operand " + std::to_string(operand) + " is " + element_name(given) +
             " beside elements of " + element_name(elements),
         "a sequence has elements of one type", "cast it");
}

void construct(SequenceNode &n) {
  Sequence s{Form::List, ElementType::Undefined, {}};
  for (size_t i = 0; i < n.node().inputs.size(); i++) {
    s.parts.push_back(n.tensor(i));
    const ElementType type = n.graph().value(s.parts.back()).type;
    require_type(n, s.type, i, type);
    s.type = type;
  }
  n.give(0, s);
}

void make_empty(SequenceNode &n) {
  const auto type = static_cast<ElementType>(n.node().integer("dtype", 1));
  n.give(0, Sequence{Form::List, type, {}});
}

void insert(SequenceNode &n) {
  const Sequence &old = n.sequence(0);
  const ValueId added = n.tensor(1);
  require_type(n, old.type, 1, n.graph().value(added).type);
  Sequence s{Form::List, n.graph().value(added).type, n.elements(old)};
  const auto length = static_cast<int64_t>(s.parts.size());
  const int64_t at = n.node().has_input(2) ? n.position(n.integer(2), length, length) : length;
  s.parts.insert(s.parts.begin() + at, added);
  n.give(0, s);
}

void erase(SequenceNode &n) {
  const Sequence &old = n.sequence(0);
  Sequence s{Form::List, old.type, n.elements(old)};
  const auto length = static_cast<int64_t>(s.parts.size());
  const int64_t wanted = n.node().has_input(1) ? n.integer(1) : -1;
  s.parts.erase(s.parts.begin() + n.position(wanted, length, length - 1));
  n.give(0, s);
}

std::optional<int64_t> known_length(const SequenceNode &n, const Graph &g, size_t operand) {
  const Sequence &s = n.sequence(operand);
  if (s.form == Form::List) return static_cast<int64_t>(s.parts.size());
  return (*g.value(s.parts[0]).shape)[0].constant();
}

void take_element(SequenceNode &n) {
  const Sequence &s = n.sequence(0);
  const ValueId at = n.tensor(1);
  const auto length = known_length(n, n.graph(), 0);
  const auto known = n.known_integer(1);
  if (length && *length == 0) n.position(0, 0, -1);
  if (known && length) {
    const int64_t place = n.position(*known, *length, *length - 1);
    n.give(0, s.form == Form::List ? s.parts[static_cast<size_t>(place)]
                                   : n.place(s.parts[0], n.writer().integer(place)));
    return;
  }
  const ValueId stack = n.stacked(s);
  // Elements of several shapes: the program is made for this one.
  if (stack == kNone) throw NeedsValue{at};
  n.give(0, n.place(stack, at));
}

void measure(SequenceNode &n) {
  const Sequence &s = n.sequence(0);
  Writer &w = n.writer();
  if (s.form == Form::List) {
    n.give(0, w.integer(static_cast<int64_t>(s.parts.size())));
    return;
  }
  n.give(0, w.op("Gather", {w.op("Shape", {s.parts[0]}), w.integer(0)}, {{"axis", int64_t{0}}}));
}

// Dimension 0 in front of dimension `to` of those behind it.
ValueId move_first(SequenceNode &n, ValueId v, size_t rank, size_t to) {
  std::vector<int64_t> order;
  for (size_t d = 1; d < rank; d++) order.push_back(static_cast<int64_t>(d));
  order.insert(order.begin() + static_cast<ptrdiff_t>(to), 0);
  return to == 0 ? v : n.writer().op("Transpose", {v}, {{"perm", order}});
}

// Dimensions `at` and `at` + 1 as one.
ValueId join_dimensions(SequenceNode &n, ValueId v, size_t at) {
  Writer &w = n.writer();
  const auto a = static_cast<int64_t>(at);
  const ValueId front = w.op("Shape", {v}, {{"start", int64_t{0}}, {"end", a}});
  const ValueId one = w.op("Shape", {v}, {{"start", a}, {"end", a + 1}});
  const ValueId other = w.op("Shape", {v}, {{"start", a + 1}, {"end", a + 2}});
  const ValueId back = w.op("Shape", {v}, {{"start", a + 2}});
  const ValueId shape =
      w.op("Concat", {front, w.op("Mul", {one, other}), back}, {{"axis", int64_t{0}}});
  return w.op("Reshape", {v, shape}, {{"allowzero", int64_t{1}}});
}

void concat(SequenceNode &n) {
  const Sequence &s = n.sequence(0);
  const int64_t axis = n.node().integer("axis", 0);
  const bool fresh = n.node().integer("new_axis", 0) != 0;
  Writer &w = n.writer();
  if (s.form == Form::List) {
    if (s.parts.empty()) {
      n.fail("its sequence has no elements", "nothing says what shape the result has",
             "give one element at least");
    }
    std::vector<ValueId> parts = s.parts;
    for (ValueId &v : parts) {
      if (fresh) v = w.op("Unsqueeze", {v, w.integers({axis})});
    }
    n.give(0, w.op("Concat", parts, {{"axis", axis}}));
    return;
  }
  const size_t rank = n.graph().value(s.parts[0]).shape->size();
  const auto most = static_cast<int64_t>(fresh ? rank : rank - 1);
  if (axis < -most || axis >= most) {
    n.fail("axis " + std::to_string(axis) + " of elements of rank " + std::to_string(rank - 1),
           "axes are from " + std::to_string(-most) + " to " + std::to_string(most - 1),
           "give one of these");
  }
  const auto at = static_cast<size_t>(axis < 0 ? axis + most : axis);
  const ValueId moved = move_first(n, s.parts[0], rank, at);
  n.give(0, fresh ? moved : join_dimensions(n, moved, at));
}

// Sizes of parts of `each` places, the last of which may have fewer.
std::vector<int64_t> equal_parts(const SequenceNode &n, const Dim &size, int64_t each) {
  if (each < 1) {
    n.fail("parts have " + std::to_string(each) + " places", "they have one at least",
           "give a size from 1 on");
  }
  if (!size.constant()) throw NeedsNumber{size};
  n.require_size(static_cast<size_t>(*size.constant() / each));
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < *size.constant(); at += each)
    sizes.push_back(std::min(each, *size.constant() - at));
  return sizes;
}

void split(SequenceNode &n) {
  const ValueId x = n.tensor(0);
  Writer &w = n.writer();
  const Shape shape = *n.graph().value(x).shape;
  const ElementType type = n.graph().value(x).type;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = n.node().integer("axis", 0);
  if (axis < -rank || axis >= rank) {
    n.fail("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank),
           "axes are from -rank to rank - 1", "give one of these");
  }
  if (axis < 0) axis += rank;
  if (!n.node().has_input(1)) {
    std::vector<int64_t> order{axis};
    for (int64_t d = 0; d < rank; d++) {
      if (d != axis) order.push_back(d);
    }
    ValueId rows = axis == 0 ? x : w.op("Transpose", {x}, {{"perm", order}});
    if (n.node().integer("keepdims", 1) != 0)
      rows = w.op("Unsqueeze", {rows, w.integers({axis + 1})});
    n.give(0, Sequence{Form::Stack, type, {rows}});
    return;
  }
  const Shape given = *n.graph().value(n.tensor(1)).shape;
  ValueId sizes = n.node().inputs[1];
  size_t count = 0;
  if (given.empty()) {
    const auto parts = equal_parts(n, shape[static_cast<size_t>(axis)], n.integer(1));
    sizes = w.integers(parts);
    count = parts.size();
  } else {
    if (given.size() > 1) {
      n.fail("operand 1 has rank " + std::to_string(given.size()),
             "it is one size, or a list of sizes", "give a tensor of rank 0 or 1");
    }
    if (!given[0].constant()) throw NeedsNumber{given[0]};
    count = static_cast<size_t>(*given[0].constant());
  }
  Sequence s{Form::List, type, {}};
  if (count > 0) s.parts = w.ops("Split", count, {x, sizes}, {{"axis", axis}});
  n.give(0, s);
}

void take_apart(SequenceNode &n) {
  if (!known_length(n, n.graph(), 0)) {
    n.fail("its sequence has any number of elements",
           "it had " + std::to_string(n.node().outputs.size()), "leave its length as it is");
  }
  const std::vector<ValueId> list = n.elements(n.sequence(0));
  if (list.size() != n.node().outputs.size()) {
    n.fail("its sequence has " + std::to_string(list.size()) + " elements",
           "it had " + std::to_string(n.node().outputs.size()), "leave its length as it is");
  }
  for (size_t k = 0; k < list.size(); k++) n.give(k, list[k]);
}

void make_optional(SequenceNode &n) {
  if (const Sequence *s = n.sequence_of(0)) {
    n.give(0, *s);
  } else if (n.node().has_input(0)) {
    n.give(0, n.tensor(0));
  } else {
    n.give(0, Sequence{});
  }
}

void ask_for_element(SequenceNode &n) {
  const Sequence *s = n.sequence_of(0);
  const uint8_t there = n.node().has_input(0) && !(s && s->form == Form::Absent) ? 1 : 0;
  n.give(0, n.graph().add_constant(n.node().name + "/there",
                                   Constant::of_bytes(ElementType::Bool, {}, {there})));
}

void get_element(SequenceNode &n) {
  if (n.sequence_of(0)) {
    n.give(0, n.sequence(0));
  } else {
    n.give(0, n.tensor(0));
  }
}

const std::map<std::string, void (*)(SequenceNode &)> &sequence_expansions() {
  static const std::map<std::string, void (*)(SequenceNode &)> kAll = {
      {"ConcatFromSequence", concat},      {"Optional", make_optional},
      {"OptionalGetElement", get_element}, {"OptionalHasElement", ask_for_element},
      {"SequenceAt", take_element},        {"SequenceConstruct", construct},
      {"SequenceEmpty", make_empty},       {"SequenceErase", erase},
      {"SequenceInsert", insert},          {"SequenceLength", measure},
      {"SequenceMap", map_sequences},      {"SplitToSequence", split}};
  return kAll;
}

}  // namespace

bool is_sequence_operator(const std::string &op) { return sequence_expansions().count(op) != 0; }

std::vector<std::string> sequence_operators() {
  std::vector<std::string> names;
  for (const auto &[name, expansion] : sequence_expansions()) names.push_back(name);
  return names;
}

Node node_that_makes(const Sequence &s, const std::vector<ValueId> &parts, ValueId result) {
  Node n;
  n.inputs = parts;
  n.outputs = {result};
  if (s.form == Form::Absent) {
    n.op = "Optional";
  } else if (s.form == Form::Stack) {
    n.op = "SplitToSequence";
    n.attributes["keepdims"] = int64_t{0};
  } else if (parts.empty()) {
    n.op = "SequenceEmpty";
    n.attributes["dtype"] = static_cast<int64_t>(s.type);
  } else {
    n.op = "SequenceConstruct";
  }
  n.name = n.op;
  n.version = find_operator(n.op)->versions.back();
  return n;
}

Node node_that_takes_apart(ValueId sequence, const std::vector<ValueId> &elements) {
  Node n;
  n.domain = kOwnDomain;
  n.op = n.name = kTakeApart;
  n.inputs = {sequence};
  n.outputs = elements;
  return n;
}

const Sequence *Sequences::find(ValueId v) const {
  const auto at = sequences_.find(v);
  return at == sequences_.end() ? nullptr : &at->second;
}

void Sequences::define(ValueId v, Sequence s) { sequences_[v] = std::move(s); }

bool Sequences::expand(Graph *g, size_t at) {
  const Node &n = g->nodes[at];
  if (n.is("If") || n.is("Loop") || n.is("Scan")) return expand_region(this, g, at);
  const auto reads =
      std::find_if(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return find(v) != nullptr; });
  const bool takes_apart = n.domain == kOwnDomain && n.op == kTakeApart;
  const bool ours = takes_apart || (n.domain.empty() && is_sequence_operator(n.op));
  if (!ours && reads == n.inputs.end()) return false;
  SequenceNode node(this, g, at);
  if (takes_apart) {
    take_apart(node);
  } else if (ours) {
    sequence_expansions().at(n.op)(node);
  } else if (n.is("Identity")) {
    node.give(0, *find(n.inputs[0]));
  } else {
    node.refuse_operand(static_cast<size_t>(reads - n.inputs.begin()));
  }
  node.finish();
  return true;
}

std::vector<OutputForm> Sequences::flatten_outputs(Graph *g) const {
  std::vector<OutputForm> forms;
  std::vector<ValueId> outputs;
  for (const ValueId v : g->outputs) {
    const Sequence *s = find(v);
    const std::vector<ValueId> parts = s ? s->parts : std::vector<ValueId>{v};
    forms.push_back(
        {s ? s->form : Form::Tensor, parts.size(), s ? s->type : ElementType::Undefined});
    outputs.insert(outputs.end(), parts.begin(), parts.end());
  }
  g->outputs = std::move(outputs);
  return forms;
}

}  // namespace polyhalite::onnx
