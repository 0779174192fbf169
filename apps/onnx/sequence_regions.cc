#include "apps/onnx/sequence_regions.h"

#include <algorithm>
#include <set>

#include "apps/onnx/infer.h"
#include "apps/onnx/open_region.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/regions.h"
#include "apps/onnx/sequence_loops.h"

namespace polyhalite::onnx {

namespace {

std::shared_ptr<const Graph> shared(Graph g) { return std::make_shared<const Graph>(std::move(g)); }

// Whether v may be a sequence, or an optional value, as far as operators tell; `known` are some.
bool may_be_sequence(const Graph &g, ValueId v, const std::set<ValueId> &known) {
  if (known.count(v)) return true;
  for (size_t i = g.nodes.size(); i-- > 0;) {
    const Node &n = g.nodes[i];
    const auto at = std::find(n.outputs.begin(), n.outputs.end(), v);
    if (at == n.outputs.end()) continue;
    const auto k = static_cast<size_t>(at - n.outputs.begin());
    auto branch_gives = [&](const char *attribute) {
      const Graph *branch = region_of(n, attribute);
      if (!branch || k >= branch->outputs.size()) return false;
      // What a branch gives on as it came could be anything.
      const ValueId result = original(*branch, branch->outputs[k]);
      return may_be_sequence(*branch, result, {}) ||
             std::count(branch->inputs.begin(), branch->inputs.end(), result) != 0;
    };
    if (n.is("If")) return branch_gives("then_branch") || branch_gives("else_branch");
    if (n.is("Loop"))
      return n.has_input(k + 2) && k + 2 < n.own_operands() &&
             may_be_sequence(g, n.inputs[k + 2], known);
    if (n.is("Identity") || n.is("OptionalGetElement"))
      return n.has_input(0) && may_be_sequence(g, n.inputs[0], known);
    return n.is("Optional") || n.is("SplitToSequence") || n.is("SequenceConstruct") ||
           n.is("SequenceEmpty") || n.is("SequenceInsert") || n.is("SequenceErase") ||
           n.is("SequenceMap");
  }
  return false;
}

// What a branch gives. Where that does not follow without the condition, the program is made for
// its value.
std::vector<OutputForm> forms_of(const Graph &outer, const OpenRegion &branch, ValueId condition) {
  Graph g = branch.region();
  std::vector<ValueId> left;
  for (size_t k = 0; k < g.inputs.size(); k++) {
    const Value &given = outer.value(branch.operands()[k]);
    Value &value = g.value(g.inputs[k]);
    value.type = given.type;
    value.shape = given.shape;
    value.constant = given.constant;
    if (!value.constant) left.push_back(g.inputs[k]);
  }
  g.inputs = left;
  try {
    const InferenceReport report = infer_shapes(&g);
    if (report.needed.empty() && report.symbols.empty()) return report.outputs;
  } catch (const CompileError &) {
    // A branch that does not fit may be one that is not taken.
  }
  throw NeedsValue{condition};
}

bool same(const std::vector<OutputForm> &a, const std::vector<OutputForm> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const OutputForm &x, const OutputForm &y) {
                      return x.form == y.form && x.count == y.count;
                    });
}

bool expand_if(Sequences *all, Graph *g, size_t at) {
  SequenceNode n(all, g, at);
  const Node &node = n.node();
  const Graph *yes = region_of(node, "then_branch"), *no = region_of(node, "else_branch");
  if (!yes || !no || node.inputs.size() != 1 + yes->inputs.size() + no->inputs.size() ||
      yes->outputs.size() != node.outputs.size() || no->outputs.size() != node.outputs.size()) {
    return false;  // inference tells
  }
  bool takes = false, gives = false;
  size_t next = 1;
  for (const Graph *branch : {no, yes}) {
    std::set<ValueId> known;
    for (const ValueId inside : branch->inputs) {
      if (n.sequence_of(next++)) known.insert(inside);
    }
    takes = takes || !known.empty();
    for (const ValueId v : branch->outputs) gives = gives || may_be_sequence(*branch, v, known);
  }
  if (!takes && !gives) return false;
  OpenRegion branches[] = {OpenRegion(*no), OpenRegion(*yes)};
  next = 1;
  for (size_t b = 0; b < 2; b++) {
    const Graph &branch = b == 0 ? *no : *yes;
    for (const ValueId inside : branch.inputs) {
      branches[b].give(inside, node.inputs[next], n.sequence_of(next));
      next++;
    }
    for (const ValueId v : branch.outputs) branches[b].take(v);
  }
  Node m = node;
  m.inputs = {n.tensor(0)};
  for (const OpenRegion &b : branches)
    m.inputs.insert(m.inputs.end(), b.operands().begin(), b.operands().end());
  Graph regions[] = {branches[0].region(), branches[1].region()};
  if (gives) {
    const std::vector<OutputForm> forms = forms_of(*g, branches[0], node.inputs[0]);
    if (!same(forms, forms_of(*g, branches[1], node.inputs[0]))) throw NeedsValue{node.inputs[0]};
    const bool tensors = std::all_of(forms.begin(), forms.end(),
                                     [](const OutputForm &f) { return f.form == Form::Tensor; });
    if (tensors && !takes) return false;
    m.outputs.clear();
    for (size_t k = 0; k < forms.size(); k++) {
      const ValueId result = node.outputs[k];
      if (forms[k].form == Form::Tensor) {
        m.outputs.push_back(result);
        continue;
      }
      Sequence s{forms[k].form, forms[k].type, {}};
      for (size_t i = 0; i < forms[k].count; i++) {
        const std::string name = result == kNone ? node.name : g->value(result).name;
        s.parts.push_back(g->add_value(name + "[" + std::to_string(i) + "]"));
      }
      m.outputs.insert(m.outputs.end(), s.parts.begin(), s.parts.end());
      n.give(k, s);
    }
    for (size_t b = 0; b < 2; b++) {
      const Graph &branch = b == 0 ? *no : *yes;
      OpenRegion opened(regions[b]);
      for (const ValueId v : regions[b].inputs) opened.give(v, v, nullptr);
      for (size_t k = 0; k < forms.size(); k++) opened.take(branch.outputs[k], forms[k]);
      regions[b] = opened.region();
    }
  }
  m.attributes["else_branch"] = shared(std::move(regions[0]));
  m.attributes["then_branch"] = shared(std::move(regions[1]));
  g->nodes[at] = std::move(m);
  return true;
}

bool expand_scan(Sequences *all, Graph *g, size_t at) {
  SequenceNode n(all, g, at);
  const Node &node = n.node();
  const Graph *body = region_of(node, "body");
  const size_t own = node.own_operands();
  bool takes = false;
  for (size_t k = 0; k < node.inputs.size(); k++) {
    takes = takes || n.sequence_of(k);
    if (n.sequence_of(k) && k < own) n.refuse_operand(k);
  }
  if (!takes || !body || body->inputs.size() != node.inputs.size()) return false;
  OpenRegion opened(*body);
  for (size_t k = 0; k < node.inputs.size(); k++)
    opened.give(body->inputs[k], node.inputs[k], n.sequence_of(k));
  for (const ValueId v : body->outputs) opened.take(v);
  g->nodes[at].inputs = opened.operands();
  g->nodes[at].attributes["body"] = shared(opened.region());
  return true;
}

}  // namespace

bool expand_region(Sequences *all, Graph *g, size_t at) {
  const Node &n = g->nodes[at];
  if (n.is("If")) return expand_if(all, g, at);
  if (n.is("Loop")) return expand_loop(all, g, at);
  return expand_scan(all, g, at);
}

namespace {

// One Scan over stacks; tensors and what the body captures are values around it.
void map_by_scan(SequenceNode &n, const Graph &body) {
  const size_t own = n.node().own_operands();
  OpenRegion opened(body);
  size_t scans = 0;
  for (size_t k = 0; k < own; k++) {
    const Sequence *s = n.sequence_of(k);
    if (!s) continue;
    opened.give(body.inputs[k], n.stacked(*s), nullptr);
    scans++;
  }
  for (size_t k = 0; k < n.node().inputs.size(); k++) {
    const Sequence *s = n.sequence_of(k);
    if (!s || k >= own) opened.give(body.inputs[k], n.node().inputs[k], s);
  }
  for (const ValueId v : body.outputs) opened.take(v);
  const std::vector<ValueId> stacks =
      n.writer().ops("Scan", body.outputs.size(), opened.operands(),
                     {{"num_scan_inputs", static_cast<int64_t>(scans)},
                      {"operands", static_cast<int64_t>(scans)},
                      {"body", shared(opened.region())}});
  for (size_t k = 0; k < stacks.size(); k++)
    n.give(k, Sequence{Form::Stack, ElementType::Undefined, {stacks[k]}});
}

}  // namespace

void map_sequences(SequenceNode &n) {
  const Graph *body = region_of(n.node(), "body");
  if (!body) {
    n.fail("it has no attribute 'body'", "its nodes are a graph of this name",
           "export the model again");
  }
  if (body->inputs.size() != n.node().inputs.size() ||
      body->outputs.size() != n.node().outputs.size()) {
    n.fail("its body has " + std::to_string(body->outputs.size()) + " results, and takes " +
               std::to_string(body->inputs.size()) + " values",
           "the node has " + std::to_string(n.node().outputs.size()) + " and " +
               std::to_string(n.node().inputs.size()) + ", those around it that it reads included",
           "export the model again");
  }
  n.sequence(0);
  const size_t own = n.node().own_operands();
  bool open = true;  // are all lengths open?
  for (size_t k = 0; k < own; k++) {
    const Sequence *s = n.sequence_of(k);
    if (!s) continue;
    open = open && s->form == Form::Stack && !(*n.graph().value(s->parts[0]).shape)[0].constant();
  }
  if (open) {
    map_by_scan(n, *body);
    return;
  }
  std::vector<std::vector<ValueId>> operands;  // of each element's nodes
  for (size_t k = 0; k < own; k++) {
    const Sequence *s = n.sequence_of(k);
    const std::vector<ValueId> list = s ? n.elements(n.sequence(k)) : std::vector<ValueId>{};
    if (k == 0) operands.resize(list.size());
    if (s && list.size() != operands.size()) {
      n.fail("sequences have " + std::to_string(operands.size()) + " and " +
                 std::to_string(list.size()) + " elements",
             "the body takes one of each", "give sequences of one length");
    }
    for (size_t i = 0; i < operands.size(); i++) operands[i].push_back(s ? list[i] : n.tensor(k));
  }
  std::vector<Sequence> results(body->outputs.size(), {Form::List, ElementType::Undefined, {}});
  for (size_t i = 0; i < operands.size(); i++) {
    const auto captured = n.node().inputs.begin() + static_cast<ptrdiff_t>(own);
    operands[i].insert(operands[i].end(), captured, n.node().inputs.end());
    std::vector<ValueId> given;
    n.require_size((i + 1) * body->nodes.size());
    for (Node &m : nodes_of(*body, operands[i], n.node().name + "[" + std::to_string(i) + "]/",
                            &n.graph(), &given))
      n.writer().add(std::move(m));
    for (size_t k = 0; k < given.size(); k++) results[k].parts.push_back(given[k]);
  }
  for (size_t k = 0; k < results.size(); k++) n.give(k, results[k]);
}

}  // namespace polyhalite::onnx
