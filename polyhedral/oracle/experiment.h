// experiment: the concrete numbers of one enumeration: parameters, buffers, the images' data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "polyhedral/oracle/evaluate.h"

namespace polyhalite::oracle {

struct Extent {
  int64_t min = 0, extent = 0;
};

struct Experiment {
  /// Of outputs, required; of images, where the algorithm or the schedule asks for their fields. An
  /// image that is absent holds whatever is read.
  std::map<std::string, std::vector<Extent>> buffers;
  std::map<std::string, double> params;  // scalars; one that is absent is 3
  uint64_t seed = 0;                     // of the images' data
};

/// Answers for an experiment's parameters, fields and images.
class Data {
 public:
  explicit Data(const Experiment &experiment) : experiment_(experiment) {}
  /// Params and buffer fields; strides are those of a dense buffer, dimension 0 innermost.
  std::optional<Value> constant(const VariableNode &v) const;
  /// An image's element: random by seed, name and place; 8-bit types take all values where the seed
  /// is even, else below 8; wider ones small ones. A constant Buffer's element; 0 outside of it.
  Value image(const CallNode &call, const Coordinates &at) const;

 private:
  const Experiment &experiment_;
};

}  // namespace polyhalite::oracle
