// ItemSession: the door for models whose inputs or outputs may be sequences or optional values: a
// Session for each number of elements, and for what is there and what is not.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apps/onnx/item.h"
#include "apps/onnx/session.h"

namespace polyhalite::onnx {

class ItemSession {
 public:
  /// CompileError with every problem of the file.
  explicit ItemSession(const std::string &path, CompileOptions options = {});
  explicit ItemSession(Model model, CompileOptions options = {});

  const Model &model() const { return model_; }
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;
  /// Of a sequence or an optional value type and shape of its elements.
  const Value &input(const std::string &name) const;
  ItemForm form(const std::string &name) const;

  /// The Session for inputs of this kind, and what it takes for them.
  struct Prepared {
    std::shared_ptr<Session> session;
    Program::Tensors tensors;  // element i of the sequence x is "x[i]"
  };
  /// Optional inputs that are left out are absent. CompileError for an input of another kind.
  Prepared prepare(const Items &inputs);
  /// What outputs of a program are.
  static Items items(const Program &program, const Program::Tensors &outputs);
  /// Outputs by name, for inputs by name. See Program::run().
  Items run(const Items &inputs);

 private:
  Model model_;
  CompileOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;  // by what is there
};

}  // namespace polyhalite::onnx
