#include "polyhedral/lane_turns.h"

#include <algorithm>
#include <utility>

namespace polyhalite {

namespace {

// The coordinates of a nest as they take turns, outermost first.
using Turns = std::vector<size_t>;

// The loops outside of `loop`, then those inside, then lanes: those of `loop` before the lanes that
// it encloses, or after them.
Turns turns_of(const LoopTree &tree, const std::vector<LoopCoordinate> &time, int loop,
               bool lanes_first) {
  Turns outside, inside, lanes, own;
  for (size_t i = 0; i < time.size(); i++) {
    const bool is_vector = tree.loops[time[i].loop].kind == LoopKind::Vector;
    Turns &part = time[i].loop == loop ? own : own.empty() ? outside : is_vector ? lanes : inside;
    part.push_back(i);
  }
  for (const Turns *part : {&inside, lanes_first ? &own : &lanes, lanes_first ? &lanes : &own}) {
    outside.insert(outside.end(), part->begin(), part->end());
  }
  return outside;
}

// b may run before a: loops outside of `loop` are equal, and of two iterations that run at once on
// threads either may be first.
Choice may_run_before(const LoopTree &tree, const StageInstance &a, const StageInstance &b,
                      const Turns &turns, int loop) {
  Choice choice;
  Conjunction equal_so_far;
  const auto own = std::find_if(a.time.begin(), a.time.end(),
                                [&](const LoopCoordinate &t) { return t.loop == loop; });
  for (size_t i : turns) {
    const AffineRow ahead = a.time[i].row - b.time[i].row;
    const LoopInfo &info = tree.loops[a.time[i].loop];
    if (i >= static_cast<size_t>(own - a.time.begin())) {
      Conjunction before = equal_so_far;
      before.nonnegative.push_back(ahead - AffineRow(1));
      choice.push_back(before);
      if (info.kind != LoopKind::Vector && runs_at_once(info.kind)) {
        Conjunction at_once = equal_so_far;
        at_once.nonnegative.push_back(AffineRow(-1) - ahead);
        choice.push_back(at_once);
      }
    }
    equal_so_far.zero.push_back(ahead);
  }
  return choice;
}

ConflictAnswer find_swapped(JudgeContext &c, StageId stage, int loop, bool lanes_first) {
  return find_conflict(
      c, stage, [&](Problem &p, const StageInstance &first, const StageInstance &second) {
        const Turns turns = turns_of(c.tree, first.time, loop, lanes_first);
        p.choices.push_back(lexicographically_less(first.position_rows(), second.position_rows()));
        p.choices.push_back(may_run_before(c.tree, first, second, turns, loop));
      });
}

}  // namespace

ConflictAnswer find_swapped_lanes(JudgeContext &c, StageId stage, const LoopInfo &loop) {
  ConflictAnswer answer = find_swapped(c, stage, loop.id, false);
  if (answer.conflict || answer.unknown) return answer;
  const std::vector<int> &nest = c.tree.nest(stage).loops;
  const auto encloses_lanes =
      std::any_of(std::find(nest.begin(), nest.end(), loop.id) + 1, nest.end(),
                  [&](int l) { return c.tree.loops[l].kind == LoopKind::Vector; });
  return encloses_lanes ? find_swapped(c, stage, loop.id, true) : answer;
}

}  // namespace polyhalite
