// The plain interpreter of an algorithm, without any schedule: what every compiled pipeline is held
// against.
//
// Every Func is computed over the box of points that its consumers need: the pure definition first,
// then each update over its reduction domain (first variable innermost), pure variables outside.
// Arithmetic is exact per type: float32 operations round to float32 and are never contracted,
// narrow and unsigned integers wrap, x/0 and x%0 are 0. What has no value (signed overflow of int32
// and int64, a float that its integer cannot hold, an input outside its bounds) is an error where
// it reaches a result, and none in the branch of a select that is not taken.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lang/abi/polyhalite_runtime.h"
#include "lang/ir/algorithm.h"

namespace polyhalite {

/// Fills `outputs`: one buffer per output and value, in the order of `a.outputs`; each buffer's
/// bounds say which points are wanted. `images` and `scalars` (a value's bits, low byte first) are
/// by parameter name; absent ones are taken from what is bound to the parameter.
/// Throws CompileError for arguments that do not fit the algorithm, RuntimeError for results
/// without value; both name the Func and the place of its definition.
void interpret(const Algorithm &a, const std::map<std::string, const polyhalite_buffer_t *> &images,
               const std::map<std::string, uint64_t> &scalars,
               const std::vector<polyhalite_buffer_t *> &outputs);

}  // namespace polyhalite
