#include "polyhedral/dataflow/stop.h"

namespace polyhalite::dataflow {

namespace {

bool answered(isl_bool answer) {
  if (answer == isl_bool_error) undecided("isl gave up");
  return answer == isl_bool_true;
}

}  // namespace

void undecided(const std::string &why) { throw Stop{Finding::Undecided, why}; }

bool is_empty(const UnionMap &m) { return answered(isl_union_map_is_empty(m.get())); }
bool is_empty(const Map &m) { return answered(isl_map_is_empty(m.get())); }

}  // namespace polyhalite::dataflow
