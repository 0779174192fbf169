// Random algorithms with random directive lists, drawn without asking the judge.
#pragma once

#include <cstdint>
#include <vector>

#include "lang/ir/freeze.h"
#include "test/support/random_schedule.h"

namespace polyhalite::test {

/// What the caller wants of an output, per dimension.
struct OutputBox {
  std::vector<int> min, extent;
};

struct RandomPipeline {
  FrozenPipeline frozen;
  std::vector<OutputBox> boxes;  // one for each output
};

/// Inputs are images "in" (2-D) and "table" (1-D, uint8) and an int32 "n", which is to be 3. Values
/// of Int(32) and Int(64) stay far from overflow; floats stand under strict_float, so that every
/// legal order gives the same bits.
RandomPipeline random_pipeline(uint64_t seed);
/// The same with another `check` of schedules than that a loop tree can be built.
RandomPipeline random_pipeline(uint64_t seed, const CheckSchedule &check);

}  // namespace polyhalite::test
