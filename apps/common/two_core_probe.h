// Do two cores deliver what two cores should? Machines that share their cores often do not, for
// seconds at a time, and two-thread timings from such times say nothing.
#pragma once

namespace polyhalite_apps {

struct ProbeResult {
  double one_core = 0;   // GFLOP/s of fused multiply-adds, the better of the two cores alone
  double two_cores = 0;  // both at once
  double ratio() const { return one_core > 0 ? two_cores / one_core : 0; }
};

/// Both cores must deliver this many times one core.
constexpr double kTwoCoreRatio = 1.8;

/// Runs f32 fused multiply-adds of the widest vectors that the machine has, on each of the first
/// two cores that this process may use and then on both; takes about 20 ms. With one core,
/// `two_cores` is 0.
ProbeResult probe_two_cores();

}  // namespace polyhalite_apps
