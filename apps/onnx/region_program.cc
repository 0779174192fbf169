#include "apps/onnx/region_program.h"

#include <algorithm>

namespace polyhalite::onnx {

RegionProgram::RegionProgram(const Graph &g, const Node &n, const std::string &attribute,
                             size_t captures, const CompileOptions &options)
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

Program::Tensors RegionProgram::named(const std::vector<Constant> &operands) const {
  Program::Tensors inputs;
  for (size_t k = 0; k < region_->inputs.size(); k++)
    inputs[region_->value(region_->inputs[k]).name] = operands.at(k);
  return inputs;
}

std::vector<Constant> RegionProgram::run(const std::vector<Constant> &operands) const {
  const Program::Tensors results = session_->run(named(operands));
  std::vector<Constant> list;
  for (ValueId v : region_->outputs) list.push_back(results.at(region_->value(v).name));
  return list;
}

std::shared_ptr<const Program> RegionProgram::program_by_shapes(
    const std::vector<Constant> &operands) const {
  return session_->program_by_shapes(named(operands));
}

size_t RegionProgram::position(const std::string &name) const {
  const auto &inputs = region_->inputs;
  const auto at = std::find_if(inputs.begin(), inputs.end(),
                               [&](ValueId v) { return region_->value(v).name == name; });
  internal_check(at != inputs.end(), "a program has inputs that its region has not");
  return static_cast<size_t>(at - inputs.begin());
}

}  // namespace polyhalite::onnx
