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

std::string text_of(const Pipeline &pipeline, std::map<std::string, Argument> *params) {
  if (!pipeline.defined()) {
    user_error("an undefined Pipeline is serialized", "it has no outputs",
               "construct it from its output Funcs");
  }
  const FrozenPipeline frozen = freeze(pipeline.pipeline_contents()->outputs);
  if (params) {
    for (size_t i = 0; i < frozen.bindings.size(); i++) {
      params->insert_or_assign(frozen.algorithm.inputs[i].param->name,
                               Argument(frozen.bindings[i]));
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
                     const std::map<std::string, Argument> &params) {
  std::map<std::string, std::shared_ptr<Parameter>> inputs;
  for (const auto &[param, argument] : params) inputs[param] = argument.parameter();
  std::vector<Func> outputs;
  for (auto &f : thaw(backend().parse_pipeline(text, name), inputs)) outputs.emplace_back(f);
  return Pipeline(outputs);
}

std::map<std::string, Argument> parameters_of(const std::string &text, const std::string &name) {
  std::map<std::string, Argument> params;
  for (const AlgorithmInput &i : backend().parse_pipeline(text, name).algorithm.inputs) {
    params.emplace(i.param->name, Argument(i.param));
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
                        std::map<std::string, Argument> &params) {
  const std::string text = text_of(pipeline, &params);
  data.assign(text.begin(), text.end());
}

void serialize_pipeline(const Pipeline &pipeline, const std::string &filename) {
  write_file(filename, text_of(pipeline, nullptr), "the pipeline");
}

void serialize_pipeline(const Pipeline &pipeline, const std::string &filename,
                        std::map<std::string, Argument> &params) {
  write_file(filename, text_of(pipeline, &params), "the pipeline");
}

Pipeline deserialize_pipeline(const std::string &filename,
                              const std::map<std::string, Argument> &params) {
  return pipeline_of(read_file(filename), filename, params);
}

Pipeline deserialize_pipeline(std::istream &in, const std::map<std::string, Argument> &params) {
  return pipeline_of(read_text(in), kInMemory, params);
}

Pipeline deserialize_pipeline(const std::vector<uint8_t> &data,
                              const std::map<std::string, Argument> &params) {
  return pipeline_of(text_of(data), kInMemory, params);
}

std::map<std::string, Argument> deserialize_parameters(const std::string &filename) {
  return parameters_of(read_file(filename), filename);
}

std::map<std::string, Argument> deserialize_parameters(std::istream &in) {
  return parameters_of(read_text(in), kInMemory);
}

std::map<std::string, Argument> deserialize_parameters(const std::vector<uint8_t> &data) {
  return parameters_of(text_of(data), kInMemory);
}

}  // namespace polyhalite
