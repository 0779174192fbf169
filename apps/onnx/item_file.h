// Files of one input or output: input_0.pb of test data.
#pragma once

#include <string>

#include "apps/onnx/item.h"

namespace polyhalite::onnx {

/// What a file holds of an input or output of this form: TensorProto, SequenceProto or
/// OptionalProto. CompileError for what is none.
Item load_item(const std::string &path, ItemForm form);

}  // namespace polyhalite::onnx
