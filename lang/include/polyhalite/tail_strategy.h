// What a split does where its factor does not divide the loop's extent.
#pragma once

namespace polyhalite {

/// Drawn for split(x, xo, xi, 4) of the points 0..5; each line is a tile, dots are iterations that
/// do nothing, brackets points that are computed again.
enum class TailStrategy {
  /// The stage, its producers and its storage grow to whole tiles. For an output, the caller's
  /// buffer must hold whole tiles. Not for reduction variables.
  ///     0 1 2 3
  ///     4 5 6 7
  RoundUp,
  /// An if around the body. Always legal.
  ///     0 1 2 3
  ///     4 5 . .
  GuardWithIf,
  /// The same, and says that vectors should mask their loads and stores in the last tile, which
  /// they do here for GuardWithIf, too. Always legal.
  Predicate,
  /// Loads happen within the range only; stores go to whole tiles, as with RoundUp. Not for
  /// reduction variables, and not where the split loop is the inner one of another split.
  PredicateLoads,
  /// Stores happen within the range only; what is read grows to whole tiles. As PredicateLoads.
  PredicateStores,
  /// The last tile is shifted to end where the range ends, and computes equal values again. Pure
  /// definitions only; the extent must be at least the factor.
  ///     0 1 2 3
  ///     [2 3] 4 5
  ShiftInwards,
  /// The same for updates, too: points of the tile before get back the value that they have. Not
  /// for dimensions that run in parallel.
  ShiftInwardsAndBlend,
  /// RoundUp that leaves points beyond the range as they are. Not for dimensions that run in
  /// parallel.
  RoundUpAndBlend,
  /// ShiftInwards for pure definitions, RoundUp for pure variables of updates, GuardWithIf for
  /// reduction variables.
  Auto,
};
/// "RoundUp", "GuardWithIf"...
const char *tail_strategy_name(TailStrategy tail);

/// Does the split have a guard of GuardWithIf's form: iterations beyond the range do nothing?
constexpr bool is_guarding(TailStrategy t) {
  return t == TailStrategy::GuardWithIf || t == TailStrategy::Predicate;
}
/// Do the stage's box and storage grow to whole tiles?
constexpr bool is_rounding(TailStrategy t) {
  return t == TailStrategy::RoundUp || t == TailStrategy::RoundUpAndBlend ||
         t == TailStrategy::PredicateLoads;
}
/// Does the last tile end where the range ends?
constexpr bool is_shifting(TailStrategy t) {
  return t == TailStrategy::ShiftInwards || t == TailStrategy::ShiftInwardsAndBlend;
}
constexpr bool is_blending(TailStrategy t) {
  return t == TailStrategy::ShiftInwardsAndBlend || t == TailStrategy::RoundUpAndBlend;
}

}  // namespace polyhalite
