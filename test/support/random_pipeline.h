// Random algorithms with random directive lists, drawn without asking the judge.
#pragma once

#include <cstdint>
#include <vector>

#include "lang/ir/freeze.h"
#include "test/support/dice.h"

namespace polyhalite::test {

struct RandomPipeline {
  FrozenPipeline frozen;
  std::vector<int> output_min, output_extent;  // of the one output
};

/// Inputs are images "in" (2-D) and "table" (1-D, uint8). Values of Int(32) and Int(64) stay far
/// from overflow; floats stand under strict_float, so that every legal order gives the same bits.
RandomPipeline random_pipeline(uint64_t seed);

}  // namespace polyhalite::test
