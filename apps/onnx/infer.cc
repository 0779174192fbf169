#include "apps/onnx/infer.h"

#include <algorithm>

#include "apps/onnx/fold_movement.h"
#include "apps/onnx/kernel.h"
#include "apps/onnx/open_elements.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/regions.h"

namespace polyhalite::onnx {

namespace {

// Results of more elements are left to the compiled model: the interpreter takes its time.
constexpr int64_t kMostFolded = 1 << 18;

// Elements that follow from shapes, where all are numbers.
void make_constant_of_contents(Value *v) {
  if (!v->contents || v->constant || !v->shape) return;
  std::vector<int64_t> list;
  for (const Dim &d : *v->contents) {
    const auto c = d.constant();
    if (!c) return;
    list.push_back(*c);
  }
  const auto shape = constant_shape(*v->shape);
  if (!shape) return;
  std::vector<uint8_t> bytes;
  const auto width = static_cast<ptrdiff_t>(element_bits(v->type) / 8);
  for (int64_t i : list) {
    const auto *p = reinterpret_cast<const uint8_t *>(&i);  // the low bytes come first
    bytes.insert(bytes.end(), p, p + width);
  }
  v->constant = Constant::of_bytes(v->type, *shape, bytes);
}

// Elements that a run has found.
void take_finding(const Graph &g, Value *v) {
  if (!g.findings || v->constant) return;
  const auto found = g.findings->elements.find(v->name);
  if (found == g.findings->elements.end()) return;
  v->constant = found->second;
  v->shape = Shape(found->second.shape().begin(), found->second.shape().end());
}

// What has no elements is known.
void make_empty(Value *v) {
  const auto shape = v->shape ? constant_shape(*v->shape) : std::nullopt;
  if (v->constant || !shape || std::count(shape->begin(), shape->end(), 0) == 0) return;
  v->constant = Constant::of_bytes(v->type, *shape, {});
}

// One element for all, however many.
void make_splat(Graph *g, const Node &n) {
  if (!n.is("ConstantOfShape")) return;
  Value &v = g->value(n.outputs[0]);
  const auto shape = v.shape ? constant_shape(*v.shape) : std::nullopt;
  if (v.constant || !shape) return;
  const auto at = n.attributes.find("value");
  const Constant *c = at == n.attributes.end() ? nullptr : std::get_if<Constant>(&at->second);
  const uint64_t zero = 0;
  if (c && c->elements() < 1) return;
  v.constant = Constant::splat(v.type, *shape, c ? static_cast<const void *>(c->data()) : &zero);
}

bool can_fold(const Graph &g, const Node &n, const Operator &o) {
  for (ValueId v : n.inputs) {
    if (v != kNone && !g.value(v).constant) return false;
  }
  if (o.form == Operator::Host) return o.compute != nullptr;
  int64_t total = 0;
  for (ValueId v : n.outputs) {
    if (v == kNone) continue;
    const Value &value = g.value(v);
    const auto count = value.shape ? elements(*value.shape).constant() : std::nullopt;
    if (!count || *count > kMostFolded) return false;
    total += *count;
  }
  return total <= kMostFolded;
}

// Operators that know nothing of codes would compute with them.
void refuse_narrow(const Graph &g, const Node &n) {
  static const std::set<std::string> kTake = {
      "Cast",     "CastLike", "BitCast",   "QuantizeLinear", "DequantizeLinear",
      "Identity", "Reshape",  "Transpose", "Squeeze",        "Unsqueeze",
      "Flatten",  "Pad",      "Shape",     "Size",           "If",
      "Loop",     "Scan",     "Concat",    "Gather",         "Slice",
      "Split",    "Expand",   "Tile"};
  for (ValueId v : n.inputs) {
    if (v == kNone || !is_narrow(g.value(v).type) || kTake.count(n.op)) continue;
    user_error(n.describe() + " reads '" + g.value(v).name + "', which has elements of " +
                   element_name(g.value(v).type),
               "such elements are converted and moved only", "dequantize or cast them first");
  }
}

std::vector<Constant> compute_on_host(const Graph &g, const Node &n, const Operator &o) {
  std::vector<Constant> operands(n.inputs.size());
  for (size_t k = 0; k < operands.size(); k++) {
    if (n.has_input(k)) operands[k] = *g.value(n.inputs[k]).constant;
  }
  return o.compute(n, operands);
}

void take_results(Graph *g, const Node &n, const std::vector<Constant> &results) {
  for (size_t k = 0; k < n.outputs.size(); k++) {
    if (n.outputs[k] == kNone) continue;
    Value &v = g->value(n.outputs[k]);
    v.constant = results[k];
    v.shape = Shape(results[k].shape().begin(), results[k].shape().end());
  }
}

}  // namespace

bool reads_elements(const Graph &g, const Node &n, size_t i) {
  const ValueId id = n.inputs[i];
  if (id == kNone) return false;
  const Operator *o = operator_of(n.domain, n.op);
  if (!o) return true;  // not canonical yet
  if (n.is("Shape") || n.is("Size") || n.is("EyeLike") || (n.is("CastLike") && i == 1) ||
      ((n.is("RandomNormalLike") || n.is("RandomUniformLike")) && i == 0))
    return false;
  const bool structural = std::find(o->structural.begin(), o->structural.end(),
                                    static_cast<int>(i)) != o->structural.end();
  return !structural || (!g.value(id).constant && !g.value(id).contents);
}

InferenceReport infer_shapes(Graph *g) {
  InferenceReport report;
  ErrorList problems;
  Sequences sequences;
  OpenElements open(g);
  std::set<ValueId> unknown;  // what nodes that could not be inferred define
  for (ValueId v : g->inputs) {
    if (!g->value(v).shape) report.shapeless.insert(v);
  }
  auto is_unknown = [&](ValueId v) {
    if (const Sequence *s = sequences.find(v)) {
      return std::any_of(s->parts.begin(), s->parts.end(),
                         [&](ValueId part) { return unknown.count(part) != 0; });
    }
    return v != kNone && unknown.count(v) != 0;
  };
  for (size_t at = 0; at < g->nodes.size();) {
    if (inline_branch(g, at)) continue;
    const std::vector<ValueId> &operands = g->nodes[at].inputs;
    bool known = false, expanded = false;
    if (std::none_of(operands.begin(), operands.end(), is_unknown)) {
      problems.attempt([&] {
        try {
          expanded = sequences.expand(g, at);
          if (expanded) return;
          Node &n = g->nodes[at];
          refuse_narrow(*g, n);
          Inference i(g, &n);
          operator_of(n.domain, n.op)->infer(i);
          known = true;
        } catch (const NeedsValue &needs) {
          expanded = open.open(&at, needs.value);
          if (!expanded) report.needed.insert(needs.value);
        } catch (const NeedsNumber &needs) {
          needs.size.add_symbols(&report.symbols);
        } catch (const NeedsShape &) {
          // Its producer is at fault, or it is an input without rank.
        } catch (const std::out_of_range &) {
          user_error(g->nodes[at].describe() + ": an operand or attribute has too few elements",
                     "the operator reads more", "mend the model");
        } catch (const std::overflow_error &) {
          user_error(g->nodes[at].describe() + ": a size is beyond 64 bits", "sizes are below 2^31",
                     "give smaller shapes");
        }
      });
    }
    if (expanded) continue;  // what stands there now comes next
    const Node &n = g->nodes[at++];
    if (!known) {
      for (ValueId v : n.outputs) {
        if (v != kNone) unknown.insert(v);
      }
      continue;
    }
    const Operator &o = *operator_of(n.domain, n.op);
    for (ValueId v : n.outputs) {
      if (v == kNone) continue;
      take_finding(*g, &g->value(v));
      make_constant_of_contents(&g->value(v));
      make_empty(&g->value(v));
    }
    make_splat(g, n);
    const bool done = std::all_of(n.outputs.begin(), n.outputs.end(),
                                  [&](ValueId v) { return v == kNone || g->value(v).constant; });
    if (done) continue;
    if (const auto moved = moved_constants(*g, n)) {
      take_results(g, n, *moved);
      continue;
    }
    if (!can_fold(*g, n, o)) continue;
    problems.attempt([&] {
      if (o.form == Operator::Host) {
        take_results(g, n, compute_on_host(*g, n, o));
        return;
      }
      try {
        take_results(g, n, evaluate(*g, n));
      } catch (const RuntimeError &) {
        // An element without a value, as a NaN among indices has none: the run is where it may not
        // be read.
      }
    });
  }
  problems.raise();
  report.outputs = sequences.flatten_outputs(g);
  // Results that are known have no producer; nodes without other results have nothing to do.
  std::vector<Node> left;
  for (Node &n : g->nodes) {
    bool works = false;
    for (ValueId &v : n.outputs) {
      if (v != kNone && g->value(v).constant) v = kNone;
      works = works || v != kNone;
    }
    if (works) left.push_back(std::move(n));
  }
  g->nodes = std::move(left);
  return report;
}

}  // namespace polyhalite::onnx
