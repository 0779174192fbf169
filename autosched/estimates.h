// The sizes that a pipeline is scheduled for: what set_estimate and its kin say, or what can be
// concluded without.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/freeze.h"

namespace polyhalite::autosched {

/// Inclusive on both ends.
struct NumberRange {
  int64_t lo = 0, hi = 0;
  int64_t extent() const { return hi < lo ? 0 : hi - lo + 1; }
};
using NumberBox = std::vector<NumberRange>;
double points(const NumberBox &box);

struct Estimates {
  /// Scalar Params and buffers' fields, by the names of their variables. Fields that nobody
  /// estimated are absent.
  std::map<std::string, int64_t> numbers;
  std::map<std::string, NumberBox> outputs;  // by Func
  std::vector<std::string> assumed;          // what was not given, for the report

  /// The expression with these numbers in the place of Params and fields, simplified.
  Expr with_numbers(const Expr &e) const;
};

/// Of an output, in this order: Func::set_estimate, the estimates of its buffers, constraints on
/// them, bound(). CompileError that names every output's dimension without any, and every Param
/// without estimate, default or limits that a reduction's extent depends on.
Estimates find_estimates(const FrozenPipeline &pipeline);

}  // namespace polyhalite::autosched
