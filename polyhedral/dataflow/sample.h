// sample: one element of a relation, with small numbers, for a message.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "polyhedral/dataflow/isl_values.h"

namespace polyhalite::dataflow {

struct Sample {
  std::map<std::string, int64_t> parameters;
  std::string text;  // "with f.extent.0 = 9: (3, 0) and (4, 0)"
};

/// Of a relation that is not empty.
Sample sample_of(const UnionMap &relation);

}  // namespace polyhalite::dataflow
