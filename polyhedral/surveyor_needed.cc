// What surveyed reads need of a Func or an image: of each schedule's branch what it reads, where it
// is taken.
//
//   f.specialize(c), which reads in(x), and in(x + n) where c does not hold
//   ->   in over [min + select(c, 0, n), max + select(c, 0, n)]
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"
#include "schedule/specialize.h"

namespace polyhalite {

namespace {

// Of one end of a dimension. None: nothing is read; a null expression: there is no limit.
using End = std::optional<Expr>;

// What reads ask for: `box` those in the same branches, and those in further branches apart.
struct Asked {
  std::vector<Interval> box;  // empty: nothing reads
  // By the definition that has branches: what is asked for in each of them and beside them.
  std::map<StageId, std::map<int, Asked>> choices;

  void add(std::vector<Interval> more) {
    for (size_t d = 0; d < box.size(); d++) box[d] = hull(box[d], more[d]);
    if (box.empty()) box = std::move(more);
  }
};

// The stages with branches, outermost first, between `scope` and a read.
std::vector<StageId> choices_between(const LoopTree &tree, int scope, const StageId &s) {
  std::vector<StageId> choices;
  for (StageId at = s;;) {
    const std::vector<int> &loops = tree.nest(at).loops;
    if (std::count(loops.begin(), loops.end(), scope)) break;
    const FuncDef &func = tree.func(at);
    if (!func.branches_of(func.definition_of(at.stage)).empty()) choices.push_back(at);
    const int level = tree.placements[at.func].compute;
    if (level == kRoot) break;
    at = tree.loops[level].stage;
  }
  std::reverse(choices.begin(), choices.end());
  return choices;
}

// Has a reduction no points where these branches are taken?
bool never_runs(const LoopTree &tree, const StageId &s, const std::vector<StageId> &choices) {
  const std::vector<ReductionVariable> &rvars = tree.definition(s).rvars;
  return std::any_of(rvars.begin(), rvars.end(), [&](const ReductionVariable &r) {
    Expr extent = simplify(r.extent);
    for (const StageId &at : choices) {
      extent = simplify_under(extent, runs_where(tree.func(at), at.stage));
    }
    const auto points = constant(extent);
    return points && *points <= 0;
  });
}

// Is a <= b where the condition holds? A null condition holds always.
bool never_exceeds(const Expr &a, const Expr &b, const Expr &condition) {
  const Expr room = difference(b, a);
  const auto left = constant(condition.defined() ? simplify_under(room, condition) : room);
  return left && *left >= 0;
}

class HullOfBranches {
 public:
  HullOfBranches(const LoopTree &tree, size_t dimension, bool is_max, bool may_choose)
      : tree_(tree), dimension_(dimension), is_max_(is_max), may_choose_(may_choose) {}

  // `anyway`: what is needed besides.
  End of(const Asked &asked, const End &anyway, const Expr &condition) const {
    End common = anyway;
    if (!asked.box.empty()) {
      const Interval &i = asked.box[dimension_];
      common = both(anyway, is_max_ ? i.max : i.min, condition);
    }
    End all = common;
    for (const auto &[definition, branches] : asked.choices) {
      all = both(all, chosen(definition, branches, common, condition), condition);
    }
    return all;
  }

 private:
  End chosen(const StageId &stage, const std::map<int, Asked> &branches, const End &anyway,
             const Expr &outside) const {
    const FuncDef &func = tree_.func(stage);
    const Expr where = runs_where(func, stage.stage);
    const Expr all = outside.defined() ? make_binary(Op::And, outside, where) : where;
    const auto own = branches.find(stage.stage);
    End end = own == branches.end() ? anyway : of(own->second, anyway, all);
    const std::vector<int> others = func.branches_of(stage.stage);
    for (auto b = others.rbegin(); b != others.rend(); ++b) {
      const End there = chosen({stage.func, *b}, branches, anyway, outside);
      end = either(func.stages[*b].when, there, end);
    }
    return end;
  }

  // Where one of two branches reads nothing, what the other one needs does no harm.
  End either(const Expr &when, const End &there, const End &otherwise) const {
    if (!there || !otherwise) return there ? there : otherwise;
    if (!there->defined() || !otherwise->defined()) return Expr();
    const Expr rest = is_max_ ? difference(*otherwise, *there) : difference(*there, *otherwise);
    const auto left = constant(simplify_under(rest, when));
    if (left && (*left == 0 || (*left > 0 && !may_choose_))) return otherwise;
    return may_choose_ ? make_select(when, *there, *otherwise) : larger_of(*there, *otherwise);
  }

  End both(const End &a, const End &b, const Expr &condition) const {
    if (!a || !b) return a ? a : b;
    if (!a->defined() || !b->defined()) return Expr();
    if (is_max_ ? never_exceeds(*b, *a, condition) : never_exceeds(*a, *b, condition)) return a;
    if (is_max_ ? never_exceeds(*a, *b, condition) : never_exceeds(*b, *a, condition)) return b;
    return larger_of(*a, *b);
  }

  Expr larger_of(const Expr &a, const Expr &b) const {
    return is_max_ ? larger(a, b) : smaller(a, b);
  }

  const LoopTree &tree_;
  size_t dimension_;
  bool is_max_, may_choose_;
};

}  // namespace

// A fused loop that was split has tiles, whose parts of y and x are no ranges of these.
Expr Surveyor::over_fused(const StageId &s, const Expr &index) const {
  Expr over = index;
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (d.kind != Derivation::Fuse) continue;
    const auto &ranges = out_.stages[s.func][s.stage].ranges;
    const auto outer = ranges.find(d.a), inner = ranges.find(d.b);
    if (outer == ranges.end() || inner == ranges.end()) continue;
    if (!uses_variable(over, d.a) || !uses_variable(over, d.b)) continue;
    const Expr n = extent_of(inner->second);
    const auto parts = [&](const Expr &e) {
      int count = 0;
      for_each_node(e, [&](const Expr &x) { count += x->op == Op::Div || x->op == Op::Mod; });
      return count;
    };
    if (!constant(n)) continue;
    const Expr fused = make_variable(Int(32), VariableKind::Pure, d.c);
    const Expr joined = simplify(substitute(
        std::map<std::string, Expr>{{d.a, sum(outer->second.min, make_binary(Op::Div, fused, n))},
                                    {d.b, sum(inner->second.min, make_binary(Op::Mod, fused, n))}},
        over));
    if (parts(joined) <= parts(over)) over = joined;
  }
  return over;
}

std::vector<Interval> Surveyor::needed(const std::string &callee, int dimensions, int scope,
                                       Reach reach) {
  const Reach before = std::exchange(reach_, reach);
  Asked asked_for;
  std::vector<const ReadSite *> reads, idle;
  for (const ReadSite &r : reads_) {
    if (r.callee != callee) continue;
    const bool never = never_runs(tree_, r.stage, choices_between(tree_, scope, r.stage));
    (never ? idle : reads).push_back(&r);
  }
  // Where no other read is, these say how much there is.
  std::map<std::pair<StageId, bool>, Bounder> bounders;  // what one has bounded, it remembers
  for (const ReadSite *site : reads.empty() ? idle : reads) {
    const ReadSite &r = *site;
    Asked *of = &asked_for;
    for (const StageId &at : choices_between(tree_, scope, r.stage)) {
      of = &of->choices[{at.func, tree_.func(at).definition_of(at.stage)}][at.stage];
    }
    std::vector<Interval> read;
    for (int d = 0; d < dimensions; d++) {
      const std::pair<StageId, bool> key(r.stage, r.by_value[d]);
      auto bounder = bounders.find(key);
      if (bounder == bounders.end()) {
        bounder = bounders.emplace(key, bounder_at(&r.stage, scope, key.second)).first;
      }
      read.push_back(with_room(bounder->second(over_fused(r.stage, r.args[d])), r.room[d]));
    }
    of->add(std::move(read));
  }
  for (const ExternRead &r : extern_reads_) {
    if (r.callee == callee) asked_for.add(asked(r, dimensions, scope));
  }
  reach_ = before;
  std::vector<Interval> box;
  // Boxes of Funcs are loops' ends and sizes of memory, which are kept simple.
  const bool is_input = tree_.algorithm.index_of(callee) < 0;
  for (int d = 0; d < dimensions; d++) {
    auto end = [&](bool is_max) {
      const HullOfBranches hull(tree_, static_cast<size_t>(d), is_max, is_input);
      return hull.of(asked_for, std::nullopt, Expr()).value_or(Expr());
    };
    box.push_back({end(false), end(true)});
  }
  return box;
}

}  // namespace polyhalite
