// Item: what an input or output of a model is: a tensor, a sequence of tensors, or nothing.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "apps/onnx/constant.h"

namespace polyhalite::onnx {

/// What a model says of an input or output.
struct ItemForm {
  bool optional = false, sequence = false;
  bool is_tensor() const { return !optional && !sequence; }
};

/// Nothing stands for an optional value that is absent.
using Item = std::variant<std::monostate, Constant, std::vector<Constant>>;
using Items = std::map<std::string, Item>;

}  // namespace polyhalite::onnx
