#include "apps/onnx/control.h"

#include <algorithm>

#include "apps/onnx/canonicalize.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/rearrange_constant.h"
#include "apps/onnx/regions.h"
#include "apps/onnx/session.h"

namespace polyhalite::onnx {

namespace {

// A region as a program of its own.
class RegionProgram {
 public:
  /// The last operands of the region are the node's operands from `captures` on.
  RegionProgram(const Graph &g, const Node &n, const std::string &attribute, size_t captures,
                const CompileOptions &options)
      : region_(std::get<std::shared_ptr<const Graph>>(n.attributes.at(attribute))) {
    CompileOptions own = options;
    own.sizes.clear();
    own.shapes.clear();
    own.constants.clear();
    own.first_sizes = false;  // a loop's may change with every iteration
    Model model;
    model.path = n.name;
    model.graph = *region_;
    const size_t count = n.inputs.size() - captures;
    const size_t inputs = region_->inputs.size();
    for (size_t k = 0; k < count && k < inputs; k++) {
      const size_t at = inputs - std::min(count, inputs) + k;
      const ValueId outer = n.inputs[captures + k];
      const Value &inner = region_->value(region_->inputs[at]);
      if (outer != kNone && g.value(outer).constant)
        own.constants[inner.name] = *g.value(outer).constant;
    }
    session_ = std::make_shared<Session>(std::move(model), own);
  }

  std::vector<Constant> run(const std::vector<Constant> &operands) const {
    Program::Tensors inputs;
    for (size_t k = 0; k < region_->inputs.size(); k++)
      inputs[region_->value(region_->inputs[k]).name] = operands.at(k);
    const Program::Tensors results = session_->run(inputs);
    std::vector<Constant> list;
    for (ValueId v : region_->outputs) list.push_back(results.at(region_->value(v).name));
    return list;
  }

 private:
  std::shared_ptr<const Graph> region_;
  std::shared_ptr<Session> session_;
};

size_t own_operands(const Node &n) {
  return static_cast<size_t>(n.integer("operands", static_cast<int64_t>(n.inputs.size())));
}

std::vector<Constant> captured(const Node &n, const std::vector<Constant> &operands) {
  return {operands.begin() + static_cast<ptrdiff_t>(own_operands(n)), operands.end()};
}

// Sizes of a result, 0 where they are open: of results of no turns at all.
std::vector<int64_t> least_shape(const Value &v) {
  std::vector<int64_t> shape;
  for (const Dim &d : *v.shape) shape.push_back(d.constant().value_or(0));
  return shape;
}

// Type and least shape of each result; of one that nobody wants, Undefined.
std::vector<std::pair<ElementType, std::vector<int64_t>>> described_results(const Graph &g,
                                                                            const Node &n) {
  std::vector<std::pair<ElementType, std::vector<int64_t>>> results;
  for (ValueId v : n.outputs) {
    results.emplace_back();
    if (v != kNone) results.back() = {g.value(v).type, least_shape(g.value(v))};
  }
  return results;
}

// What a node tells of each turn, in one tensor; of no turns at all, as far as it is known.
Constant collected_turns(const std::vector<Constant> &turns, ElementType type,
                         const std::vector<int64_t> &least) {
  if (!turns.empty()) return stack(turns);
  std::vector<int64_t> shape = least;
  shape[0] = 0;
  return Constant::of_bytes(type, shape, {});
}

int64_t listed(const Node &n, const std::string &attribute, size_t k) {
  const std::vector<int64_t> list = n.integers(attribute);
  return k < list.size() ? list[k] : 0;
}

// Of an operand that is a single number.
int64_t scalar(const Node &n, const Constant &c) {
  if (c.elements() < 1) {
    throw RuntimeError({n.describe() + ": an operand that decides how often it runs has no element",
                        "it is one number",
                        "give a tensor of shape []",
                        {}});
  }
  return c.integer_at(0);
}

HostRoutine make_if(const Graph &g, const Node &n, const CompileOptions &options) {
  // Operands of the regions stand in the order of the attributes' names.
  const size_t no_count = region_of(n, "else_branch")->inputs.size();
  const auto kept = std::make_shared<const Node>(n);
  Node first = n;
  first.inputs.resize(1 + no_count);
  Node second = n;
  second.inputs.erase(second.inputs.begin() + 1,
                      second.inputs.begin() + 1 + static_cast<ptrdiff_t>(no_count));
  const RegionProgram no(g, first, "else_branch", 1, options);
  const RegionProgram yes(g, second, "then_branch", 1, options);
  return [kept, no, yes, no_count](const std::vector<Constant> &operands) {
    const auto behind = operands.begin() + 1;
    const auto middle = behind + static_cast<ptrdiff_t>(no_count);
    return scalar(*kept, operands[0]) != 0 ? yes.run({middle, operands.end()})
                                           : no.run({behind, middle});
  };
}

HostRoutine make_loop(const Graph &g, const Node &n, const CompileOptions &options) {
  const auto kept = std::make_shared<const Node>(n);
  const RegionProgram body(g, n, "body", own_operands(n), options);
  const auto results = described_results(g, n);
  return [kept, body, results](const std::vector<Constant> &operands) {
    const Node &node = *kept;
    const size_t states = own_operands(node) - 2;
    const bool counted = node.has_input(0), tested = node.has_input(1);
    const int64_t most = counted ? scalar(node, operands[0]) : INT64_MAX;
    bool goes_on = !tested || scalar(node, operands[1]) != 0;
    std::vector<Constant> state(operands.begin() + 2,
                                operands.begin() + 2 + static_cast<ptrdiff_t>(states));
    std::vector<std::vector<Constant>> collected(results.size() - states);
    const std::vector<Constant> around = captured(node, operands);
    for (int64_t turn = 0; turn < most && goes_on; turn++) {
      const uint8_t yes = 1;
      std::vector<Constant> args{Constant::integer(turn),
                                 Constant::splat(ElementType::Bool, {}, &yes)};
      args.insert(args.end(), state.begin(), state.end());
      args.insert(args.end(), around.begin(), around.end());
      const std::vector<Constant> out = body.run(args);
      goes_on = scalar(node, out[0]) != 0;
      for (size_t k = 0; k < states; k++) state[k] = out[1 + k];
      for (size_t k = 0; k < collected.size(); k++) collected[k].push_back(out[1 + states + k]);
    }
    for (size_t k = 0; k < collected.size(); k++) {
      const auto &[type, shape] = results[states + k];
      state.push_back(type == ElementType::Undefined ? Constant()
                                                     : collected_turns(collected[k], type, shape));
    }
    return state;
  };
}

HostRoutine make_scan(const Graph &g, const Node &n, const CompileOptions &options) {
  const auto kept = std::make_shared<const Node>(n);
  const RegionProgram body(g, n, "body", own_operands(n), options);
  const auto results = described_results(g, n);
  return [kept, body, results](const std::vector<Constant> &operands) {
    const Node &node = *kept;
    const auto scans = static_cast<size_t>(node.integer("num_scan_inputs", 0));
    const size_t states = own_operands(node) - scans;
    std::vector<Constant> state(operands.begin(),
                                operands.begin() + static_cast<ptrdiff_t>(states));
    std::vector<Constant> sequences;
    int64_t turns = -1;
    for (size_t k = 0; k < scans; k++) {
      const Constant &c = operands[states + k];
      const size_t axis = positive_axis(listed(node, "scan_input_axes", k), c.shape().size());
      sequences.push_back(move_axis(c, axis, 0));
      const int64_t length = sequences.back().shape()[0];
      if (turns >= 0 && length != turns) {
        throw RuntimeError({node.describe() + ": sequences have " + std::to_string(turns) +
                                " and " + std::to_string(length) + " elements",
                            "each turn takes one of each",
                            "give sequences of one length",
                            {}});
      }
      turns = length;
    }
    std::vector<std::vector<Constant>> collected(results.size() - states);
    const std::vector<Constant> around = captured(node, operands);
    for (int64_t turn = 0; turn < turns; turn++) {
      std::vector<Constant> args = state;
      for (size_t k = 0; k < scans; k++) {
        const bool backwards = listed(node, "scan_input_directions", k) != 0;
        args.push_back(row(sequences[k], backwards ? turns - 1 - turn : turn));
      }
      args.insert(args.end(), around.begin(), around.end());
      const std::vector<Constant> out = body.run(args);
      for (size_t k = 0; k < states; k++) state[k] = out[k];
      for (size_t k = 0; k < collected.size(); k++) collected[k].push_back(out[states + k]);
    }
    for (size_t k = 0; k < collected.size(); k++) {
      const auto &[type, shape] = results[states + k];
      if (type == ElementType::Undefined) {
        state.emplace_back();
        continue;
      }
      if (listed(node, "scan_output_directions", k) != 0)
        std::reverse(collected[k].begin(), collected[k].end());
      const size_t axis = positive_axis(listed(node, "scan_output_axes", k), shape.size());
      std::vector<int64_t> front = shape;
      front.erase(front.begin() + static_cast<ptrdiff_t>(axis));
      front.insert(front.begin(), 0);
      state.push_back(move_axis(collected_turns(collected[k], type, front), 0, axis));
    }
    return state;
  };
}

}  // namespace

HostRoutine make_host_routine(const Graph &g, const Node &n, const CompileOptions &options) {
  const auto compute = operator_of(n.domain, n.op)->compute;
  if (compute) {
    const auto kept = std::make_shared<const Node>(n);
    return
        [kept, compute](const std::vector<Constant> &operands) { return compute(*kept, operands); };
  }
  if (n.is("If")) return make_if(g, n, options);
  if (n.is("Loop")) return make_loop(g, n, options);
  return make_scan(g, n, options);
}

}  // namespace polyhalite::onnx
