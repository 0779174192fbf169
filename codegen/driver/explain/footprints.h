// footprints: how often loops run, and how much memory they touch, in numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/freeze.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Of the first run of a loop, the loops around it standing at their beginnings.
struct LoopNumbers {
  std::optional<int64_t> extent;
  /// The bytes that all its iterations touch, of Funcs and images: for each of them the box of what
  /// is read and written. Null where an index is not bounded by sizes.
  std::optional<double> bytes;
  std::map<std::string, double> bytes_of;  // by Func or image
};

struct Footprints {
  std::vector<LoopNumbers> loops;                       // [loop of the tree]
  std::map<std::string, std::optional<double>> stored;  // bytes of one storage, by Func
  /// What is not known where numbers are missing: "no estimates: ...". Empty: all sizes are known.
  std::string missing;
};

/// For the sizes that set_estimate and its kin say, or constraints imply.
Footprints footprints(const FrozenPipeline &pipeline, const LoopTree &tree, const Survey &survey);

}  // namespace polyhalite
