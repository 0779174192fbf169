// What the format says of its operators, whether or not they are supported here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace polyhalite::onnx {

inline constexpr int kNewestOpset = 28;

struct OperatorFacts {
  const char *name;
  std::vector<int> versions;                     // opsets in which the operator came or changed
  int fewest_inputs, most_inputs, most_outputs;  // -1: any number
  /// The version that a model of this opset means; 0 where it has none.
  int version_in(int64_t opset) const;
};

/// Null for a name that the main domain has not.
const OperatorFacts *find_operator(const std::string &name);

}  // namespace polyhalite::onnx
