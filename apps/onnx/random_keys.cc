#include "apps/onnx/random_keys.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "apps/onnx/operators.h"
#include "apps/onnx/write_nodes.h"
#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

using Region = std::shared_ptr<const Graph>;

Constant words(const std::vector<uint32_t> &list) {
  std::vector<uint8_t> bytes(list.size() * sizeof(uint32_t));
  std::memcpy(bytes.data(), list.data(), bytes.size());
  return Constant::of_bytes(ElementType::UInt32, {static_cast<int64_t>(list.size())},
                            std::move(bytes));
}

bool is_known_false(const Graph &g, ValueId v) {
  const auto &c = g.value(v).constant;
  return c && c->elements() == 1 && c->integer_at(0) == 0;
}

// Which operand is the key of a node that draws numbers; nothing for others.
std::optional<size_t> key_operand(const Node &n) {
  if (n.is("RandomNormal") || n.is("RandomUniform")) return 0;
  if (n.is("RandomNormalLike") || n.is("RandomUniformLike")) return 1;
  return std::nullopt;
}

bool is_dropping(const Graph &g, const Node &n) {
  return n.is("Dropout") && n.version >= 12 && n.has_input(2) && !is_known_false(g, n.inputs[2]);
}

bool has_key_to_come(const Graph &g, const Node &n) {
  if (n.is("Bernoulli") || n.is("Multinomial") || is_dropping(g, n)) return true;
  const auto at = key_operand(n);
  return at && !n.has_input(*at);
}

bool has_keys_to_come(const Graph &g);

bool has_random_region(const Node &n) {
  return std::any_of(n.attributes.begin(), n.attributes.end(), [](const auto &named) {
    const auto *region = std::get_if<Region>(&named.second);
    return region && has_keys_to_come(**region);
  });
}

bool has_keys_to_come(const Graph &g) {
  return std::any_of(g.nodes.begin(), g.nodes.end(),
                     [&](const Node &n) { return has_key_to_come(g, n) || has_random_region(n); });
}

// Dropout's seed is an integer.
uint32_t seed_of(const Node &n) {
  if (n.is("Dropout")) {
    const int64_t seed = n.integer("seed", 0);
    return static_cast<uint32_t>(seed) ^ static_cast<uint32_t>(seed >> 32);
  }
  const float seed = n.real("seed", 0);
  uint32_t bits;
  std::memcpy(&bits, &seed, sizeof bits);
  return bits;
}

constexpr int64_t kFloat = static_cast<int64_t>(ElementType::Float32);

// Each one in [0, 1), for the elements of x.
ValueId uniform(Writer *w, ValueId x, ValueId key) {
  return w->op("RandomUniformLike", {x, key}, {{"dtype", kFloat}});
}

void expand_bernoulli(const Node &n, Writer *w, ValueId key) {
  const ValueId x = n.inputs[0];
  const ValueId one = w->op("Less", {uniform(w, x, key), w->op("Cast", {x}, {{"to", kFloat}})});
  if (n.has("dtype")) {
    w->op("Cast", {one}, {{"to", n.integer("dtype", 0)}});
  } else {
    w->op("CastLike", {one, x});
  }
  w->last().outputs = {n.outputs[0]};
}

// Classes in which running sums of probabilities pass random parts of the whole.
void expand_multinomial(const Node &n, Writer *w, ValueId key) {
  const int64_t samples = n.integer("sample_size", 1);
  const auto type = static_cast<ElementType>(n.integer("dtype", 6));
  if (samples < 1) {
    user_error(n.describe() + ": sample_size is " + std::to_string(samples), "it is at least 1",
               "mend the model");
  }
  if (type != ElementType::Int32 && type != ElementType::Int64) {
    user_error(n.describe() + ": its results are " + element_name(type), "they are int32 or int64",
               "mend the model");
  }
  const auto &shape = w->graph().value(n.inputs[0]).shape;
  if (shape && shape->size() != 2) {
    user_error(n.describe() + ": operand 0 has rank " + std::to_string(shape->size()),
               "it is [batch, classes]", "mend the model");
  }
  const ValueId x = w->op("Cast", {n.inputs[0]}, {{"to", kFloat}});
  const ValueId most = w->op("ReduceMax", {x, w->integers({1})});
  const ValueId sums = w->op("CumSum", {w->op("Exp", {w->op("Sub", {x, most})}), w->integer(1)});
  const ValueId whole = w->op("Gather", {sums, w->integers({-1})}, {{"axis", int64_t{1}}});
  const ValueId batch = w->op("Gather", {w->op("Shape", {x}), w->integers({0})});
  const ValueId sizes = w->op("Concat", {batch, w->integers({samples})}, {{"axis", int64_t{0}}});
  const ValueId drawn = w->op("Mul", {uniform(w, w->op("ConstantOfShape", {sizes}), key), whole});
  const ValueId passed = w->op("LessOrEqual", {w->op("Unsqueeze", {sums, w->integers({1})}),
                                               w->op("Unsqueeze", {drawn, w->integers({2})})});
  w->op("ReduceSum",
        {w->op("Cast", {passed}, {{"to", static_cast<int64_t>(type)}}), w->integers({2})},
        {{"keepdims", int64_t{0}}});
  w->last().outputs = {n.outputs[0]};
}

void expand_dropout(const Node &n, Writer *w, ValueId key) {
  const ValueId x = n.inputs[0], training = n.inputs[2];
  ValueId ratio = n.has_input(1) ? w->op("Cast", {n.inputs[1]}, {{"to", kFloat}}) : kNone;
  if (ratio == kNone) ratio = w->graph().add_constant("ratio", Constant::real(0.5f));
  if (n.has_input(1)) {
    const auto &known = w->graph().value(n.inputs[1]).constant;
    if (known && known->elements() == 1 && !(known->number(0) >= 0 && known->number(0) < 1)) {
      user_error(n.describe() + ": its ratio is " + std::to_string(known->number(0)),
                 "it is at least 0 and below 1", "mend the model");
    }
  }
  const ValueId stays = w->op("GreaterOrEqual", {uniform(w, x, key), ratio});
  const ValueId mask = w->op("Or", {stays, w->op("Not", {training})});
  const ValueId one = w->graph().add_constant("one", Constant::real(1));
  const ValueId scale =
      w->op("Where", {training, w->op("Div", {one, w->op("Sub", {one, ratio})}), one});
  w->op("Where", {mask, w->op("Mul", {x, w->op("CastLike", {scale, x})}), w->number(0, x)});
  w->last().outputs = {n.outputs[0]};
  if (n.outputs.size() < 2 || n.outputs[1] == kNone) return;
  w->op("Identity", {mask});
  w->last().outputs = {n.outputs[1]};
}

class Keys {
 public:
  // `key` is that of a run, or of a turn.
  void add(Graph *g, ValueId key) {
    std::vector<Node> nodes;
    const std::vector<Node> old = std::move(g->nodes);
    for (const Node &n : old) {
      if (has_key_to_come(*g, n)) {
        draw(n, g, &nodes, key);
      } else if (has_random_region(n)) {
        nodes.push_back(enter(n, g, key));
      } else {
        nodes.push_back(n);
      }
    }
    g->nodes = std::move(nodes);
  }

 private:
  // What follows from a key for the next one that asks.
  ValueId follow(Graph *g, std::vector<Node> *nodes, ValueId key, const Node &by, bool turn) {
    const bool seeded = !turn && by.has("seed");
    Node n;
    n.domain = kInternalDomain;
    n.op = "RandomKey";
    n.version = 1;
    n.name = by.name + "/RandomKey";
    n.inputs = {key, g->add_constant(n.name, words({count_++, seeded, seeded ? seed_of(by) : 0}))};
    n.outputs = {g->add_value(n.name + ".key")};
    if (turn) n.attributes["turn"] = int64_t{1};
    nodes->push_back(n);
    return n.outputs[0];
  }

  void draw(const Node &n, Graph *g, std::vector<Node> *nodes, ValueId run) {
    const ValueId key = follow(g, nodes, run, n, false);
    Writer w(g, nodes, n.name + "/");
    if (n.is("Bernoulli")) return expand_bernoulli(n, &w, key);
    if (n.is("Multinomial")) return expand_multinomial(n, &w, key);
    if (n.is("Dropout")) return expand_dropout(n, &w, key);
    Node keyed = n;
    keyed.inputs.resize(*key_operand(n), kNone);
    keyed.inputs.push_back(key);
    keyed.attributes.erase("seed");
    w.add(std::move(keyed));
  }

  // The node with a key inside of its regions.
  Node enter(Node n, Graph *g, ValueId key) {
    internal_check(!n.has("operands"), "regions get keys before they are closed");
    for (auto &[name, a] : n.attributes) {
      const auto *given = std::get_if<Region>(&a);
      if (!given || !has_keys_to_come(**given)) continue;
      Graph region = **given;
      const ValueId inside = region.add_value(kRandomKey, ElementType::UInt32, Shape{4});
      if (n.is("SequenceMap")) {
        user_error(n.describe() + ": its body draws random numbers",
                   "each element has to draw others, which is supported of Loop and Scan",
                   "export the model with one of them");
      }
      if (n.is("Loop") || n.is("Scan")) {
        add_state(&n, g, &region, key, inside);
      } else {
        region.captures.emplace_back(key, inside);
        add(&region, inside);
      }
      a = std::make_shared<const Graph>(std::move(region));
    }
    return n;
  }

  // The key as the last state, of which each turn makes the next one's.
  void add_state(Node *n, Graph *g, Graph *body, ValueId key, ValueId inside) {
    const bool loop = n->is("Loop");
    if (!loop && n->version < 9) {
      user_error(n->describe() + ": its body draws random numbers",
                 "that is supported from version 9 on", "export the model with a newer opset");
    }
    if (loop && n->inputs.size() < 2) n->inputs.resize(2, kNone);
    // Counters and conditions come first, sequences last.
    const size_t before = loop ? 2 : 0, tests = loop ? 1 : 0;
    const auto scans = static_cast<size_t>(n->integer("num_scan_inputs", 0));
    const size_t end = n->inputs.size() - std::min(n->inputs.size(), scans);
    const size_t states = end - std::min(end, before);
    auto insert = [](std::vector<ValueId> *list, size_t at, ValueId v) {
      list->insert(list->begin() + static_cast<ptrdiff_t>(std::min(at, list->size())), v);
    };
    add(body, inside);
    insert(&n->inputs, end, key);
    insert(&n->outputs, states, g->add_value(n->name + ".key"));
    insert(&body->inputs, before + states, inside);
    insert(&body->outputs, tests + states, follow(body, &body->nodes, inside, *n, true));
  }

  uint32_t count_ = 0;
};

}  // namespace

Graph add_random_keys(Graph g) {
  if (!has_keys_to_come(g)) return g;
  const ValueId key = g.add_value(kRandomKey, ElementType::UInt32, Shape{4});
  g.inputs.push_back(key);
  Keys().add(&g, key);
  return g;
}

bool has_random_key(const Graph &g) {
  return std::any_of(g.inputs.begin(), g.inputs.end(),
                     [&](ValueId v) { return g.value(v).name == kRandomKey; });
}

bool takes_random_key(const Graph &g) { return has_random_key(g) || has_keys_to_come(g); }

RandomSource::RandomSource()
    : RandomSource([] {
        std::random_device system;
        return static_cast<uint64_t>(system()) << 32 | system();
      }()) {}

Constant RandomSource::next() {
  const uint64_t run = runs_++;
  auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  return words({low(seed_), low(seed_ >> 32), low(run), low(run >> 32)});
}

}  // namespace polyhalite::onnx
