#include "apps/onnx/program.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "apps/onnx/canonicalize.h"
#include "apps/onnx/fold_weights.h"
#include "apps/onnx/join_quantized.h"
#include "apps/onnx/kernel_graph.h"
#include "apps/onnx/layouts.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string group_text(const Graph &g, const Group &group) {
  std::string text;
  for (size_t i : group.nodes) {
    text += (text.empty() ? "" : " + ") + g.nodes[i].op + " '" + g.nodes[i].name + "'";
  }
  return text;
}

}  // namespace

Program::Program(const Model &model, const CompileOptions &options)
    : graph_(model.graph),
      engine_(options.engine),
      random_(options.random ? options.random : std::make_shared<RandomSource>()),
      target_(options.target == Target() ? get_jit_target_from_environment() : options.target) {
  const Stopwatch import;
  for (const std::string &name : options.switched_off) {
    if (switchable_passes().count(name)) continue;
    std::string known;
    for (const std::string &one : switchable_passes()) known += (known.empty() ? "" : ", ") + one;
    user_error("there is no pass '" + name + "' to switch off", "passes have other names",
               "use one of " + known);
  }
  for (ValueId v : graph_.inputs) {
    if (!model.forms.count(graph_.value(v).name)) continue;
    user_error("input '" + graph_.value(v).name + "' is a sequence or an optional value",
               "how many tensors it is follows from what a run is given",
               "run the model with polyhalite run or from Python, or export it with tensors");
  }
  graph_ = canonicalize(std::move(graph_));
  specialize(options);
  if (options.optimize && !options.switched_off.count("join_quantized"))
    graph_ = join_quantized(std::move(graph_));
  InferenceReport report = infer_shapes(&graph_);
  for (const std::string &s : options.findings.numbers) {
    if (options.findings.sizes.count(s) == 0) report.symbols.insert(s);
  }
  if (!report.shapeless.empty()) {
    const Value &v = graph_.value(*report.shapeless.begin());
    user_error("input '" + v.name + "' has no shape", "the model leaves its rank open",
               "give its shape: --shape " + v.name + "=1,3,224,224");
  }
  find_needs(report);
  if (!needs_.empty()) return;
  name_outputs(model, report);
  if (options.optimize) {
    if (!options.switched_off.count("fold_weights"))
      graph_ = fold_weights(std::move(graph_), options);
    for (const GraphPass &p : graph_passes()) {
      if (!options.switched_off.count(p.name)) graph_ = p.run(std::move(graph_));
    }
    if (engine_ == Engine::Compiled && !options.switched_off.count("sort_between_kernels"))
      graph_ = sort_between_kernels(std::move(graph_));
    for (const MachinePass &p : machine_passes()) {
      if (!options.switched_off.count(p.name)) graph_ = p.run(std::move(graph_), target_);
    }
    if (!options.switched_off.count("choose_layouts") && !options.switched_off.count("turn_images"))
      graph_ = turn_images(std::move(graph_));
  } else {
    graph_ = remove_dead_nodes(std::move(graph_));
  }
  if (auto why = why_invalid(graph_)) throw InternalError(*why);
  times_.import = import.seconds();
  const Stopwatch kernels;
  groups_ = fuse(graph_, options.optimize && !options.switched_off.count("fuse"));
  roots_ = storage_roots(graph_);
  if (options.optimize && !options.switched_off.count("choose_layouts"))
    layouts_ = choose_layouts(graph_);
  std::map<std::string, size_t> found;
  ErrorList problems;
  for (const Group &group : groups_) {
    problems.attempt([&] {
      const Node &last = graph_.nodes[group.nodes.back()];
      if (operator_of(last.domain, last.op)->form == Operator::Host) {
        steps_.push_back({0,
                          group.inputs,
                          group.outputs,
                          {},
                          group_text(graph_, group),
                          group.nodes.back(),
                          make_host_routine(graph_, last, options)});
        return;
      }
      const KernelGraph one = kernel_graph(graph_, group, layouts_);
      const std::string signature = kernel_signature(one.graph, one.group, one.layouts);
      auto at = found.find(signature);
      if (at == found.end()) {
        Kernel k = make_kernel(one.graph, one.group, one.layouts, target_);
        k.signature = signature;
        k.name = "kernel" + std::to_string(kernels_.size());
        at = found.emplace(signature, kernels_.size()).first;
        kernels_.push_back(std::move(k));
      }
      steps_.push_back({at->second, group.inputs, group.outputs, {}, group_text(graph_, group)});
      Step &step = steps_.back();
      for (const std::string &name : kernels_[at->second].symbols)
        step.symbols.push_back(one.sizes.at(name));
      for (const std::vector<ValueId> *values : {&one.group.inputs, &one.group.outputs}) {
        for (ValueId v : *values) {
          const auto layout = one.layouts.find(v);
          BufferShape seen{*one.graph.value(v).shape,
                           layout == one.layouts.end() ? Layout() : layout->second};
          for (Dim &d : seen.shape) d = d.substitute(one.sizes);
          step.buffers.push_back(std::move(seen));
        }
      }
    });
  }
  problems.raise();
  place_values();
  times_.kernels = kernels.seconds();
  const Stopwatch code;
  if (engine_ == Engine::Compiled) compile_kernels(options);
  times_.code = code.seconds();
}

void Program::specialize(const CompileOptions &options) {
  std::map<std::string, Dim> values;
  for (const auto &[name, size] : options.sizes) values.emplace(name, Dim(size));
  std::vector<ValueId> kept;
  for (ValueId v : graph_.inputs) {
    Value &value = graph_.value(v);
    const auto known = options.constants.find(value.name);
    std::optional<std::vector<int64_t>> shape;
    if (const auto at = options.shapes.find(value.name); at != options.shapes.end())
      shape = at->second;
    if (known != options.constants.end()) shape = known->second.shape();
    if (shape) {
      if (value.shape && value.shape->size() != shape->size()) {
        user_error("input '" + value.name + "' gets the shape " + shape_text(*shape),
                   "its shape is " + to_string(*value.shape), "give as many sizes");
      }
      for (size_t d = 0; d < shape->size(); d++) {
        if (!value.shape) break;
        const Dim &old = (*value.shape)[d];
        std::set<std::string> symbols;
        old.add_symbols(&symbols);
        if (symbols.size() == 1 && old == Dim::symbol(*symbols.begin())) {
          values.emplace(*symbols.begin(), Dim((*shape)[d]));
        } else if (!old.is((*shape)[d])) {
          user_error("input '" + value.name + "' gets the shape " + shape_text(*shape),
                     "its shape is " + to_string(*value.shape), "give sizes that fit");
        }
      }
      value.shape = Shape(shape->begin(), shape->end());
    }
    if (known != options.constants.end()) {
      value.constant = known->second;
      value.shape = Shape(shape->begin(), shape->end());
    } else {
      kept.push_back(v);
    }
  }
  graph_.inputs = kept;
  graph_.findings = std::make_shared<const Findings>(options.findings);
  graph_.substitute(values);
}

void Program::name_outputs(const Model &model, const InferenceReport &report) {
  for (size_t k = 0; k < report.outputs.size(); k++) {
    Output o{model.graph.value(model.graph.outputs[k]).name, report.outputs[k], {}};
    for (size_t i = 0; i < o.form.count; i++) {
      const bool listed = o.form.form == Form::List;
      o.tensors.push_back(listed ? o.name + "[" + std::to_string(i) + "]" : o.name);
    }
    output_names_.insert(output_names_.end(), o.tensors.begin(), o.tensors.end());
    outputs_.push_back(std::move(o));
  }
}

void Program::find_needs(const InferenceReport &report) {
  std::set<std::string> given;
  for (ValueId v : graph_.inputs) {
    for (const Dim &d : *graph_.value(v).shape) d.add_symbols(&given);
  }
  for (const auto &[text, difference] : graph_.assumed_zero) {
    std::set<std::string> symbols;
    difference.add_symbols(&symbols);
    for (const std::string &s : symbols) {
      if (given.count(s) == 0) assumed_zero_[s].push_back(difference);
    }
  }
  // Other symbols are sizes of what the program computes.
  auto need_symbols = [&](const std::set<std::string> &symbols) {
    for (const std::string &s : symbols) {
      if (given.count(s)) {
        needs_.sizes.insert(s);
        continue;
      }
      for (size_t v = 0; v < graph_.values.size(); v++) {
        if (defines_size(graph_.values[v], s)) needs_.shapes.insert(static_cast<ValueId>(v));
      }
    }
  };
  need_symbols(report.symbols);
  for (ValueId needed : report.needed) {
    internal_check(static_cast<size_t>(needed) < graph_.values.size(),
                   "a value is needed that the graph has not");
    // What it is made of: shapes only, or elements of inputs, too.
    std::set<ValueId> wanted;
    std::set<std::string> symbols;
    auto want = [&](ValueId v, bool elements_too) {
      const Value &value = graph_.value(v);
      if (elements_too && value.contents) {
        for (const Dim &d : *value.contents) d.add_symbols(&symbols);
      } else if (elements_too && !value.constant) {
        wanted.insert(v);
      }
      if (!value.shape) return;
      for (const Dim &d : *value.shape) d.add_symbols(&symbols);
    };
    want(needed, true);
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node &n = graph_.nodes[i];
      if (!std::any_of(n.outputs.begin(), n.outputs.end(),
                       [&](ValueId v) { return v != kNone && wanted.count(v); }))
        continue;
      for (size_t k = 0; k < n.inputs.size(); k++) {
        if (n.has_input(k)) want(n.inputs[k], reads_elements(graph_, n, k));
      }
    }
    const auto from_input = std::find_if(graph_.inputs.begin(), graph_.inputs.end(),
                                         [&](ValueId v) { return wanted.count(v) != 0; });
    // Sizes that a run finds differ between runs: what is made of them is found, too. Where it is
    // followed as sizes already, these have to be numbers.
    const bool from_found = !graph_.value(needed).contents &&
                            std::any_of(symbols.begin(), symbols.end(),
                                        [&](const std::string &s) { return given.count(s) == 0; });
    if (std::count(graph_.inputs.begin(), graph_.inputs.end(), needed) != 0) {
      needs_.inputs.insert(needed);
    } else if (from_input != graph_.inputs.end() || symbols.empty() || from_found) {
      needs_.elements.insert(needed);
    } else {
      need_symbols(symbols);
    }
  }
}

void Program::place_values() {
  places_.assign(graph_.values.size(), {});
  auto at = [&](ValueId v) -> Place & { return places_[static_cast<size_t>(v)]; };
  for (size_t i = 0; i < graph_.inputs.size(); i++) at(graph_.inputs[i]) = {Place::Input, i};
  for (const Step &s : steps_) {
    for (ValueId v : s.outputs) at(v) = {Place::Arena, 0};
  }
  for (size_t i = 0; i < graph_.outputs.size(); i++) {
    // The first output that shares its memory with no input, weight or other output owns it.
    Place &p = at(root(graph_.outputs[i]));
    if (p.kind == Place::Arena) p = {Place::Output, i};
  }
  auto add_weight = [&](ValueId v) {
    const Value &value = graph_.value(v);
    if (!value.constant || at(v).kind != Place::Nowhere) return;
    Weight w;
    w.value = v;
    const auto layout = layouts_.find(v);
    const bool plain = layout == layouts_.end() || layout->second.empty();
    w.bytes = value.constant->bytes();
    if (!plain) {
      // A layout lists the innermost dimension first.
      w.packed = value.constant->packed({layout->second.rbegin(), layout->second.rend()});
    } else if (value.constant->is_splat() || !value.constant->is_aligned()) {
      w.packed = value.constant->packed();
    }
    w.data = w.packed.empty() ? value.constant->data() : w.packed.data();
    at(v) = {Place::Weight, weights_.size()};
    weights_.push_back(std::move(w));
  };
  for (const Step &s : steps_) {
    for (ValueId v : s.inputs) add_weight(root(v));
  }
  for (ValueId v : graph_.outputs) add_weight(root(v));
}

void Program::compile_kernels(const CompileOptions &options) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  ErrorList problems;
  std::exception_ptr other;
  const auto cache = options.kernels ? options.kernels : std::make_shared<KernelCache>();
  const Target target = target_.with_feature(Target::JIT);
  auto work = [&] {
    for (size_t i = next++; i < kernels_.size(); i = next++) {
      try {
        kernels_[i].code = cache->code(kernels_[i], target);
      } catch (const CompileError &e) {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto step = std::find_if(steps_.begin(), steps_.end(),
                                       [&](const Step &s) { return !s.host && s.kernel == i; });
        problems.attempt([&] {
          user_error("kernel of " + step->nodes + ": " + e.diagnostic().what, e.diagnostic().why,
                     e.diagnostic().fix);
        });
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        other = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < options.threads; t++) threads.emplace_back(work);
  work();
  for (std::thread &t : threads) t.join();
  if (other) std::rethrow_exception(other);
  problems.raise();
}

std::string Program::report() const {
  size_t weight_bytes = 0;
  for (const Weight &w : weights_) weight_bytes += w.bytes;
  std::string text = "graph: " + std::to_string(graph_.nodes.size()) + " nodes, " +
                     std::to_string(steps_.size()) + " calls of " +
                     std::to_string(kernels_.size()) + " kernels\n";
  text += "weights: " + std::to_string(weight_bytes) + " bytes\n";
  bool fixed = true;
  for (const Value &v : graph_.values) fixed = fixed && (!v.shape || constant_shape(*v.shape));
  if (fixed) text += "memory for values: " + std::to_string(arena({}).bytes) + " bytes\n";
  for (const Step &s : steps_) {
    text += (s.host ? "host" : kernels_[s.kernel].name) + ":";
    for (ValueId v : s.outputs)
      text += " " + element_name(graph_.value(v).type) + to_string(*graph_.value(v).shape);
    text += " = " + s.nodes + "\n";
  }
  return text;
}

}  // namespace polyhalite::onnx
