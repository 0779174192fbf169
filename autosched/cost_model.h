// How long schedules take, asked for many at once: the place of a learned model.
#pragma once

#include <string>
#include <vector>

#include "autosched/plan.h"

namespace polyhalite::autosched {

struct Candidate {
  const Plan *plan = nullptr;
  /// A plan that differs from it in little, and stands beside others of its kind in the list: a
  /// model may ask itself only about the difference. Null: none.
  const Plan *base = nullptr;
};

class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Of what records are kept with: other versions' costs do not compare.
  virtual std::string version() const = 0;
  /// Nanoseconds of one run of each plan; infinity for one that cannot be.
  virtual std::vector<double> costs(const std::vector<Candidate> &candidates) = 0;
};

}  // namespace polyhalite::autosched
