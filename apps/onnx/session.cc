#include "apps/onnx/session.h"

namespace polyhalite::onnx {

Session::Session(const std::string &path, CompileOptions options)
    : Session(load_model(path), std::move(options)) {}

Session::Session(Model model, CompileOptions options)
    : model_(std::move(model)), options_(std::move(options)) {}

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

std::shared_ptr<const Program> Session::program_for(const Program::Tensors &inputs) {
  // Inputs that decide about shapes are found one layer at a time: what follows from them may
  // decide about others.
  CompileOptions options = options_;
  std::string key;
  for (ValueId v : model_.graph.inputs) {
    const Value &value = model_.graph.value(v);
    const auto given = inputs.find(value.name);
    if (value.shape || given == inputs.end()) continue;
    options.shapes[value.name] = given->second.shape();
    for (int64_t d : given->second.shape()) key += std::to_string(d) + ",";
    key += ";";
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  while (true) {
    auto at = programs_.find(key);
    if (at == programs_.end()) {
      at = programs_.emplace(key, std::make_shared<const Program>(model_, options)).first;
    }
    const Program &p = *at->second;
    if (p.needed_inputs().empty()) return at->second;
    for (ValueId v : p.needed_inputs()) {
      const std::string &name = p.graph().value(v).name;
      const auto given = inputs.find(name);
      if (given == inputs.end()) {
        user_error("input '" + name + "' is missing", "its elements decide about shapes",
                   "give a tensor of this name");
      }
      options.constants[name] = given->second;
      const std::vector<uint8_t> bytes = given->second.packed();
      key += name + ":" + std::string(bytes.begin(), bytes.end()) + ";";
    }
  }
}

Program::Tensors Session::run(const Program::Tensors &inputs) {
  return program_for(inputs)->run(inputs);
}

}  // namespace polyhalite::onnx
