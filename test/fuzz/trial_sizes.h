// The sizes of a trial: its scalar, boxes of its outputs, and what a survey's expressions are then.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "polyhedral/survey.h"
#include "test/fuzz/guarded_buffer.h"

namespace polyhalite::test {

/// Larger boxes come from degenerate indices and are not run.
constexpr int64_t kMaxExtent = 400;

/// What scalars are where the drawn one meets no entry check.
constexpr int32_t kScalar = 3;
/// Of half of all seeds kScalar, of a tenth a number that is no size.
int32_t draw_scalar(uint64_t seed);

/// An output: its Func, what is wanted of it.
struct Output {
  std::string func;
  std::vector<std::string> buffers;  // one for each value
  std::vector<Type> types;
  Extents box;
};

using Environment = std::map<std::string, Expr>;

/// With the outputs' fields, the scalar and the survey's root symbols as numbers.
Environment environment(const std::vector<Output> &outputs, const Survey &survey, int32_t scalar);
std::optional<int64_t> evaluate(const Expr &e, const Environment &env);

/// Grows the outputs until the entry checks hold; false where they cannot or the boxes are too
/// large.
bool fit_outputs(std::vector<Output> &outputs, const Survey &survey, int32_t scalar);

}  // namespace polyhalite::test
