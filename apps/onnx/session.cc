#include "apps/onnx/session.h"

#include <algorithm>

#include "apps/onnx/open_elements.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

Session::Session(const std::string &path, CompileOptions options)
    : Session(load_model(path), std::move(options)) {}

Session::Session(Model model, CompileOptions options)
    : model_(std::move(model)),
      options_(std::move(options)),
      is_random_(takes_random_key(model_.graph)) {
  if (!options_.random) options_.random = std::make_shared<RandomSource>();
  if (!options_.kernels) options_.kernels = std::make_shared<KernelCache>();
}

std::vector<std::string> Session::input_names() const {
  std::vector<std::string> names;
  for (ValueId v : model_.graph.inputs) names.push_back(model_.graph.value(v).name);
  return names;
}

std::vector<std::string> Session::output_names() const {
  std::vector<std::string> names;
  for (ValueId v : model_.graph.outputs) names.push_back(model_.graph.value(v).name);
  return names;
}

const Value &Session::input(const std::string &name) const {
  for (ValueId v : model_.graph.inputs) {
    if (model_.graph.value(v).name == name) return model_.graph.value(v);
  }
  user_error("the model has no input '" + name + "'", "its inputs have other names",
             "use one of them");
}

namespace {

std::string elements_key(const Constant &c) {
  const std::vector<uint8_t> bytes = c.packed();
  return shape_text(c.shape()) + std::string(bytes.begin(), bytes.end()) + ";";
}

bool has_symbol(const Shape &shape, const std::set<std::string> &symbols) {
  return std::any_of(shape.begin(), shape.end(), [&](const Dim &d) {
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const std::string &s) { return d == Dim::symbol(s); });
  });
}

// What makes these values, as a model.
Model maker_of(const Graph &g, const std::string &path, const std::set<ValueId> &values) {
  Model m;
  m.path = path;
  m.graph = g;
  m.graph.findings.reset();
  m.graph.assumed_zero.clear();
  m.graph.outputs.assign(values.begin(), values.end());
  m.graph = remove_dead_nodes(std::move(m.graph));
  return m;
}

// Whether v is computed from what a run is about, an image or words, and not of shapes and of sizes
// that a caller gives. Each run would have other elements, and making them first is much of its
// work.
bool follows_data(const Graph &g, ValueId v) {
  std::map<ValueId, const Node *> makers;
  for (const Node &n : g.nodes) {
    for (ValueId result : n.outputs) makers[result] = &n;
  }
  const std::set<ValueId> inputs(g.inputs.begin(), g.inputs.end());
  std::set<ValueId> seen;
  std::vector<ValueId> next = {v};
  while (!next.empty()) {
    const ValueId at = next.back();
    next.pop_back();
    if (at == kNone || g.value(at).constant || !seen.insert(at).second) continue;
    if (inputs.count(at) && !may_be_open(g.value(at))) return true;
    const auto maker = makers.find(at);
    if (maker == makers.end()) continue;
    const Node &n = *maker->second;
    if (n.domain.empty() && (n.op == "Shape" || n.op == "Size")) continue;
    next.insert(next.end(), n.inputs.begin(), n.inputs.end());
  }
  return false;
}

}  // namespace

const Constant &Session::given(const Program::Tensors &inputs, const std::string &name) const {
  const auto at = inputs.find(name);
  if (at == inputs.end()) {
    user_error("input '" + name + "' is missing", "it decides about shapes",
               "give a tensor of this name");
  }
  return at->second;
}

// The sizes of inputs that these symbols are.
void Session::take_sizes(const std::set<std::string> &symbols, const Program::Tensors &inputs,
                         CompileOptions *options, std::string *key) const {
  for (ValueId v : model_.graph.inputs) {
    const Value &value = model_.graph.value(v);
    if (!value.shape || options->shapes.count(value.name)) continue;
    for (size_t d = 0; d < value.shape->size(); d++) {
      for (const std::string &s : symbols) {
        if (options->sizes.count(s) || (*value.shape)[d] != Dim::symbol(s)) continue;
        const std::vector<int64_t> &shape = given(inputs, value.name).shape();
        if (shape.size() != value.shape->size()) continue;  // the run refuses it
        options->sizes[s] = shape[d];
        *key += s + "=" + std::to_string(shape[d]) + ";";
      }
    }
  }
}

// Sizes that inputs leave open; `differing` are those that differ between inputs, and have none.
std::map<std::string, int64_t> Session::sizes_of(const Program::Tensors &inputs,
                                                 std::set<std::string> *differing) const {
  std::map<std::string, int64_t> sizes;
  for (ValueId v : model_.graph.inputs) {
    const Value &value = model_.graph.value(v);
    const auto tensor = inputs.find(value.name);
    if (!value.shape || tensor == inputs.end()) continue;
    const std::vector<int64_t> &shape = tensor->second.shape();
    if (shape.size() != value.shape->size()) continue;  // the run refuses it
    for (size_t d = 0; d < shape.size(); d++) {
      std::set<std::string> symbols;
      (*value.shape)[d].add_symbols(&symbols);
      if (symbols.size() != 1 || (*value.shape)[d] != Dim::symbol(*symbols.begin())) continue;
      const auto [at, fresh] = sizes.emplace(*symbols.begin(), shape[d]);
      if (!fresh && at->second != shape[d]) differing->insert(at->first);
    }
  }
  for (const std::string &s : *differing) sizes.erase(s);
  return sizes;
}

// Runs what makes the wanted values.
// False where what is open has changed.
bool Session::find(const Program &p, const std::string &at, const Program::Tensors &inputs,
                   CompileOptions *options, std::string *key) {
  bool changed = false;
  for (ValueId v : p.needs().shapes) changed = closes(p, v) || changed;
  for (ValueId v : p.needs().elements) {
    const Value &value = p.graph().value(v);
    if (closed_.count(value.name) || !may_be_open(value) || !follows_data(p.graph(), v)) continue;
    changed = open_.insert(value.name).second || changed;
  }
  if (changed) return false;
  std::shared_ptr<Session> &maker = makers_[at];
  if (!maker) {
    std::set<ValueId> values = p.needs().elements;
    values.insert(p.needs().shapes.begin(), p.needs().shapes.end());
    CompileOptions own = options_;
    own.findings.elements = options->findings.elements;
    own.findings.sizes = options->findings.sizes;
    maker = std::make_shared<Session>(maker_of(p.graph(), model_.path, values), own);
  }
  const Program::Tensors found = maker->run(inputs);
  for (ValueId v : p.needs().elements) {
    const std::string &name = p.graph().value(v).name;
    if (opens(p.graph().value(v), elements_key(found.at(name)))) return false;
    if (!options->findings.elements.emplace(name, found.at(name)).second) continue;
    *key += name + ":" + elements_key(found.at(name));
  }
  for (ValueId v : p.needs().shapes) {
    const Value &value = p.graph().value(v);
    const std::vector<int64_t> &shape = found.at(value.name).shape();
    for (size_t d = 0; d < shape.size(); d++) {
      std::set<std::string> symbol;
      (*value.shape)[d].add_symbols(&symbol);
      if (symbol.size() != 1 || (*value.shape)[d] != Dim::symbol(*symbol.begin())) continue;
      if (!options->findings.sizes.emplace(*symbol.begin(), shape[d]).second) continue;
      *key += *symbol.begin() + "=" + std::to_string(shape[d]) + ";";
    }
  }
  return true;
}

bool Session::has_last_shapes(const Program::Tensors &inputs) const {
  for (size_t i = 0; i < model_.graph.inputs.size(); i++) {
    const auto tensor = inputs.find(model_.graph.value(model_.graph.inputs[i]).name);
    if (tensor == inputs.end() || tensor->second.shape() != last_shapes_[i]) return false;
  }
  return true;
}

std::shared_ptr<const Program> Session::program_for(const Program::Tensors &inputs) {
  if (is_random_ && !inputs.count(kRandomKey)) {
    // Any key will do, and none of the runs' is spent.
    Program::Tensors all = inputs;
    all[kRandomKey] = RandomSource(0).next();
    return program_for(all, {});
  }
  return program_for(inputs, {});
}

std::shared_ptr<const Program> Session::program_for(const Program::Tensors &inputs,
                                                    const std::set<std::string> &numbers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (numbers.empty() && last_ && has_last_shapes(inputs)) return last_;
  while (true) {
    if (auto p = try_program_for(inputs, numbers)) return p;
  }
}

std::shared_ptr<const Program> Session::compiled(const std::string &key,
                                                 const CompileOptions &options) {
  auto at = programs_.find(key);
  if (at == programs_.end())
    at = programs_.emplace(key, std::make_shared<const Program>(model_, options)).first;
  return at->second;
}

std::shared_ptr<const Program> Session::try_program_for(const Program::Tensors &inputs,
                                                        const std::set<std::string> &numbers) {
  CompileOptions options = options_;
  options.findings.open = open_;
  options.findings.numbers = numbers;
  std::string key;
  for (const std::string &name : open_) key += "open " + name + ";";
  for (const std::string &symbol : numbers) key += "number " + symbol + ";";
  // Exporters give one name to sizes that are not the same: those inputs have shapes of their own.
  std::set<std::string> differing;
  const std::map<std::string, int64_t> sizes = sizes_of(inputs, &differing);
  for (ValueId v : model_.graph.inputs) {
    const Value &value = model_.graph.value(v);
    const auto tensor = inputs.find(value.name);
    if (tensor == inputs.end() || (value.shape && !has_symbol(*value.shape, differing))) continue;
    options.shapes[value.name] = tensor->second.shape();
    key += value.name + shape_text(tensor->second.shape()) + ";";
  }
  // False where all are constants already.
  const auto fix_sizes = [&] {
    bool any = false;
    for (const auto &[symbol, size] : sizes) {
      if (!options.sizes.emplace(symbol, size).second) continue;
      key += symbol + "=" + std::to_string(size) + ";";
      any = true;
    }
    return any;
  };
  if (options_.first_sizes && !first_) first_ = sizes;
  if (needs_numbers_ || (options_.first_sizes && sizes == *first_)) fix_sizes();
  // What decides about shapes is found one layer at a time: what follows from it may decide about
  // others.
  bool by_shapes = numbers.empty();  // do shapes alone decide?
  constexpr int kMostLayers = 1000;
  for (int layer = 0; layer < kMostLayers; layer++) {
    std::shared_ptr<const Program> p;
    try {
      p = compiled(key, options);
    } catch (const CompileError &) {
      if (!open_.empty()) {
        // An operator that takes no open sizes says so in words of its own.
        closed_.insert(open_.begin(), open_.end());
        open_.clear();
        return nullptr;
      }
      // What fits for no size may do so for these: 1 meets all others.
      if (!fix_sizes()) throw;
      needs_numbers_ = true;
      continue;
    }
    const std::string before = key;
    const Needs &needs = p->needs();
    take_sizes(needs.empty() ? p->unequal_sizes(inputs) : needs.sizes, inputs, &options, &key);
    for (ValueId v : needs.inputs) {
      const Value &value = p->graph().value(v);
      const Constant &elements = given(inputs, value.name);
      if (opens(value, elements_key(elements))) return nullptr;
      if (!options.constants.emplace(value.name, elements).second) continue;
      key += value.name + ":" + elements_key(elements);
    }
    if ((!needs.elements.empty() || !needs.shapes.empty()) &&
        !find(*p, before, inputs, &options, &key))
      return nullptr;
    by_shapes = by_shapes && needs.inputs.empty() && needs.elements.empty() && needs.shapes.empty();
    if (key != before) continue;
    if (needs.empty()) {
      if (by_shapes) remember(inputs, p);
      return p;
    }
    break;
  }
  user_error("the model cannot be compiled for these inputs",
             "sizes that decide about shapes do not follow from them",
             "export the model with fixed shapes");
}

// Elements that decide are written into the program; where they turn out to change, they are open.
bool Session::opens(const Value &v, const std::string &elements) {
  if (closed_.count(v.name) || open_.count(v.name) || !may_be_open(v)) return false;
  std::set<std::string> &met = met_[v.name];
  met.insert(elements);
  if (met.size() < 2) return false;
  open_.insert(v.name);
  return true;
}

// The sizes that are this shape have to be numbers: where ReadSizes made them, they are no longer
// open.
bool Session::closes(const Program &p, ValueId shape) {
  for (const Node &n : p.graph().nodes) {
    if (n.op != "ReadSizes" || n.domain != kInternalDomain || n.outputs[1] != shape) continue;
    const std::string &name = p.graph().value(n.inputs[0]).name;
    open_.erase(name);
    return closed_.insert(name).second;
  }
  return false;
}

void Session::remember(const Program::Tensors &inputs, std::shared_ptr<const Program> p) {
  last_.reset();
  last_shapes_.clear();
  for (ValueId v : model_.graph.inputs) {
    const auto tensor = inputs.find(model_.graph.value(v).name);
    if (tensor == inputs.end()) return;  // the run refuses it
    last_shapes_.push_back(tensor->second.shape());
  }
  last_ = std::move(p);
}

std::shared_ptr<const Program> Session::program_by_shapes(const Program::Tensors &inputs) {
  program_for(inputs);
  const std::lock_guard<std::mutex> lock(mutex_);
  return last_ && has_last_shapes(inputs) ? last_ : nullptr;
}

Session::Run Session::run_program(const Program::Tensors &inputs, std::vector<KernelTime> *times) {
  const Program::Tensors all = is_random_ ? with_random_key(inputs) : inputs;
  std::set<std::string> numbers;
  while (true) {
    const std::shared_ptr<const Program> p = program_for(all, numbers);
    try {
      return {p, p->run(all, times)};
    } catch (const UnequalSizes &unequal) {
      const size_t before = numbers.size();
      numbers.insert(unequal.symbols.begin(), unequal.symbols.end());
      if (numbers.size() == before) throw;
    }
  }
}

Program::Tensors Session::with_random_key(const Program::Tensors &inputs) const {
  Program::Tensors all = inputs;
  if (is_random_ && !all.count(kRandomKey)) all[kRandomKey] = options_.random->next();
  return all;
}

}  // namespace polyhalite::onnx
