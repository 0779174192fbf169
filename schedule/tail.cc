#include "schedule/tail.h"

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

constexpr const char *kGuard = "TailStrategy::GuardWithIf";

TailStrategy automatic(const StageDimensions &s, const LoopDimension &old, bool divides,
                       bool rest) {
  if (!old.is_variable && divides) return TailStrategy::RoundUp;
  if (!old.is_variable && rest) return TailStrategy::GuardWithIf;
  // Nothing enlarges a fused or an inner loop that is smaller than the factor.
  if (old.is_reduction || old.is_fused || old.is_inside) return TailStrategy::GuardWithIf;
  if (s.in_place) return TailStrategy::GuardWithIf;
  return s.stage > 0 ? TailStrategy::RoundUp : TailStrategy::ShiftInwards;
}

}  // namespace

TailStrategy resolve_tail(const StageDimensions &s, const LoopDimension &old, const Expr &factor,
                          const Directive &d) {
  int64_t f;
  bool known = is_const_int(factor, &f) && old.extent;
  bool divides = known && *old.extent % f == 0;
  bool rest = known && !divides;
  if (old.is_predicated && !divides) {
    user_error(std::string("cannot split '") + old.label + "' of " +
                   describe_stage(s.func, s.stage) + ": it is the inner loop of a split with " +
                   "PredicateLoads or PredicateStores",
               "such a tail is for the innermost split of a dimension",
               std::string("use ") + kGuard + " for the outer split", d.where);
  }
  if (d.tail == TailStrategy::Auto) return automatic(s, old, divides, rest);
  if (is_guarding(d.tail)) return d.tail;

  std::string what = std::string("cannot split '") + old.label + "' of " +
                     describe_stage(s.func, s.stage) + " with " + tail_strategy_name(d.tail);
  if (old.is_reduction && !(d.tail == TailStrategy::RoundUp && divides)) {
    user_error(what, "'" + old.label + "' is a reduction loop: extra iterations change the result",
               std::string("use ") + kGuard, d.where);
  }
  std::string numbers = "factor " + std::to_string(known ? f : 0) + " does not divide extent " +
                        std::to_string(old.extent.value_or(0));
  if (d.tail == TailStrategy::ShiftInwards && s.stage > 0) {
    user_error(what, "an update that runs twice on one point changes the result",
               "use TailStrategy::RoundUp or GuardWithIf", d.where);
  }
  const bool predicates =
      d.tail == TailStrategy::PredicateLoads || d.tail == TailStrategy::PredicateStores;
  if (predicates && old.is_inside && !divides) {
    user_error(
        what, "'" + old.label + "' is the inner loop of another split, and has no range of its own",
        std::string("use ") + kGuard, d.where);
  }
  if ((is_rounding(d.tail) || predicates) && !old.is_variable && rest) {
    user_error(what + ": " + numbers, "the loop around '" + old.label + "' fixes its extent",
               "use a factor that divides " + std::to_string(*old.extent) + ", or " + kGuard,
               d.where);
  }
  // No one dimension could grow to hold a tile of a fused or an inner loop.
  bool no_room = known ? is_shifting(d.tail) && f > *old.extent : true;
  if (is_shifting(d.tail) && old.bound && is_const_int(factor, &f)) no_room = f > *old.bound;
  const bool inner = old.is_fused || old.is_inside;
  return inner && no_room ? TailStrategy::GuardWithIf : d.tail;
}

}  // namespace polyhalite
