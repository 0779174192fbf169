// What the format allows attributes to say, of those that are one word of a few.
#pragma once

#include <string>
#include <vector>

namespace polyhalite::onnx {

/// Empty where any text is, or is looked at by the operator itself.
std::vector<std::string> allowed_texts(const std::string &op, const std::string &attribute);

}  // namespace polyhalite::onnx
