// Running a Program: memory, the calls in order, results.
#include <algorithm>
#include <chrono>

#include "apps/onnx/program.h"
#include "apps/onnx/rearrange_constant.h"
#include "lang/interpret/interpret.h"

namespace polyhalite::onnx {

// One run: where the values are, and the sizes that are known so far.
class ProgramRun {
 public:
  ProgramRun(const Program &p, const Program::Tensors &inputs)
      : p_(p), g_(p.graph_), plan_(p.plan_for(inputs)), sizes_(plan_->sizes) {
    p_.memory_->expect(plan_->bytes);
    if (plan_->arena.bytes > 0) memory_ = allocate(plan_->arena.bytes);
    for (ValueId v : g_.inputs) {
      const Constant &c = inputs.at(g_.value(v).name);
      if (!c.is_splat() && c.is_aligned() && c.bytes() > 0) {
        operands_.push_back(c.data());
        continue;
      }
      // Splats and views of unknown alignment become plain arrays.
      copies_.push_back(allocate(static_cast<int64_t>(c.bytes())));
      const std::vector<uint8_t> bytes = c.packed();
      std::copy(bytes.begin(), bytes.end(), copies_.back().get());
      operands_.push_back(copies_.back().get());
    }
    results_.resize(g_.outputs.size());
  }

  void step(size_t i) {
    const Step &s = p_.steps_[i];
    if (s.host) {
      run_on_host(s);
    } else if (plan_->calls[i]) {
      run_kernel(s, *plan_->calls[i]);
    } else {
      run_kernel(s, p_.plan_call(s, sizes_));
    }
  }

  Program::Tensors outputs() {
    Program::Tensors out;
    for (size_t i = 0; i < g_.outputs.size(); i++) {
      const ValueId v = g_.outputs[i];
      const Value &value = g_.value(v);
      const std::vector<int64_t> shape = shape_of(v);
      const Place &p = p_.place(v);
      Constant &to = out[p_.output_names_[i]];
      if (value.constant) {
        to = Constant::of_bytes(value.type, shape, value.constant->packed());
      } else if (p.kind == Place::Output && p.index == i) {
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

 private:
  using Bytes = std::shared_ptr<uint8_t>;

  Bytes allocate(int64_t bytes) const { return p_.memory_->get(bytes); }

  std::vector<int64_t> shape_of(ValueId v) const {
    const auto &known = plan_->shapes[static_cast<size_t>(v)];
    return known ? *known : p_.shape_of(v, sizes_);
  }

  // Memory for a value that is about to be written.
  void make_room(ValueId v) {
    const ValueId root = p_.root(v);
    const Place &p = p_.place(v);
    Bytes *own = nullptr;
    if (p.kind == Place::Output) own = &results_[p.index];
    if (p.kind == Place::Arena && !plan_->arena.offsets.count(root)) own = &own_[root];
    if (own && !*own) *own = allocate(p_.bytes_of(v, shape_of(v)));
  }

  uint8_t *address(ValueId v) const {
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
        const auto planned = plan_->arena.offsets.find(p_.root(v));
        return planned != plan_->arena.offsets.end() ? memory_.get() + planned->second
                                                     : own_.at(p_.root(v)).get();
      }
      case Place::Nowhere:
        break;
    }
    internal_check(false, "a value has no place");
    return nullptr;
  }

  void run_on_host(const Step &s) {
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
      const Constant &c = results.at(k);
      bind_sizes(n, v, c);
      make_room(v);
      const std::vector<uint8_t> bytes = c.packed();
      std::copy(bytes.begin(), bytes.end(), address(v));
    }
  }

  // What the node's results tell of sizes that were open.
  void bind_sizes(const Node &n, ValueId v, const Constant &c) {
    const Value &value = g_.value(v);
    bool fits = c.type() == value.type && c.shape().size() == value.shape->size();
    for (size_t d = 0; fits && d < c.shape().size(); d++) {
      const Dim &dim = (*value.shape)[d];
      std::set<std::string> names;
      dim.add_symbols(&names);
      if (names.size() == 1 && dim == Dim::symbol(*names.begin()))
        sizes_.emplace(*names.begin(), c.shape()[d]);
      fits = dim.evaluate(sizes_) == c.shape()[d];
    }
    if (fits) return;
    throw RuntimeError({n.describe() + ": result '" + value.name + "' is " +
                            element_name(c.type()) + shape_text(c.shape()),
                        "it follows from the model that it is " + element_name(value.type) +
                            to_string(*value.shape),
                        "give other inputs",
                        {}});
  }

  void run_kernel(const Step &s, const CallPlan &call) {
    for (ValueId v : s.outputs) make_room(v);
    if (!call.has_work) return;
    buffers_.clear();
    for (size_t i = 0; i < call.views.size(); i++) {
      buffers_.push_back(call.views[i].raw());
      if (call.views[i].is_empty()) continue;
      const bool is_input = i < s.inputs.size();
      buffers_.back().host = address(is_input ? s.inputs[i] : s.outputs[i - s.inputs.size()]);
    }
    const Kernel &kernel = p_.kernels_[s.kernel];
    if (p_.engine_ == Engine::Interpreter) {
      std::map<std::string, const polyhalite_buffer_t *> images;
      std::map<std::string, uint64_t> scalars;
      const Algorithm &a = kernel.pipeline->algorithm;
      const size_t symbols = call.symbols.size();
      for (size_t i = 0; i < symbols; i++) {
        scalars[a.inputs[i].param->name] = static_cast<uint32_t>(call.symbols[i]);
      }
      for (size_t i = 0; i < s.inputs.size(); i++) {
        images[a.inputs[symbols + i].param->name] = &buffers_[i];
      }
      std::vector<polyhalite_buffer_t *> outputs;
      for (size_t i = s.inputs.size(); i < buffers_.size(); i++) outputs.push_back(&buffers_[i]);
      interpret(a, images, scalars, outputs);
      return;
    }
    symbols_ = call.symbols;
    arguments_.clear();
    for (int32_t &n : symbols_) arguments_.push_back(&n);
    for (polyhalite_buffer_t &b : buffers_) arguments_.push_back(&b);
    std::string message;
    if (kernel.code->call(arguments_, &message) != 0) {
      throw RuntimeError({"kernel of " + s.nodes + ": " + message, "", "", {}});
    }
  }

  const Program &p_;
  const Graph &g_;
  const std::shared_ptr<const RunPlan> plan_;
  std::map<std::string, int64_t> sizes_;  // with those that host routines told
  Bytes memory_;
  std::vector<const uint8_t *> operands_;  // the caller's, or copies
  std::vector<Bytes> copies_, results_;
  std::map<ValueId, Bytes> own_;
  // Of the call that runs.
  std::vector<int32_t> symbols_;
  std::vector<polyhalite_buffer_t> buffers_;
  std::vector<void *> arguments_;
};

Program::Tensors Program::run(const Tensors &inputs, std::vector<KernelTime> *times) const {
  ProgramRun run(*this, inputs);
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
