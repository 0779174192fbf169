// Uses: does anybody use the values that instances compute? What whole tiles compute beyond what is
// needed may be anything.
#pragma once

#include <map>

#include "polyhedral/dataflow/relations.h"

namespace polyhalite::dataflow {

enum class Use : uint8_t { None, Some, Unknown };

class Uses {
 public:
  explicit Uses(Relations &relations) : relations_(relations) {}

  /// Of what these instances of the statement write.
  Use of(int statement, const Set &instances);

 private:
  const UnionMap &found_by_readers(int func);

  Relations &relations_;
  std::map<int, UnionMap> found_;  // [func] by its readers
};

}  // namespace polyhalite::dataflow
