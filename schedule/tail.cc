#include "schedule/tail.h"

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

constexpr const char *kGuard = "TailStrategy::GuardWithIf";

TailStrategy automatic(const StageDimensions &s, const Dimension &old, bool divides, bool rest) {
  if (!old.is_variable && divides) return TailStrategy::RoundUp;
  if (!old.is_variable && rest) return TailStrategy::GuardWithIf;
  if (old.is_reduction || (s.stage > 0 && old.is_fused)) return TailStrategy::GuardWithIf;
  return s.stage > 0 ? TailStrategy::RoundUp : TailStrategy::ShiftInwards;
}

}  // namespace

TailStrategy resolve_tail(const StageDimensions &s, const Dimension &old, const Expr &factor,
                          const Directive &d) {
  int64_t f;
  bool known = is_const_int(factor, &f) && old.extent;
  bool divides = known && *old.extent % f == 0;
  bool rest = known && !divides;
  if (d.tail == TailStrategy::Auto) return automatic(s, old, divides, rest);
  if (d.tail == TailStrategy::GuardWithIf) return d.tail;

  std::string what = std::string("cannot split '") + old.label + "' of " +
                     describe_stage(s.func, s.stage) + " with " + tail_strategy_name(d.tail);
  if (old.is_reduction && !(d.tail == TailStrategy::RoundUp && divides)) {
    user_error(what, "'" + old.label + "' is a reduction loop: extra iterations change the result",
               std::string("use ") + kGuard, d.where);
  }
  std::string numbers = "factor " + std::to_string(known ? f : 0) + " does not divide extent " +
                        std::to_string(old.extent.value_or(0));
  if (d.tail == TailStrategy::ShiftInwards) {
    if (s.stage > 0) {
      user_error(what, "an update that runs twice on one point changes the result",
                 "use TailStrategy::RoundUp or GuardWithIf", d.where);
    }
    if (known && f > *old.extent) {
      user_error(
          what + ": factor " + std::to_string(f) + " exceeds extent " + std::to_string(*old.extent),
          "a tile cannot be shifted inside a smaller loop", std::string("use ") + kGuard, d.where);
    }
    return d.tail;
  }
  if (old.is_fused && !divides) {
    user_error(what, "'" + old.label + "' is made by a fuse: there is no one dimension to enlarge",
               std::string("use ") + kGuard + (s.stage > 0 ? "" : " or ShiftInwards"), d.where);
  }
  if (!old.is_variable && rest) {
    user_error(what + ": " + numbers, "the loop around '" + old.label + "' fixes its extent",
               "use a factor that divides " + std::to_string(*old.extent) + ", or " + kGuard,
               d.where);
  }
  return d.tail;
}

}  // namespace polyhalite
