#include "apps/onnx/sequence_loops.h"

#include <algorithm>

#include "apps/onnx/open_region.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/regions.h"
#include "apps/onnx/sequence_node.h"

namespace polyhalite::onnx {

namespace {

// A tensor that each turn appends to a sequence.
struct Append {
  ValueId result;  // the sequence behind the loop
  Sequence before;
  ValueId inside, stack;  // the tensor in the body, and all of them
};

// The tensor that each turn appends to the sequence `in`, which is `out` then; kNone where turns do
// something else.
ValueId appended(const Graph &body, ValueId in, ValueId out) {
  const std::vector<int> uses = body.use_counts();
  for (size_t i = body.nodes.size(); i-- > 0;) {
    const Node &n = body.nodes[i];
    if (n.outputs.empty() || n.outputs[0] != out || uses[static_cast<size_t>(out)] != 1) continue;
    if (n.is("Identity") && n.has_input(0)) {
      out = n.inputs[0];
    } else if (n.is("SequenceInsert") && n.inputs.size() == 2 && n.inputs[0] == in &&
               uses[static_cast<size_t>(in)] == 1) {
      return n.inputs[1];
    }
  }
  return kNone;
}

// Does the body take elements of the sequence at places that are not known?
bool is_searched(const Graph &body, ValueId sequence) {
  return std::any_of(body.nodes.begin(), body.nodes.end(), [&](const Node &n) {
    return n.is("SequenceAt") && n.has_input(1) && n.inputs[0] == sequence &&
           !body.value(n.inputs[1]).constant;
  });
}

// A Loop in a copy of its graph, taking and giving tensors only.
class WholeLoop {
 public:
  // CompileError where its turns change sequences in other ways.
  WholeLoop(const Sequences &all, const Graph &g, size_t at)
      : all_(all), g_(g), at_(at), node_(g.nodes[at]), body_(*region_of(node_, "body")) {
    open();
    Inference i(&g_, &g_.nodes[at_]);
    operator_of("", "Loop")->infer(i);
    for (const Append &a : appends_) finish(a);
  }

  const Graph &graph() const { return g_; }
  const std::vector<std::pair<ValueId, Sequence>> &results() const { return results_; }

 private:
  [[noreturn]] void refuse(const std::string &what) const {
    user_error(node_.describe() + ": " + what, "", "");
  }
  const std::string &name(ValueId v) const { return g_.value(v).name; }

  void open() {
    OpenRegion opened(body_);
    for (size_t k = 0; k < 2; k++) opened.give(body_.inputs[k], node_.inputs[k], nullptr);
    opened.take(body_.outputs[0]);
    Node m = node_;
    m.outputs.clear();
    const auto own = static_cast<size_t>(node_.integer("operands", 0));
    std::vector<size_t> captured;
    for (size_t k = 2; k < own; k++) {
      const ValueId before = node_.inputs[k], result = node_.outputs[k - 2];
      const ValueId in = body_.inputs[k], out = body_.outputs[k - 1];
      const Sequence *s = all_.find(before);
      if (!s) {
        opened.give(in, before, nullptr);
        opened.take(out);
        m.outputs.push_back(result);
      } else if (original(body_, out) == in) {
        captured.push_back(k);
        results_.emplace_back(result, *s);
      } else if (const ValueId x = appended(body_, in, out); x != kNone) {
        if (s->form == Form::Absent) refuse("turns append to what is absent");
        opened.give_nothing(in);
        appends_.push_back({result, *s, x, g_.add_value(name(before) + "/appended")});
      } else if (s->form == Form::List && !s->parts.empty()) {
        opened.give(in, before, s);
        opened.take(out, {Form::List, s->parts.size(), s->type});
        Sequence behind{Form::List, s->type, {}};
        for (size_t i = 0; i < s->parts.size(); i++)
          behind.parts.push_back(g_.add_value(name(before) + "/" + std::to_string(i)));
        m.outputs.insert(m.outputs.end(), behind.parts.begin(), behind.parts.end());
        results_.emplace_back(result, behind);
      } else {
        refuse("turns change '" + name(before) + "'");
      }
    }
    m.attributes["operands"] = static_cast<int64_t>(opened.operands().size());
    for (const size_t k : captured) give_around(k, &opened);
    for (size_t k = own; k < node_.inputs.size(); k++) give_around(k, &opened);
    for (size_t k = own - 2; k < node_.outputs.size(); k++) {
      opened.take(body_.outputs[k + 1]);
      m.outputs.push_back(node_.outputs[k]);
    }
    for (const Append &a : appends_) {
      opened.take(a.inside);
      m.outputs.push_back(a.stack);
    }
    m.inputs = opened.operands();
    m.attributes["body"] = std::make_shared<const Graph>(opened.region());
    g_.nodes[at_] = std::move(m);
  }

  // Operand k stays in all turns. Where these look for elements, they are stacked once.
  void give_around(size_t k, OpenRegion *opened) {
    const ValueId inside = body_.inputs[k];
    const Sequence *s = all_.find(node_.inputs[k]);
    const bool searched = s && s->form == Form::List && is_searched(body_, inside);
    const ValueId stack = searched ? stacked(s->parts) : kNone;
    const Sequence as_stack{Form::Stack, s ? s->type : ElementType::Undefined, {stack}};
    opened->give(inside, node_.inputs[k], stack == kNone ? s : &as_stack);
  }

  // In front of the loop; kNone where shapes differ.
  ValueId stacked(const std::vector<ValueId> &parts) {
    if (parts.empty()) return kNone;
    const Shape first = *g_.value(parts[0]).shape;
    std::vector<Node> nodes;
    Writer w(&g_, &nodes, node_.name + "/");
    std::vector<ValueId> rows;
    for (const ValueId v : parts) {
      if (g_.value(v).shape != first) return kNone;
      rows.push_back(w.op("Unsqueeze", {v, w.integers({0})}));
    }
    const ValueId stack = w.op("Concat", rows, {{"axis", int64_t{0}}});
    Value &value = g_.value(stack);
    value.type = g_.value(parts[0]).type;
    value.shape = first;
    value.shape->insert(value.shape->begin(), static_cast<int64_t>(parts.size()));
    g_.nodes.insert(g_.nodes.begin() + static_cast<ptrdiff_t>(at_), nodes.begin(), nodes.end());
    at_ += nodes.size();
    return stack;
  }

  // What was there before the loop stands in front of what its turns append.
  void finish(const Append &a) {
    const Shape shape = *g_.value(a.stack).shape;
    for (size_t d = 1; d < shape.size(); d++) {
      if (shape[d] == Dim::symbol(name(a.stack) + "." + std::to_string(d - 1)))
        refuse("turns append tensors of several shapes");
    }
    const ElementType type = g_.value(a.stack).type;
    if (a.before.type != ElementType::Undefined && a.before.type != type) {
      refuse("turns append " + element_name(type) + " to elements of " +
             element_name(a.before.type));
    }
    std::vector<Node> nodes;
    Writer w(&g_, &nodes, node_.name + "/");
    std::vector<ValueId> rows;
    for (const ValueId v : a.before.parts) {
      Shape before = *g_.value(v).shape;
      if (a.before.form == Form::Stack) before.erase(before.begin());
      if (before != Shape(shape.begin() + 1, shape.end()))
        refuse("turns append tensors of other shapes than the first ones have");
      rows.push_back(a.before.form == Form::Stack ? v : w.op("Unsqueeze", {v, w.integers({0})}));
    }
    ValueId all = a.stack;
    if (!rows.empty()) {
      rows.push_back(all);
      all = w.op("Concat", rows, {{"axis", int64_t{0}}});
    }
    g_.nodes.insert(g_.nodes.begin() + static_cast<ptrdiff_t>(at_) + 1, nodes.begin(), nodes.end());
    results_.emplace_back(a.result, Sequence{Form::Stack, type, {all}});
  }

  const Sequences &all_;
  Graph g_;
  size_t at_;
  const Node node_;
  const Graph body_;
  std::vector<Append> appends_;
  std::vector<std::pair<ValueId, Sequence>> results_;
};

// The nodes of the next turn in front of the Loop; behind the last turn its results in its place.
class WrittenTurn {
 public:
  WrittenTurn(Sequences *all, Graph *g, size_t at, Sequences::WrittenLoop *loop)
      : n_(all, g, at),
        loop_(loop),
        turn_(n_.node().integer("turn", 0)),
        states_(static_cast<size_t>(n_.node().integer("operands", 0)) - 2) {}

  void run() {
    if (goes_on()) {
      write();
    } else {
      end();
    }
    n_.finish();
  }

 private:
  bool goes_on() {
    const Node &node = n_.node();
    if (node.has_input(0) && turn_ >= n_.integer(0)) return false;
    if (turn_ > 0 && node.has_input(1) && !n_.known_integer(1)) {
      n_.fail(
          "its turns change a sequence, and decide how many of them there are",
          "where they do more than append tensors of one shape they are written out: " + loop_->why,
          "append tensors of one shape, or give the number of turns");
    }
    return !node.has_input(1) || n_.integer(1) != 0;
  }

  void write() {
    const Node &node = n_.node();
    const Graph &body = *region_of(node, "body");
    n_.require_size((static_cast<size_t>(turn_) + 1) * (body.nodes.size() + 1));
    std::vector<ValueId> operands = node.inputs, given;
    operands[0] = n_.writer().integer(turn_);
    const uint8_t yes = 1;
    operands[1] = n_.graph().add_constant(node.name + "/goes",
                                          Constant::of_bytes(ElementType::Bool, {}, {yes}));
    const std::string prefix = node.name + "[" + std::to_string(turn_) + "]/";
    for (Node &m : nodes_of(body, operands, prefix, &n_.graph(), &given))
      n_.writer().add(std::move(m));
    Node left = node;
    left.inputs[1] = given[0];
    std::copy_n(given.begin() + 1, states_, left.inputs.begin() + 2);
    loop_->collected.emplace_back(given.begin() + 1 + static_cast<ptrdiff_t>(states_), given.end());
    left.attributes["turn"] = turn_ + 1;
    n_.writer().add(std::move(left));
  }

  void end() {
    const Node &node = n_.node();
    for (size_t k = 0; k < states_; k++) {
      if (const Sequence *s = n_.sequence_of(2 + k)) {
        n_.give(k, *s);
      } else {
        n_.give(k, node.inputs[2 + k]);
      }
    }
    for (size_t k = states_; k < node.outputs.size(); k++) {
      if (node.outputs[k] == kNone) continue;
      Sequence rows{Form::List, ElementType::Undefined, {}};
      for (const std::vector<ValueId> &turn : loop_->collected)
        rows.parts.push_back(turn[k - states_]);
      const ValueId all = n_.stacked(rows);
      if (all == kNone) {
        n_.fail("result " + std::to_string(k) +
                    " is of turns that give tensors of several shapes, "
                    "or of no turns",
                "it is one tensor, and its shape is that of each turn's",
                "give tensors of one shape in one turn at least");
      }
      n_.give(k, all);
    }
  }

  SequenceNode n_;
  Sequences::WrittenLoop *loop_;
  const int64_t turn_;
  const size_t states_;
};

}  // namespace

bool expand_loop(Sequences *all, Graph *g, size_t at) {
  const Node &n = g->nodes[at];
  const bool first = !n.has("turn");
  const bool takes = std::any_of(n.inputs.begin(), n.inputs.end(),
                                 [&](ValueId v) { return all->find(v) != nullptr; });
  const Graph *body = region_of(n, "body");
  const auto own = static_cast<size_t>(n.integer("operands", 0));
  if ((first && !takes) || !body || own < 2 || body->inputs.size() != n.inputs.size() ||
      body->outputs.size() != n.outputs.size() + 1 || n.outputs.size() + 2 < own) {
    return false;
  }
  const auto named =
      std::find_if(n.outputs.begin(), n.outputs.end(), [](ValueId v) { return v != kNone; });
  Sequences::WrittenLoop &loop = all->written_loop(named == n.outputs.end() ? kNone : *named);
  if (first) {
    try {
      const WholeLoop whole(*all, *g, at);
      for (const auto &[result, s] : whole.results()) {
        if (result != kNone) all->define(result, s);
      }
      *g = whole.graph();
      return true;
    } catch (const CompileError &e) {
      const std::string what = e.diagnostic().what, own = n.describe() + ": ";
      loop = {what.rfind(own, 0) == 0 ? what.substr(own.size()) : what, {}};
    } catch (const NeedsValue &needs) {
      // What only the copy has nobody else finds.
      if (static_cast<size_t>(needs.value) < g->values.size()) throw;
      loop = {"elements of a sequence decide about shapes", {}};
    } catch (const NeedsShape &needs) {
      if (static_cast<size_t>(needs.value) < g->values.size()) throw;
      loop = {"the shape of a sequence's element is not known", {}};
    }
  }
  WrittenTurn(all, g, at, &loop).run();
  return true;
}

}  // namespace polyhalite::onnx
