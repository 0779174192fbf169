#include "apps/onnx/program_run.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "apps/onnx/rearrange_constant.h"
#include "lang/interpret/interpret.h"

namespace polyhalite::onnx {

ProgramRun::ProgramRun(const Program &p, std::shared_ptr<const RunPlan> plan)
    : p_(p), g_(p.graph_), plan_(std::move(plan)), sizes_(plan_->sizes) {
  p_.memory_->expect(plan_->bytes);
  if (plan_->arena.bytes > 0) memory_ = allocate(plan_->arena.bytes);
  operands_.resize(g_.inputs.size());
  copies_.resize(g_.inputs.size());
  results_.resize(g_.outputs.size());
}

bool ProgramRun::is_planned() const {
  const auto has_shape = [&](ValueId v) {
    return plan_->shapes[static_cast<size_t>(v)].has_value();
  };
  return std::all_of(plan_->calls.begin(), plan_->calls.end(),
                     [](const auto &call) { return call.has_value(); }) &&
         std::all_of(g_.outputs.begin(), g_.outputs.end(), has_shape);
}

void ProgramRun::run(const std::vector<const uint8_t *> &inputs,
                     const std::vector<uint8_t *> &outputs) {
  operands_ = inputs;
  // Nobody has to be told when the caller's memory is not needed any more.
  for (size_t i = 0; i < outputs.size(); i++) results_[i] = Bytes(Bytes(), outputs[i]);
  for (size_t s = 0; s < p_.steps_.size(); s++) step(s);
  for (size_t i = 0; i < outputs.size(); i++) {
    if (is_made_in_place(i)) continue;
    const ValueId v = g_.outputs[i];
    if (const auto &known = g_.value(v).constant) {
      const std::vector<uint8_t> bytes = known->packed();
      std::copy(bytes.begin(), bytes.end(), outputs[i]);
    } else {
      const uint8_t *from = address(v);
      std::copy(from, from + p_.bytes_of(v, shape_of(v)), outputs[i]);
    }
  }
}

void ProgramRun::set_input(size_t i, const Constant &c) {
  if (!c.is_splat() && c.is_aligned() && c.bytes() > 0) {
    operands_[i] = c.data();
    return;
  }
  // Splats and views of unknown alignment become plain arrays.
  copies_[i] = allocate(static_cast<int64_t>(c.bytes()));
  const std::vector<uint8_t> bytes = c.packed();
  std::copy(bytes.begin(), bytes.end(), copies_[i].get());
  operands_[i] = copies_[i].get();
}

void ProgramRun::step(size_t i) {
  const Step &s = p_.steps_[i];
  if (s.host) {
    run_on_host(s);
  } else if (plan_->calls[i]) {
    run_kernel(s, *plan_->calls[i]);
  } else {
    run_kernel(s, p_.plan_call(s, sizes_));
  }
}

Program::Tensors ProgramRun::outputs() const {
  Program::Tensors out;
  for (size_t i = 0; i < g_.outputs.size(); i++) {
    const ValueId v = g_.outputs[i];
    const Value &value = g_.value(v);
    const std::vector<int64_t> shape = shape_of(v);
    Constant &to = out[p_.output_names_[i]];
    if (value.constant) {
      to = Constant::of_bytes(value.type, shape, value.constant->packed());
    } else if (is_made_in_place(i)) {
      to = Constant(value.type, shape, results_[i], results_[i].get());
    } else {
      // What lies in an input, in a weight or in another output belongs to that one.
      const uint8_t *from = address(v);
      const auto n = static_cast<size_t>(p_.bytes_of(v, shape));
      to = Constant::of_bytes(value.type, shape, {from, from + n});
    }
  }
  return out;
}

// Do the kernels write this output where its reader wants it?
bool ProgramRun::is_made_in_place(size_t output) const {
  const ValueId v = g_.outputs[output];
  const Place &p = p_.place(v);
  return !g_.value(v).constant && p.kind == Place::Output && p.index == output;
}

std::vector<int64_t> ProgramRun::shape_of(ValueId v) const {
  const auto &known = plan_->shapes[static_cast<size_t>(v)];
  return known ? *known : p_.shape_of(v, sizes_);
}

// Memory for a value that is about to be written.
void ProgramRun::make_room(ValueId v) {
  const ValueId root = p_.root(v);
  const Place &p = p_.place(v);
  Bytes *own = nullptr;
  if (p.kind == Place::Output) own = &results_[p.index];
  if (p.kind == Place::Arena && !plan_->offset(root)) own = &own_[root];
  if (own && !*own) *own = allocate(p_.bytes_of(v, shape_of(v)));
}

uint8_t *ProgramRun::address(ValueId v) const {
  const Place &p = p_.place(v);
  switch (p.kind) {
    case Place::Input:
      return const_cast<uint8_t *>(operands_[p.index]);  // kernels only read it
    case Place::Output:
      return results_[p.index].get();
    case Place::Weight: {
      // A buffer without memory would ask for sizes in place of a run.
      static uint8_t nothing[1] = {};
      const uint8_t *data = p_.weights_[p.index].data;
      return data ? const_cast<uint8_t *>(data) : nothing;
    }
    case Place::Arena: {
      const auto planned = plan_->offset(p_.root(v));
      return planned ? memory_.get() + *planned : own_.at(p_.root(v)).get();
    }
    case Place::Nowhere:
      break;
  }
  internal_check(false, "a value has no place");
  return nullptr;
}

void ProgramRun::run_on_host(const Step &s) {
  const Node &n = g_.nodes[s.node];
  std::vector<Constant> operands(n.inputs.size());
  for (size_t k = 0; k < operands.size(); k++) {
    const ValueId v = n.inputs[k];
    if (v == kNone) continue;
    operands[k] = Constant(g_.value(v).type, shape_of(v), nullptr, address(v));
  }
  const std::vector<Constant> results = s.host(operands);
  for (size_t k = 0; k < n.outputs.size(); k++) {
    const ValueId v = n.outputs[k];
    if (v == kNone) continue;
    const Constant c = with_known_sizes(v, results.at(k));
    bind_sizes(n, v, c);
    make_room(v);
    const std::vector<uint8_t> bytes = c.packed();
    std::copy(bytes.begin(), bytes.end(), address(v));
  }
}

// What no turn of a loop has made has no sizes of its own: it has those that follow for it.
Constant ProgramRun::with_known_sizes(ValueId v, const Constant &c) const {
  const Shape &wanted = *g_.value(v).shape;
  std::vector<int64_t> shape = c.shape();
  if (c.elements() != 0 || wanted.size() != shape.size()) return c;
  for (size_t d = 0; d < shape.size(); d++)
    shape[d] = wanted[d].evaluate(sizes_).value_or(shape[d]);
  return std::count(shape.begin(), shape.end(), 0) == 0 ? c : c.reshaped(shape);
}

// What the node's results tell of sizes that were open.
void ProgramRun::bind_sizes(const Node &n, ValueId v, const Constant &c) {
  const Value &value = g_.value(v);
  bool fits = c.type() == value.type && c.shape().size() == value.shape->size();
  std::vector<std::string> bound;
  for (size_t d = 0; fits && d < c.shape().size(); d++) {
    const Dim &dim = (*value.shape)[d];
    std::set<std::string> names;
    dim.add_symbols(&names);
    if (names.size() == 1 && dim == Dim::symbol(*names.begin()) &&
        sizes_.emplace(*names.begin(), c.shape()[d]).second)
      bound.push_back(*names.begin());
    fits = dim.evaluate(sizes_) == c.shape()[d];
  }
  if (fits) {
    for (const std::string &name : bound) check_assumptions(name);
    return;
  }
  throw RuntimeError(
      {n.describe() + ": result '" + value.name + "' is " + element_name(c.type()) +
           shape_text(c.shape()),
       "it follows from the model that it is " + element_name(value.type) + to_string(*value.shape),
       "give other inputs",
       {}});
}

// Does what is taken for 0 hold for a size that has just been found?
void ProgramRun::check_assumptions(const std::string &symbol) const {
  const auto at = p_.assumed_zero_.find(symbol);
  if (at == p_.assumed_zero_.end()) return;
  for (const Dim &difference : at->second) {
    const auto n = difference.evaluate(sizes_);
    if (n.value_or(0) == 0) continue;
    std::set<std::string> symbols;
    difference.add_symbols(&symbols);
    throw UnequalSizes({"the sizes that the run has found differ by " + std::to_string(*n),
                        "they are taken for equal: " + difference.to_string() + " = 0",
                        "run the model by a Session, which compiles it for such sizes",
                        {}},
                       std::move(symbols));
  }
}

void ProgramRun::run_kernel(const Step &s, const CallPlan &call) {
  for (ValueId v : s.outputs) make_room(v);
  if (!call.has_work) return;
  buffers_.clear();
  for (size_t i = 0; i < call.views.size(); i++) {
    buffers_.push_back(call.views[i].raw());
    if (call.views[i].is_empty()) continue;
    const bool is_input = i < s.inputs.size();
    buffers_.back().host = address(is_input ? s.inputs[i] : s.outputs[i - s.inputs.size()]);
  }
  if (p_.engine_ == Engine::Interpreter) {
    interpret_kernel(s, call);
    return;
  }
  symbols_ = call.symbols;
  slots_.assign(1, nullptr);
  for (int32_t &n : symbols_) slots_.push_back(&n);
  for (polyhalite_buffer_t &b : buffers_) slots_.push_back(&b);
  std::string message;
  JITUserContext context;
  if (p_.kernels_[s.kernel].code->call(slots_.data(), &message, &context) != 0)
    throw RuntimeError({"kernel of " + s.nodes + ": " + message, "", "", {}});
}

void ProgramRun::interpret_kernel(const Step &s, const CallPlan &call) {
  std::map<std::string, const polyhalite_buffer_t *> images;
  std::map<std::string, uint64_t> scalars;
  const Algorithm &a = p_.kernels_[s.kernel].pipeline->algorithm;
  const size_t symbols = call.symbols.size();
  for (size_t i = 0; i < symbols; i++)
    scalars[a.inputs[i].param->name] = static_cast<uint32_t>(call.symbols[i]);
  for (size_t i = 0; i < s.inputs.size(); i++)
    images[a.inputs[symbols + i].param->name] = &buffers_[i];
  std::vector<polyhalite_buffer_t *> outputs;
  for (size_t i = s.inputs.size(); i < buffers_.size(); i++) outputs.push_back(&buffers_[i]);
  interpret(a, images, scalars, outputs);
}

Program::Tensors Program::run(const Tensors &inputs, std::vector<KernelTime> *times) const {
  if (has_random_key(graph_) && !inputs.count(kRandomKey)) {
    Tensors all = inputs;
    all[kRandomKey] = random_->next();
    return this->run(all, times);
  }
  ProgramRun run(*this, plan_for(inputs));
  for (size_t i = 0; i < graph_.inputs.size(); i++)
    run.set_input(i, inputs.at(graph_.value(graph_.inputs[i]).name));
  if (times) times->resize(steps_.size());
  for (size_t s = 0; s < steps_.size(); s++) {
    const auto start = std::chrono::steady_clock::now();
    run.step(s);
    if (!times) continue;
    (*times)[s].nodes = steps_[s].nodes;
    (*times)[s].seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return run.outputs();
}

}  // namespace polyhalite::onnx
