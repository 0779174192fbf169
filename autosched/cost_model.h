// How long schedules take, asked for many at once: the place of a learned model.
#pragma once

#include <string>
#include <vector>

#include "autosched/plan.h"

namespace polyhalite::autosched {

class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Of what records are kept with: other versions' costs do not compare.
  virtual std::string version() const = 0;
  /// Nanoseconds of one run of each plan; infinity for one that cannot be.
  virtual std::vector<double> costs(const std::vector<const Plan *> &plans) = 0;
};

}  // namespace polyhalite::autosched
