// Room in boxes for all that is read around a value: in(r + int(f(x))) for r<4 is held inside of
// the box by its value alone, once for all r, where the box is of four cells at least.
#include <algorithm>
#include <utility>

#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

// An index is what its loops add, which is constants, to a rest, which values decide.
void Surveyor::take_steps(const StageSurvey &of, HeldIndex &held) {
  Linear rest = to_linear(strip_hints(held.index)), steps;
  steps.constant = held.least = held.most = std::exchange(rest.constant, 0);
  for (auto term = rest.terms.begin(); term != rest.terms.end();) {
    const auto &[atom, factor] = *term;
    const VariableNode *v = as_variable(atom);
    const auto range = v ? of.ranges.find(v->name) : of.ranges.end();
    const auto min =
        range != of.ranges.end() ? constant(simplify(range->second.min)) : std::nullopt;
    const auto max =
        range != of.ranges.end() ? constant(simplify(range->second.max)) : std::nullopt;
    if (!min || !max || *min > *max) {
      ++term;
      continue;
    }
    held.least += factor * (factor > 0 ? *min : *max);
    held.most += factor * (factor > 0 ? *max : *min);
    steps.terms[atom] = factor;
    term = rest.terms.erase(term);
  }
  held.steps = to_expr(steps);
  held.rest = to_expr(rest);
}

// The boxes get room for all that is read around one value, which is then held once.
void Surveyor::ask_for_room(const StageId &s, size_t first_read, size_t first_held) {
  StageSurvey &out = out_.stages[s.func][s.stage];
  const std::vector<HeldIndex>::iterator begin =
      out.held.begin() + static_cast<std::ptrdiff_t>(first_held);
  for (auto h = begin; h != out.held.end(); ++h) {
    take_steps(out, *h);
    for (auto other = begin; other != h; ++other) {
      if (other->callee != h->callee || other->dimension != h->dimension ||
          !equal(other->rest, h->rest)) {
        continue;
      }
      other->least = h->least = std::min(other->least, h->least);
      other->most = h->most = std::max(other->most, h->most);
    }
  }
  auto h = begin;
  for (size_t i = first_read; i < reads_.size(); i++) {
    for (const bool by_value : reads_[i].by_value) {
      reads_[i].room.push_back(by_value ? h->most - h->least : 0);
      if (by_value && h->most == h->least) h->steps = Expr();
      if (by_value) ++h;
    }
  }
}

void Surveyor::make_room(const std::string &callee, int scope, std::vector<Interval> &box) {
  const int f = tree_.algorithm.index_of(callee);
  for (size_t d = 0; d < box.size(); d++) {
    int64_t room = 0;
    for (const ReadSite &r : reads_) {
      if (r.callee == callee) room = std::max(room, r.room[d]);
    }
    if (room == 0 || !box[d].min.defined() || !box[d].max.defined()) continue;
    const bool given = std::any_of(tree_.bounds.begin(), tree_.bounds.end(), [&](const auto &b) {
      return b.func == f && static_cast<size_t>(b.dimension) == d;
    });
    const auto width = constant_difference(box[d].max, box[d].min);
    if (width && *width >= room && !given) continue;
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
