// stop: what ends the proof of a Func early.
#pragma once

#include <string>

#include "polyhedral/dataflow/isl_values.h"
#include "polyhedral/dataflow/program.h"

namespace polyhalite::dataflow {

/// Thrown: ends the work on one Func.
struct Stop {
  Finding::Verdict verdict;
  std::string why;
};

[[noreturn]] void undecided(const std::string &why);

/// Undecided where isl gave up.
bool is_empty(const UnionMap &m);
bool is_empty(const Map &m);

}  // namespace polyhalite::dataflow
