// Running a Program: memory, the calls in order, results.
#include <algorithm>
#include <chrono>

#include "apps/onnx/program.h"
#include "apps/onnx/rearrange_constant.h"
#include "lang/interpret/interpret.h"

namespace polyhalite::onnx {

namespace {

int64_t byte_count(Type type, const std::vector<int64_t> &shape) {
  int64_t n = type.bytes();
  for (int64_t d : shape) n *= d;
  return n;
}

}  // namespace

std::vector<int64_t> Program::shape_of(ValueId v,
                                       const std::map<std::string, int64_t> &sizes) const {
  std::vector<int64_t> shape;
  for (const Dim &d : *graph_.value(v).shape) {
    const auto n = d.evaluate(sizes);
    internal_check(n.has_value(), "a size has a symbol that nothing gives a value");
    if (*n < 0 || *n > INT32_MAX) {
      user_error("value '" + graph_.value(v).name + "' has the size " + std::to_string(*n),
                 "sizes are from 0 to 2^31 - 1", "give inputs of other shapes");
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
      const Type type = *language_type(graph_.value(r).type);
      lives[r] = {r, byte_count(type, shape_of(r, sizes)), s, s};
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

// One run: where the values are, and the sizes that are known so far.
class ProgramRun {
 public:
  ProgramRun(const Program &p, const Program::Tensors &inputs)
      : p_(p), g_(p.graph_), sizes_(p.sizes_of(inputs)), plan_(p.arena(sizes_)) {
    p_.memory_->expect(bytes_of_run());
    memory_ = allocate(plan_.bytes);
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

  void step(const Step &s) {
    if (s.host) {
      run_on_host(s);
    } else {
      run_kernel(s);
    }
  }

  Program::Tensors outputs() {
    Program::Tensors out;
    for (size_t i = 0; i < g_.outputs.size(); i++) {
      const ValueId v = g_.outputs[i];
      const Value &value = g_.value(v);
      const std::vector<int64_t> shape = p_.shape_of(v, sizes_);
      const Place &p = p_.place(v);
      Constant &to = out[p_.output_names_[i]];
      if (value.constant) {
        to = Constant::of_bytes(value.type, shape, value.constant->packed());
      } else if (p.kind == Place::Output && p.index == i) {
        to = Constant(value.type, shape, results_[i], results_[i].get());
      } else {
        // What lies in an input, in a weight or in another output belongs to that one.
        const uint8_t *from = address(v);
        const auto n = static_cast<size_t>(byte_count(type_of(v), shape));
        to = Constant::of_bytes(value.type, shape, {from, from + n});
      }
    }
    return out;
  }

 private:
  using Bytes = std::shared_ptr<uint8_t>;

  Bytes allocate(int64_t bytes) const { return p_.memory_->get(bytes); }

  // What is known of it before the steps run.
  int64_t bytes_of_run() const {
    int64_t bytes = plan_.bytes;
    for (ValueId v : g_.outputs) {
      if (p_.place(v).kind == Place::Output && p_.has_sizes(v, sizes_))
        bytes += byte_count(type_of(v), p_.shape_of(v, sizes_));
    }
    return bytes;
  }

  Type type_of(ValueId v) const { return *language_type(g_.value(v).type); }

  // Memory for a value that is about to be written.
  void make_room(ValueId v) {
    const ValueId root = p_.root(v);
    const Place &p = p_.place(v);
    Bytes *own = nullptr;
    if (p.kind == Place::Output) own = &results_[p.index];
    if (p.kind == Place::Arena && !plan_.offsets.count(root)) own = &own_[root];
    if (own && !*own) *own = allocate(byte_count(type_of(v), p_.shape_of(v, sizes_)));
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
        const auto planned = plan_.offsets.find(p_.root(v));
        return planned != plan_.offsets.end() ? memory_.get() + planned->second
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
      operands[k] = Constant(g_.value(v).type, p_.shape_of(v, sizes_), nullptr, address(v));
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

  void run_kernel(const Step &s) {
    const Kernel &kernel = p_.kernels_[s.kernel];
    std::vector<int32_t> symbols;
    for (const std::string &name : s.symbols)
      symbols.push_back(static_cast<int32_t>(sizes_.at(name)));
    std::vector<BufferView> views;
    const bool work = std::any_of(s.outputs.begin(), s.outputs.end(), [&](ValueId v) {
      return byte_count(type_of(v), p_.shape_of(v, sizes_)) > 0;
    });
    auto view = [&](ValueId v) {
      const auto layout = p_.layouts_.find(v);
      views.emplace_back(type_of(v), p_.shape_of(v, sizes_),
                         layout == p_.layouts_.end() ? Layout() : layout->second, address(v));
    };
    views.reserve(s.inputs.size() + s.outputs.size());
    for (ValueId v : s.inputs) {
      if (work) view(v);
    }
    for (ValueId v : s.outputs) {
      make_room(v);
      if (work) view(v);
    }
    if (!work) return;
    if (p_.engine_ == Engine::Interpreter) {
      std::map<std::string, const polyhalite_buffer_t *> images;
      std::map<std::string, uint64_t> scalars;
      const Algorithm &a = kernel.pipeline->algorithm;
      for (size_t i = 0; i < symbols.size(); i++) {
        scalars[a.inputs[i].param->name] = static_cast<uint32_t>(symbols[i]);
      }
      for (size_t i = 0; i < s.inputs.size(); i++) {
        images[a.inputs[symbols.size() + i].param->name] = views[i].raw();
      }
      std::vector<polyhalite_buffer_t *> outputs;
      for (size_t i = s.inputs.size(); i < views.size(); i++) outputs.push_back(views[i].raw());
      interpret(a, images, scalars, outputs);
      return;
    }
    std::vector<void *> args;
    for (int32_t &n : symbols) args.push_back(&n);
    for (BufferView &v : views) args.push_back(v.raw());
    std::string message;
    if (kernel.code->call(args, &message) != 0) {
      throw RuntimeError({"kernel of " + s.nodes + ": " + message, "", "", {}});
    }
  }

  const Program &p_;
  const Graph &g_;
  std::map<std::string, int64_t> sizes_;
  const ArenaPlan plan_;
  Bytes memory_;
  std::vector<const uint8_t *> operands_;  // the caller's, or copies
  std::vector<Bytes> copies_, results_;
  std::map<ValueId, Bytes> own_;
};

Program::Tensors Program::run(const Tensors &inputs, std::vector<KernelTime> *times) const {
  ProgramRun run(*this, inputs);
  if (times) times->resize(steps_.size());
  for (size_t s = 0; s < steps_.size(); s++) {
    const auto start = std::chrono::steady_clock::now();
    run.step(steps_[s]);
    if (!times) continue;
    (*times)[s].nodes = steps_[s].nodes;
    (*times)[s].seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return run.outputs();
}

}  // namespace polyhalite::onnx
