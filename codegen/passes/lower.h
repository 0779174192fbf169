// lower: a judged loop tree becomes loop IR at the multi-dimensional level.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/ir/stmt.h"
#include "codegen/passes/trace.h"
#include "polyhedral/survey.h"

namespace polyhalite {

struct LowerOptions {
  bool bounds_queries = true;        // a call with a buffer without memory asks for shapes
  int64_t buffer_limit = INT64_MAX;  // bytes that one buffer may have
  std::string memory_name;           // under which memoized Funcs are kept: unique, so that no
                                     // other compilation takes their values; empty: the name
  TraceAll trace_all;
  bool profile = false;  // is the pipeline measured?
};

/// Loops, symbols, guards and allocations exactly as surveyed, with the entry checks in front, and
/// between them the answer to bounds queries.
Function lower(const std::string &name, const LoopTree &tree, const Survey &survey,
               const LowerOptions &options = {});

}  // namespace polyhalite
