// lane_turns: lanes of an atomic update take turns. What lowering makes of
//
//   vector v { serial i { atomic { f(cell) = ... } } }    is    serial i { serial v { f(cell) = ...
//   } }
//
// so that the update needs no operator that is free of order, as long as no two instances on one
// cell change places.
#pragma once

#include "polyhedral/conflict.h"

namespace polyhalite {

/// Two instances on one cell that run in the algorithm's order no more where the lanes of `loop`, a
/// vector loop of the stage, take turns inside of the loops that it encloses. Lowering may keep
/// some of these inside, which changes no more places than the loops' own order and this one do.
ConflictAnswer find_swapped_lanes(JudgeContext &c, StageId stage, const LoopInfo &loop);

}  // namespace polyhalite
