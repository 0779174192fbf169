#include "apps/onnx/control.h"

#include "apps/onnx/canonicalize.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/rearrange_constant.h"
#include "apps/onnx/regions.h"
#include "apps/onnx/turns.h"

namespace polyhalite::onnx {

namespace {

std::vector<Constant> captured(const Node &n, const std::vector<Constant> &operands) {
  return {operands.begin() + static_cast<ptrdiff_t>(n.own_operands()), operands.end()};
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

// What a node tells of all turns; of no turns at all, as far as it is known.
Constant collected_turns(Turns *turns, size_t k, int64_t count, ElementType type,
                         const std::vector<int64_t> &least, bool backwards = false) {
  const Constant all = turns->take_collected(k, count, backwards);
  if (all.type() != ElementType::Undefined) return all;
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
  const auto described = described_results(g, n);
  return [kept, no, yes, no_count, described](const std::vector<Constant> &operands) {
    const auto behind = operands.begin() + 1;
    const auto middle = behind + static_cast<ptrdiff_t>(no_count);
    std::vector<Constant> results = scalar(*kept, operands[0]) != 0
                                        ? yes.run({middle, operands.end()})
                                        : no.run({behind, middle});
    for (size_t k = 0; k < results.size(); k++) {
      const auto &[type, shape] = described[k];
      if (type != ElementType::Undefined) results[k] = of_rank(results[k], shape.size());
    }
    return results;
  };
}

// A state in front of the first turn, with the rank that it has in all of them.
Turns::Operand state_of(const Graph &region, ValueId input, const Constant &first) {
  const bool is_read = reads(region, input);
  return {Turns::Operand::State,
          is_read ? of_rank(first, region.value(input).shape->size()) : first, false, is_read};
}

HostRoutine make_loop(const Graph &g, const Node &n, const CompileOptions &options) {
  const auto kept = std::make_shared<const Node>(n);
  const RegionProgram body(g, n, "body", n.own_operands(), options);
  const auto results = described_results(g, n);
  return [kept, body, results](const std::vector<Constant> &operands) {
    const Node &node = *kept;
    const Graph &region = *region_of(node, "body");
    const size_t states = node.own_operands() - 2;
    const bool counted = node.has_input(0), tested = node.has_input(1);
    const int64_t most = counted ? scalar(node, operands[0]) : INT64_MAX;
    bool goes_on = !tested || scalar(node, operands[1]) != 0;
    int64_t turn = 0;
    const uint8_t yes = 1;
    std::vector<Turns::Operand> list{
        {Turns::Operand::Fixed,
         Constant(ElementType::Int64, {}, nullptr, reinterpret_cast<const uint8_t *>(&turn))},
        {Turns::Operand::Fixed, Constant(ElementType::Bool, {}, nullptr, &yes)}};
    for (size_t k = 0; k < states; k++)
      list.push_back(state_of(region, region.inputs[2 + k], operands[2 + k]));
    for (const Constant &c : captured(node, operands)) list.push_back({Turns::Operand::Fixed, c});
    Turns turns(body, std::move(list), 1);
    for (; turn < most && goes_on; turn++) {
      turns.run();
      goes_on = scalar(node, turns.seen(0)) != 0;
    }
    std::vector<Constant> all = turns.states();
    for (size_t k = states; k < results.size(); k++) {
      const auto &[type, shape] = results[k];
      all.push_back(type == ElementType::Undefined
                        ? Constant()
                        : collected_turns(&turns, k - states, turn, type, shape));
    }
    return all;
  };
}

HostRoutine make_scan(const Graph &g, const Node &n, const CompileOptions &options) {
  const auto kept = std::make_shared<const Node>(n);
  const RegionProgram body(g, n, "body", n.own_operands(), options);
  const auto results = described_results(g, n);
  return [kept, body, results](const std::vector<Constant> &operands) {
    const Node &node = *kept;
    const auto scans = static_cast<size_t>(node.integer("num_scan_inputs", 0));
    const size_t bounds = scan_bounds(node);
    const size_t states = node.own_operands() - scans - bounds;
    std::vector<Turns::Operand> list;
    const Graph &region = *region_of(node, "body");
    for (size_t k = 0; k < states; k++)
      list.push_back(state_of(region, region.inputs[k], operands[k]));
    int64_t count = -1;
    for (size_t k = 0; k < scans; k++) {
      const Constant &c = operands[states + k];
      const size_t axis = positive_axis(listed(node, "scan_input_axes", k), c.shape().size());
      const bool backwards = listed(node, "scan_input_directions", k) != 0;
      list.push_back({Turns::Operand::Row, move_axis(c, axis, 0), backwards});
      const int64_t length = list.back().elements.shape()[0];
      if (count >= 0 && length != count) {
        throw RuntimeError({node.describe() + ": sequences have " + std::to_string(count) +
                                " and " + std::to_string(length) + " elements",
                            "each turn takes one of each",
                            "give sequences of one length",
                            {}});
      }
      count = length;
    }
    int64_t last = count;
    if (bounds) {
      const Constant &lengths = operands[states + scans];
      list.push_back({Turns::Operand::Fixed, lengths});
      int64_t longest = 1;
      for (int64_t k = 0; k < lengths.elements(); k++)
        longest = std::max(longest, lengths.integer_at(k));
      last = std::min(count, longest);
    }
    for (const Constant &c : captured(node, operands)) list.push_back({Turns::Operand::Fixed, c});
    Turns turns(body, std::move(list), 0);
    for (int64_t turn = 0; turn < last; turn++) turns.run();
    std::vector<Constant> all = turns.states();
    for (size_t k = states; k < results.size(); k++) {
      const auto &[type, shape] = results[k];
      if (type == ElementType::Undefined) {
        all.emplace_back();
        continue;
      }
      const size_t at = k - states;
      const size_t axis = positive_axis(listed(node, "scan_output_axes", at), shape.size());
      std::vector<int64_t> front = shape;
      front.erase(front.begin() + static_cast<ptrdiff_t>(axis));
      front.insert(front.begin(), 0);
      const bool backwards = listed(node, "scan_output_directions", at) != 0;
      all.push_back(move_axis(collected_turns(&turns, at, count, type, front, backwards), 0, axis));
    }
    return all;
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
