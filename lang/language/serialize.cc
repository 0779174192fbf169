#include "polyhalite/serialize.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "lang/ir/freeze.h"
#include "lang/ir/thaw.h"
#include "lang/language/pipeline_contents.h"
#include "lang/output_file.h"
#include "polyhalite/backend.h"

namespace polyhalite {

namespace {

std::string text_of(const Pipeline &pipeline, std::map<std::string, Parameter> *params) {
  if (!pipeline.defined()) {
    user_error("an undefined Pipeline is serialized", "it has no outputs",
               "construct it from its output Funcs");
  }
  const FrozenPipeline frozen = freeze_pipeline(*pipeline.pipeline_contents());
  if (params) {
    for (size_t i = 0; i < frozen.bindings.size(); i++) {
      params->insert_or_assign(frozen.algorithm.inputs[i].param->name,
                               Parameter(frozen.bindings[i]));
    }
  }
  return backend().emit_text(frozen, "pipeline", get_host_target(), Emit::hlpipe);
}

std::string read_text(std::istream &in) {
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

std::string read_file(const std::string &filename) {
  errno = 0;
  std::ifstream file(filename, std::ios::binary);
  if (!file) {
    user_error("cannot read the pipeline '" + filename + "'", std::strerror(errno),
               "name a file that serialize_pipeline wrote");
  }
  return read_text(file);
}

Pipeline pipeline_of(const std::string &text, const std::string &name,
                     const std::map<std::string, Parameter> &params) {
  std::map<std::string, std::shared_ptr<ParameterContents>> inputs;
  for (const auto &[name_of_input, param] : params) inputs[name_of_input] = param.contents();
  ThawedPipeline thawed = thaw(backend().parse_pipeline(text, name), inputs);
  std::vector<Func> outputs;
  for (auto &f : thawed.outputs) outputs.emplace_back(f);
  Pipeline pipeline(outputs);
  pipeline.pipeline_contents()->requirements = std::move(thawed.requirements);
  return pipeline;
}

std::map<std::string, Parameter> parameters_of(const std::string &text, const std::string &name) {
  std::map<std::string, Parameter> params;
  for (const AlgorithmInput &i : backend().parse_pipeline(text, name).algorithm.inputs) {
    params.emplace(i.param->name, Parameter(i.param));
  }
  return params;
}

constexpr const char *kInMemory = "pipeline";

std::string text_of(const std::vector<uint8_t> &data) {
  return std::string(data.begin(), data.end());
}

}  // namespace

void serialize_pipeline(const Pipeline &pipeline, std::vector<uint8_t> &data) {
  const std::string text = text_of(pipeline, nullptr);
  data.assign(text.begin(), text.end());
}

void serialize_pipeline(const Pipeline &pipeline, std::vector<uint8_t> &data,
                        std::map<std::string, Parameter> &params) {
  const std::string text = text_of(pipeline, &params);
  data.assign(text.begin(), text.end());
}

void serialize_pipeline(const Pipeline &pipeline, const std::string &filename) {
  write_file(filename, text_of(pipeline, nullptr), "the pipeline");
}

void serialize_pipeline(const Pipeline &pipeline, const std::string &filename,
                        std::map<std::string, Parameter> &params) {
  write_file(filename, text_of(pipeline, &params), "the pipeline");
}

Pipeline deserialize_pipeline(const std::string &filename,
                              const std::map<std::string, Parameter> &params) {
  return pipeline_of(read_file(filename), filename, params);
}

Pipeline deserialize_pipeline(std::istream &in, const std::map<std::string, Parameter> &params) {
  return pipeline_of(read_text(in), kInMemory, params);
}

Pipeline deserialize_pipeline(const std::vector<uint8_t> &data,
                              const std::map<std::string, Parameter> &params) {
  return pipeline_of(text_of(data), kInMemory, params);
}

std::map<std::string, Parameter> deserialize_parameters(const std::string &filename) {
  return parameters_of(read_file(filename), filename);
}

std::map<std::string, Parameter> deserialize_parameters(std::istream &in) {
  return parameters_of(read_text(in), kInMemory);
}

std::map<std::string, Parameter> deserialize_parameters(const std::vector<uint8_t> &data) {
  return parameters_of(text_of(data), kInMemory);
}

}  // namespace polyhalite
