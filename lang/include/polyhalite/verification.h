// How much of its own work the compiler checks.
#pragma once

#include <cstdint>
#include <string>

namespace polyhalite {

enum class Verification : uint8_t {
  None,    ///< schedules are proven, as always
  Passes,  ///< the loop IR is checked after each pass
  Full,    ///< and the lowered loops are proven a second time against the algorithm
};

/// None, passes or full. CompileError for another word.
Verification verification_from_name(const std::string &name);

/// For all compilations of this process that begin later, in place of PH_VERIFY. Where a check
/// fails, the compilation throws InternalError: the compiler is at fault then, not the schedule.
void set_verification(Verification wanted);

/// What set_verification() said; else what the environment's PH_VERIFY says: 0, passes or full. In
/// builds without optimisation at least Passes.
Verification verification();

}  // namespace polyhalite
