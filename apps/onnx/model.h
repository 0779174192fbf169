// Model: an ONNX file as a graph, whatever it says of training, documentation and versions removed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/onnx/graph.h"
#include "apps/onnx/item.h"

namespace polyhalite::onnx {

struct Model {
  std::string path;
  int64_t ir_version = 0, opset = 0;
  std::string producer;
  Graph graph;
  // Of inputs and outputs that are sequences or optional values; an input's type and shape are
  // those of its elements.
  std::map<std::string, ItemForm> forms;
  std::vector<std::string> notes;  // parts of the file that nothing here reads
};

/// Throws CompileError with every problem found: what is no model, unknown or unsupported
/// operators, names without definition, cycles, weights that lie outside of their file.
Model load_model(const std::string &path);
/// The same for a model in memory, which must outlive the result; external data is looked for in
/// `folder`.
Model load_model(const uint8_t *bytes, size_t size, const std::string &name,
                 const std::string &folder, std::shared_ptr<const void> owner = nullptr);

/// A file that holds one tensor (input_0.pb of test data).
Constant load_tensor(const std::string &path);

}  // namespace polyhalite::onnx
