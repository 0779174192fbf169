// Room in boxes for all that is read around a value: in(r + int(f(x))) for r<4 is held inside of
// the box by its value alone, once for all r, where the box is of four cells at least.
#include <utility>

#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

// An index is what its loops add, between ends that scalars give, to a rest, which values decide.
// Instances of tails that lead beyond a range would lead beyond the box.
void Surveyor::take_steps(const StageId &s, HeldIndex &held) const {
  const StageSurvey &of = out_.stages[s.func][s.stage];
  Linear rest = to_linear(strip_hints(held.index)), steps;
  steps.constant = std::exchange(rest.constant, 0);
  held.least = held.most = make_int(Int(32), steps.constant);
  for (auto term = rest.terms.begin(); term != rest.terms.end();) {
    const auto &[atom, factor] = *term;
    const VariableNode *v = as_variable(atom);
    const auto range = v ? of.ranges.find(v->name) : of.ranges.end();
    const bool same_everywhere = range != of.ranges.end() &&
                                 innermost_owner(range->second.min) == kRoot &&
                                 innermost_owner(range->second.max) == kRoot;
    if (!same_everywhere || of.last.count(v->name) || overshoots(s, v->name)) {
      ++term;
      continue;
    }
    const Expr k = make_int(Int(32), factor);
    const Expr low = make_binary(Op::Mul, range->second.min, k);
    const Expr high = make_binary(Op::Mul, range->second.max, k);
    held.least = sum(held.least, factor > 0 ? low : high);
    held.most = sum(held.most, factor > 0 ? high : low);
    steps.terms[atom] = factor;
    term = rest.terms.erase(term);
  }
  held.least = simplify(held.least);
  held.most = simplify(held.most);
  held.steps = to_expr(steps);
  held.rest = to_expr(rest);
}

// What is read under a condition may be read where it does not hold, and the box is of less.
void Surveyor::ask_for_room(const StageId &s, size_t first_read, size_t first_held) {
  auto held = out_.stages[s.func][s.stage].held.begin() + static_cast<std::ptrdiff_t>(first_held);
  for (size_t i = first_read; i < reads_.size(); i++) {
    ReadSite &site = reads_[i];
    for (const bool by_value : site.by_value) {
      Expr &room = site.room.emplace_back();
      if (!by_value) continue;
      HeldIndex &h = *held++;
      if (site.where.defined()) continue;
      take_steps(s, h);
      room = simplify(difference(h.most, h.least));
      if (constant(room) == 0) h.steps = room = Expr();
    }
  }
}

Interval Surveyor::with_room(Interval read, const Expr &room) {
  if (!room.defined() || !read.min.defined() || !read.max.defined()) return read;
  const auto width = constant_difference(read.max, read.min), least = constant(room);
  if (!width || !least || *width < *least) read.max = larger(read.max, sum(read.min, room));
  return read;
}

void Surveyor::forget_room(const std::string &callee, size_t dimension) {
  for (std::vector<StageSurvey> &stages : out_.stages) {
    for (StageSurvey &stage : stages) {
      for (HeldIndex &h : stage.held) {
        if (h.callee == callee && h.dimension == dimension) h.steps = Expr();
      }
    }
  }
}

}  // namespace polyhalite
