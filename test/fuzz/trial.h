// What is done with one case of the differential test.
#pragma once

#include "test/fuzz/case_text.h"
#include "test/fuzz/differential_counts.h"
#include "test/fuzz/trial_card.h"

namespace polyhalite::test {

/// Judges the case, holds the verdict against enumeration, and runs what is accepted on the loop
/// IR's interpreter and as compiled code against the interpreter; `device` runs its kernels. On a
/// real card the compiled code alone is run. Adds to the counts; throws what it does not expect.
void run_trial(const Case &c, DifferentialCounts &counts, Device device = Device::None);

/// What the case of this seed is compiled for.
Target trial_target(uint64_t seed, Device device);

/// Judges it only.
void judge_trial(const Case &c, DifferentialCounts &counts);

}  // namespace polyhalite::test
