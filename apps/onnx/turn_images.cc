#include <algorithm>
#include <map>
#include <set>

#include "apps/onnx/fuse.h"
#include "apps/onnx/layouts.h"
#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

namespace {

class Turning {
 public:
  explicit Turning(Graph g) : g_(std::move(g)) {}

  // What reads a value as it was made is laid out likewise, and may have to be turned then.
  Graph run() && {
    while (turn_once()) continue;
    remove_needless();
    return std::move(g_);
  }

 private:
  bool turn_once() {
    layouts_ = choose_layouts(g_);
    // By the node before which they stand.
    std::map<size_t, std::vector<Node>> turns;
    for (const Group &group : fuse(g_, true)) {
      for (size_t i : group.nodes) {
        const bool across = is_across(i);
        if (!across && !is_convolution(g_.nodes[i])) continue;
        const size_t last = group.nodes.back();
        if (across) {
          for (Node &turn : operands_of(&g_.nodes[i]))
            turns[made_before(turn.inputs[0])].push_back(std::move(turn));
        }
        for (ValueId v : group.outputs) {
          if (!is_image(v) || layouts_.count(v) != 0 || made_.count(v) != 0) continue;
          const std::vector<size_t> readers = readers_of_images(v);
          if (across || !readers.empty())
            turns[last + 1].push_back(result_of(&g_.nodes[last], v, readers));
        }
      }
    }
    if (turns.empty()) return false;
    std::vector<Node> nodes;
    for (size_t i = 0; i <= g_.nodes.size(); i++) {
      for (Node &turn : turns[i]) nodes.push_back(std::move(turn));
      if (i < g_.nodes.size()) nodes.push_back(std::move(g_.nodes[i]));
    }
    g_.nodes = std::move(nodes);
    return true;
  }

  // An operand may have been turned before what made it was laid out so.
  void remove_needless() {
    layouts_ = choose_layouts(g_);
    std::map<ValueId, ValueId> from;  // what a Turn turns
    std::vector<Node> kept;
    for (Node &n : g_.nodes) {
      if (is_turn(n) && n.has("channels_innermost")) {
        const auto made = from.find(n.inputs[0]);
        const ValueId lies = made == from.end() ? n.inputs[0] : made->second;
        if (layouts_.count(lies) != 0) {
          replaced_[n.outputs[0]] = lies;
          continue;
        }
      } else if (is_turn(n)) {
        from[n.outputs[0]] = n.inputs[0];
      }
      for (ValueId &v : n.inputs) {
        if (const auto at = replaced_.find(v); at != replaced_.end()) v = at->second;
      }
      kept.push_back(std::move(n));
    }
    g_.nodes = std::move(kept);
  }

  // Does the node read images with channels innermost, and write them as it reads them? Point by
  // point, and where products are made, kernels turn in registers.
  bool is_across(size_t i) const {
    const Node &n = g_.nodes[i];
    if (!keeps_images(n) || operator_of(n.domain, n.op)->form == Operator::Pointwise) return false;
    return std::any_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) {
      return v != kNone && !g_.value(v).constant && layouts_.count(v) != 0;
    });
  }

  std::vector<size_t> readers_of_images(ValueId v) const {
    std::vector<size_t> readers;
    for (size_t i = 0; i < g_.nodes.size(); i++) {
      const Node &n = g_.nodes[i];
      if (std::count(n.inputs.begin(), n.inputs.end(), v) != 0 && !is_turn(n) &&
          (is_convolution(n) || keeps_images(n)))
        readers.push_back(i);
    }
    return readers;
  }

  // The position of the first node that could read it.
  size_t made_before(ValueId v) const {
    for (size_t i = 0; i < g_.nodes.size(); i++) {
      const std::vector<ValueId> &made = g_.nodes[i].outputs;
      if (std::count(made.begin(), made.end(), v) != 0) return i + 1;
    }
    return 0;
  }

  bool is_image(ValueId v) const {
    if (v == kNone) return false;
    const Value &value = g_.value(v);
    if (!value.shape || value.shape->size() < 3 || value.constant) return false;
    // Few pixels or channels lie alike either way, and few elements are turned at once.
    constexpr int64_t kFew = 4, kFewElements = 1024;
    Dim pixels = 1;
    for (size_t d = 2; d < value.shape->size(); d++) pixels = pixels * (*value.shape)[d];
    return (*value.shape)[1].constant().value_or(kFew) >= kFew &&
           pixels.constant().value_or(kFew) >= kFew &&
           elements(*value.shape).constant().value_or(kFewElements) >= kFewElements;
  }

  // Turns of operands that lie in another way than the result will.
  std::vector<Node> operands_of(Node *n) {
    std::vector<Node> turns;
    if (n->op != "Concat" && n->op != "QLinearConcat") return turns;
    for (ValueId &v : n->inputs) {
      if (!is_image(v) || layouts_.count(v) != 0) continue;
      const auto [at, fresh] = turned_.emplace(v, kNone);
      if (fresh) {
        at->second = like(v);
        turns.push_back(turn(v, at->second));
        turns.back().attributes["channels_innermost"] = int64_t{1};
      }
      v = at->second;
    }
    return turns;
  }

  // The last node of a group gives another value, which is turned.
  Node result_of(Node *last, ValueId v, const std::vector<size_t> &readers) {
    const ValueId made = like(v);
    made_.insert(made);
    std::replace(last->outputs.begin(), last->outputs.end(), v, made);
    for (size_t i : readers)
      std::replace(g_.nodes[i].inputs.begin(), g_.nodes[i].inputs.end(), v, made);
    return turn(made, v);
  }

  ValueId like(ValueId v) {
    const Value value = g_.value(v);
    return g_.add_value(value.name + ".turned", value.type, value.shape);
  }

  Node turn(ValueId from, ValueId to) const {
    Node n;
    n.domain = kInternalDomain;
    n.op = "Turn";
    n.name = g_.value(to).name;
    n.inputs = {from};
    n.outputs = {to};
    return n;
  }

  Graph g_;
  std::map<ValueId, Layout> layouts_;
  std::set<ValueId> made_;               // and turned at once
  std::map<ValueId, ValueId> turned_;    // operands
  std::map<ValueId, ValueId> replaced_;  // that did not have to be
};

}  // namespace

Graph turn_images(Graph g) { return Turning(std::move(g)).run(); }

}  // namespace polyhalite::onnx
