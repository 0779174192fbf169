// What a split does where its factor does not divide the loop's extent.
#pragma once

namespace polyhalite {

enum class TailStrategy {
  /// ShiftInwards for pure definitions, RoundUp for pure variables of updates, GuardWithIf for
  /// reduction variables.
  Auto,
  /// Round the extent up: the stage, its producers and its storage grow.
  RoundUp,
  /// Guard the inner loop's body by an if.
  GuardWithIf,
  /// Shift the last tile inwards, recomputing equal values. Pure definitions only; the extent must
  /// be at least the factor.
  ShiftInwards,
};

}  // namespace polyhalite
