#include "apps/onnx/run_plan.h"

#include <algorithm>

#include "apps/onnx/program.h"
#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + MemoryPool::kAlignment - 1) / MemoryPool::kAlignment * MemoryPool::kAlignment;
}

}  // namespace

ArenaPlan plan_arena(std::vector<Lifetime> lives) {
  std::stable_sort(lives.begin(), lives.end(),
                   [](const Lifetime &a, const Lifetime &b) { return a.bytes > b.bytes; });
  ArenaPlan plan;
  struct Taken {
    int64_t begin, end;
    size_t first, last;
  };
  std::vector<Taken> taken;  // by offset
  for (const Lifetime &l : lives) {
    const int64_t bytes = aligned(l.bytes);
    int64_t at = 0;
    for (const Taken &t : taken) {
      if (t.last < l.first || l.last < t.first) continue;
      if (at + bytes <= t.begin) break;
      at = std::max(at, t.end);
    }
    plan.offsets[l.value] = at;
    plan.bytes = std::max(plan.bytes, at + bytes);
    const Taken one{at, at + bytes, l.first, l.last};
    taken.insert(std::upper_bound(taken.begin(), taken.end(), one,
                                  [](const Taken &a, const Taken &b) { return a.begin < b.begin; }),
                 one);
  }
  return plan;
}

int64_t Program::bytes_of(ValueId v, const std::vector<int64_t> &shape) const {
  int64_t n = type_of(v).bytes();
  for (int64_t d : shape) n *= d;
  return n;
}

std::vector<int64_t> Program::sizes_in(const Shape &dims, ValueId v,
                                       const std::map<std::string, int64_t> &sizes) const {
  std::vector<int64_t> shape;
  const bool has_none = std::any_of(dims.begin(), dims.end(), [](const Dim &d) { return d.is(0); });
  for (const Dim &d : dims) {
    const auto n = d.evaluate(sizes);
    internal_check(n.has_value(), "a size has a symbol that nothing gives a value");
    // Elements beyond that are read as it, where they decide about sizes (ReadSizes).
    const bool is_too_large = *n > INT32_MAX || (*n == INT32_MAX && !has_none);
    if (*n < 0 || is_too_large) {
      user_error("value '" + graph_.value(v).name + "' has the size " + std::to_string(*n),
                 "sizes are from 0 to 2^31 - 2", "give inputs of other shapes");
    }
    shape.push_back(*n);
  }
  return shape;
}

bool Program::has_sizes(ValueId v, const std::map<std::string, int64_t> &sizes) const {
  const Shape &shape = *graph_.value(v).shape;
  return std::all_of(shape.begin(), shape.end(),
                     [&](const Dim &d) { return d.evaluate(sizes).has_value(); });
}

std::map<std::string, int64_t> Program::sizes_of(const Tensors &inputs) const {
  std::map<std::string, int64_t> sizes;
  // Symbols first, then whatever is computed from them.
  for (const bool symbols : {true, false}) {
    for (ValueId v : graph_.inputs) {
      const Value &value = graph_.value(v);
      const auto given = inputs.find(value.name);
      if (given == inputs.end()) {
        user_error("input '" + value.name + "' is missing",
                   "it has the type " + element_name(value.type) + to_string(*value.shape),
                   "give a tensor of this name");
      }
      const Constant &t = given->second;
      auto refuse = [&] {
        user_error(
            "input '" + value.name + "' is " + element_name(t.type()) + shape_text(t.shape()),
            "the model takes " + element_name(value.type) + to_string(*value.shape),
            "give a tensor of this type and shape");
      };
      if (t.type() != value.type || t.shape().size() != value.shape->size()) refuse();
      for (size_t d = 0; d < t.shape().size(); d++) {
        const Dim &dim = (*value.shape)[d];
        std::set<std::string> names;
        dim.add_symbols(&names);
        const bool is_symbol = names.size() == 1 && dim == Dim::symbol(*names.begin());
        if (symbols && is_symbol) sizes.emplace(*names.begin(), t.shape()[d]);
        if (!symbols && dim.evaluate(sizes) != t.shape()[d]) refuse();
      }
    }
  }
  return sizes;
}

ArenaPlan Program::arena(const std::map<std::string, int64_t> &sizes) const {
  std::map<ValueId, Lifetime> lives;
  for (size_t s = 0; s < steps_.size(); s++) {
    for (ValueId v : steps_[s].outputs) {
      const ValueId r = root(v);
      if (places_[static_cast<size_t>(r)].kind != Place::Arena || !has_sizes(r, sizes)) continue;
      lives[r] = {r, bytes_of(r, shape_of(r, sizes)), s, s};
    }
    for (ValueId v : steps_[s].inputs) {
      if (const auto at = lives.find(root(v)); at != lives.end()) at->second.last = s;
    }
  }
  std::vector<Lifetime> list;
  for (const auto &[v, l] : lives) list.push_back(l);
  for (ValueId v : graph_.outputs) {
    for (Lifetime &l : list) {
      if (l.value == root(v)) l.last = steps_.size();
    }
  }
  return plan_arena(std::move(list));
}

std::set<std::string> Program::unequal_sizes(const Tensors &inputs) const {
  std::set<std::string> symbols;
  if (graph_.assumed_zero.empty()) return symbols;
  const std::map<std::string, int64_t> sizes = sizes_of(inputs);
  for (const auto &[text, difference] : graph_.assumed_zero) {
    if (difference.evaluate(sizes).value_or(0) != 0) difference.add_symbols(&symbols);
  }
  return symbols;
}

CallPlan Program::plan_call(const Step &s, const std::map<std::string, int64_t> &sizes) const {
  CallPlan call;
  call.views.reserve(s.buffers.size());
  for (size_t i = 0; i < s.buffers.size(); i++) {
    const bool is_input = i < s.inputs.size();
    const ValueId v = is_input ? s.inputs[i] : s.outputs[i - s.inputs.size()];
    const std::vector<int64_t> shape = sizes_in(s.buffers[i].shape, v, sizes);
    call.views.emplace_back(type_of(v), shape, s.buffers[i].layout);
    if (!is_input) call.has_work = call.has_work || bytes_of(v, shape) > 0;
  }
  // What leaves 32 bits here is a size of a buffer, which was refused.
  for (const Dim &d : s.symbols) call.symbols.push_back(static_cast<int32_t>(*d.evaluate(sizes)));
  return call;
}

bool Program::fits(const RunPlan &plan, const Tensors &inputs) const {
  for (size_t i = 0; i < graph_.inputs.size(); i++) {
    const Value &value = graph_.value(graph_.inputs[i]);
    const auto given = inputs.find(value.name);
    if (given == inputs.end() || given->second.type() != value.type ||
        given->second.shape() != plan.input_shapes[i])
      return false;
  }
  return true;
}

std::shared_ptr<const RunPlan> Program::plan_for(const Tensors &inputs) const {
  {
    const std::lock_guard<std::mutex> lock(last_plan_->mutex);
    if (last_plan_->plan && fits(*last_plan_->plan, inputs)) return last_plan_->plan;
  }
  const auto plan = std::make_shared<RunPlan>();
  plan->sizes = sizes_of(inputs);
  for (ValueId v : graph_.inputs)
    plan->input_shapes.push_back(inputs.at(graph_.value(v).name).shape());
  plan->shapes.resize(graph_.values.size());
  for (size_t v = 0; v < graph_.values.size(); v++) {
    const auto id = static_cast<ValueId>(v);
    if (graph_.values[v].shape && has_sizes(id, plan->sizes))
      plan->shapes[v] = shape_of(id, plan->sizes);
  }
  plan->arena = arena(plan->sizes);
  plan->offsets.assign(graph_.values.size(), -1);
  for (const auto &[v, at] : plan->arena.offsets) plan->offsets[static_cast<size_t>(v)] = at;
  plan->bytes = plan->arena.bytes;
  for (ValueId v : graph_.outputs) {
    const auto &shape = plan->shapes[static_cast<size_t>(v)];
    if (place(v).kind == Place::Output && shape) plan->bytes += bytes_of(v, *shape);
  }
  const auto is_known = [&](ValueId v) { return plan->shapes[static_cast<size_t>(v)].has_value(); };
  for (const Step &s : steps_) {
    plan->calls.emplace_back();
    const bool known = !s.host && std::all_of(s.inputs.begin(), s.inputs.end(), is_known) &&
                       std::all_of(s.outputs.begin(), s.outputs.end(), is_known) &&
                       std::all_of(s.symbols.begin(), s.symbols.end(), [&](const Dim &d) {
                         return d.evaluate(plan->sizes).has_value();
                       });
    if (known) plan->calls.back() = plan_call(s, plan->sizes);
  }
  const std::lock_guard<std::mutex> lock(last_plan_->mutex);
  last_plan_->plan = plan;
  return plan;
}

}  // namespace polyhalite::onnx
