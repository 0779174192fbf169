// Room in boxes for all that is read around a value: in(r + int(f(x))) for r<4 is held inside of
// the box by its value alone, once for all r, where the box is of four cells at least.
#include <algorithm>
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

// The boxes get room for all that is read around one value, which is then held once.
void Surveyor::ask_for_room(const StageId &s, size_t first_read, size_t first_held) {
  StageSurvey &out = out_.stages[s.func][s.stage];
  const auto begin = out.held.begin() + static_cast<std::ptrdiff_t>(first_held);
  for (auto h = begin; h != out.held.end(); ++h) {
    take_steps(s, *h);
    for (auto other = begin; other != h; ++other) {
      if (other->callee != h->callee || other->dimension != h->dimension ||
          !equal(other->rest, h->rest)) {
        continue;
      }
      other->least = h->least = simplify(smaller(other->least, h->least));
      other->most = h->most = simplify(larger(other->most, h->most));
    }
  }
  auto h = begin;
  for (size_t i = first_read; i < reads_.size(); i++) {
    for (const bool by_value : reads_[i].by_value) {
      reads_[i].room.emplace_back();
      if (!by_value) continue;
      const Expr room = simplify(difference(h->most, h->least));
      if (constant(room) == 0) {
        h->steps = Expr();
      } else {
        reads_[i].room.back() = room;
      }
      ++h;
    }
  }
}

void Surveyor::make_room(const std::string &callee, int scope, std::vector<Interval> &box) {
  const int f = tree_.algorithm.index_of(callee);
  for (size_t d = 0; d < box.size(); d++) {
    Expr room;
    for (const ReadSite &r : reads_) {
      if (r.callee != callee || !r.room[d].defined()) continue;
      room = room.defined() ? larger(room, r.room[d]) : r.room[d];
    }
    if (!room.defined() || !box[d].min.defined() || !box[d].max.defined()) continue;
    const bool given = std::any_of(tree_.bounds.begin(), tree_.bounds.end(), [&](const auto &b) {
      return b.func == f && static_cast<size_t>(b.dimension) == d;
    });
    const auto width = constant_difference(box[d].max, box[d].min), least = constant(room);
    if (width && least && *width >= *least && !given) continue;
    if (width || given) {
      forget_room(callee, d);
      continue;
    }
    box[d].min = name_end(scope, callee + ".read_lo." + std::to_string(d), box[d].min);
    box[d].max = larger(box[d].max, sum(box[d].min, room));
  }
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
