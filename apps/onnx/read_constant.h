// From the messages of tensors to constants: every size checked, external files included.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "apps/onnx/constant.h"
#include "apps/onnx/mapped_file.h"
#include "apps/onnx/proto.h"

namespace polyhalite::onnx {

/// Files beside a model that hold its weights, each mapped once.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}
  /// The file of this name, relative to the folder. CompileError for names that leave the folder,
  /// by "..", by an absolute path or through a symbolic link.
  std::shared_ptr<const MappedFile> open(const std::string &location, const std::string &tensor);

 private:
  std::string folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

/// CompileError that names the tensor: a type that is not supported, sizes that do not fit the
/// data, a negative or overflowing shape, wrong external data. Elements in the model's file are
/// viewed, `owner` keeps it.
Constant read_constant(const TensorProto &t, ExternalFiles *files,
                       const std::shared_ptr<const void> &owner);

}  // namespace polyhalite::onnx
