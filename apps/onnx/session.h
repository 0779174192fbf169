// Session: the door for programs that run models: load, then run with named tensors. Compiles for
// the sizes it meets, and keeps what it has compiled.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apps/onnx/program.h"

namespace polyhalite::onnx {

class Session {
 public:
  /// CompileError with every problem of the file.
  explicit Session(const std::string &path, CompileOptions options = {});
  explicit Session(Model model, CompileOptions options = {});

  const Model &model() const { return model_; }
  /// Names of the inputs that a caller gives, and of the outputs.
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
  const Value &input(const std::string &name) const;

  /// The program for these inputs: for their elements, where those decide about shapes.
  std::shared_ptr<const Program> program_for(const Program::Tensors &inputs);
  Program::Tensors run(const Program::Tensors &inputs);

 private:
  Model model_;
  CompileOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;
};

}  // namespace polyhalite::onnx
