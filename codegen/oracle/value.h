// Values of loop IR as the interpreter holds them, and the arithmetic on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite {

/// One lane: sign- or zero-extended bits of an integer, or a float that is exact in `f`.
union Lane {
  int64_t i;
  uint64_t u;
  double f;
};

struct LaneValues {
  Type type;
  std::vector<Lane> lanes;
};

/// Brings a lane into the range of its type: integers wrap, float32 rounds.
Lane wrap_lane(Type t, Lane v);
/// One lane of a op b, operands of type t; comparisons give 0 or 1.
Lane lane_of_binary(Op op, Type t, Lane a, Lane b);
Lane lane_of_cast(Type to, Type from, Lane a);
/// One lane of an intrinsic or a math function, operands of type `from`. Throws InternalError where
/// the interpreter does not know it.
Lane lane_of_call(const CallNode &call, const std::vector<Lane> &args);

/// An element in memory.
Lane read_element(Type t, const uint8_t *p);
void write_element(Type t, Lane v, uint8_t *p);
std::string to_text(Type t, Lane v);

}  // namespace polyhalite
