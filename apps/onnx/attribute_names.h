// Which attributes operators of the main domain have, in which versions.
#pragma once

#include <string>

namespace polyhalite::onnx {

/// Why this version of the operator has no such attribute, for a message; "" where it has one, or
/// where the operator is none of the format's.
std::string why_unknown(const std::string &op, int version, const std::string &attribute);

}  // namespace polyhalite::onnx
