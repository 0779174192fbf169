// (a) splits cover: every point of a stage runs, once in an update, and none beyond its ranges.
#include <set>
#include <utility>

#include "polyhedral/judge_context.h"
#include "polyhedral/model/survey_scope.h"

namespace polyhalite {

namespace {

// A dimension whose excess iterations are new points, that no other iteration stands for: a pure
// variable, the outer part of such a one, and a fuse whose outer part is such a one.
bool can_grow(const LoopTree &tree, StageId s, const std::string &dim) {
  for (const Derivation &d : tree.nest(s).derivations) {
    if (d.kind == Derivation::Split && d.c == dim) return false;
    if (d.kind == Derivation::Split && d.b == dim) return can_grow(tree, s, d.a);
    if (d.kind == Derivation::Fuse && d.c == dim) return can_grow(tree, s, d.a);
  }
  for (const ReductionVariable &r : tree.definition(s).rvars) {
    if (r.var == dim) return false;
  }
  return true;
}

bool divides(const Survey &survey, StageId s, const Derivation &d) {
  const auto &ranges = survey.stages[s.func][s.stage].ranges;
  auto it = ranges.find(d.a);
  int64_t factor;
  if (it == ranges.end() || !is_const_int(d.factor, &factor)) return false;
  const auto width = constant_difference(it->second.max, it->second.min);
  return width && (*width + 1) % factor == 0;
}

void judge_split(JudgeContext &c, StageId s, const Derivation &d) {
  const std::string about = "split of '" + d.a + "' of " + c.tree.describe(s);
  const std::string what =
      "cannot split '" + d.a + "' of " + c.tree.describe(s) + " with " + tail_strategy_name(d.tail);
  if (divides(c.survey, s, d)) {
    c.certify('a', about, Proof::Structural, "the factor divides the extent");
  } else if (d.tail == TailStrategy::GuardWithIf) {
    c.certify('a', about, Proof::Structural, "a guard cuts the last tile");
  } else if (d.tail == TailStrategy::ShiftInwards && s.stage == 0) {
    c.certify('a', about, Proof::Structural, "the last tile is shifted and computes equal values");
  } else if (d.tail == TailStrategy::RoundUp && (s.stage == 0 || can_grow(c.tree, s, d.a))) {
    c.certify('a', about, Proof::Structural, "the stage's region grows to whole tiles");
  } else {
    c.refuse({'a',
              Proof::Structural,
              Diagnostic{what, "an update would run twice on one point, or beyond its domain",
                         "use TailStrategy::GuardWithIf", d.where},
              {},
              {}});
  }
}

// The stage's points, and the points that its surveyed loops visit, as sets over shared parameters.
void judge_exactly(JudgeContext &c, StageId s) {
  const StageSurvey &stage = c.survey.stages[s.func][s.stage];
  const FuncDef &func = c.tree.func(s);
  std::vector<std::string> names;
  for (const std::string &a : func.args) {
    if (stage.dims.count(a)) names.push_back(a);
  }
  for (const ReductionVariable &r : c.tree.definition(s).rvars) names.push_back(r.var);

  Problem points, visits;
  SharedAtoms point_atoms, visit_atoms;
  SurveyScope wanted(points, point_atoms, c.tree, c.survey);
  SurveyScope visited(visits, visit_atoms, c.tree, c.survey);
  for (int l : c.path_to(c.tree.placements[s.func].compute)) {
    wanted.enter_shared_loop(l);
    visited.enter_shared_loop(l);
  }
  for (int l : c.tree.nest(s).loops) visited.enter_loop(l);
  visited.enter_stage(s);
  std::vector<int> point_keep, visit_keep;
  for (const std::string &name : names) {
    const int x = points.add(ModelVariable::Coordinate, name);
    wanted.translator().bind(name, AffineRow::variable(x));
    const IndexRange &r = stage.ranges.at(name);
    wanted.require_inside({AffineRow::variable(x)}, {r});
    point_keep.push_back(x);
    const int y = visits.add(ModelVariable::Coordinate, name);
    visits.require_zero(AffineRow::variable(y) -
                        visited.translator().row(make_variable(Int(32), VariableKind::Pure, name)));
    visit_keep.push_back(y);
  }
  wanted.translator().assume(c.tree.definition(s).predicate);
  if (wanted.translator().inexact() || visited.translator().inexact()) return;
  // A predicate over data says nothing about which points run.
  if (wanted.translator().data_dependent() || visited.translator().data_dependent()) return;

  // Symbols are defined by these.
  std::set<Expr, ExprLess> parameters;
  for (const auto *atoms : {&point_atoms, &visit_atoms}) {
    for (const auto &[e, row] : atoms->rows) {
      const VariableNode *v = as_variable(e);
      if (v && v->kind != VariableKind::Symbol) parameters.insert(e);
    }
  }
  for (const Expr &p : parameters) {
    point_keep.push_back(wanted.translator().row(p).terms.begin()->first);
    visit_keep.push_back(visited.translator().row(p).terms.begin()->first);
  }
  const std::string about = "points of " + c.tree.describe(s);
  for (const bool missing : {true, false}) {
    const Solution out = missing ? c.solver.uncovered(points, point_keep, visits, visit_keep)
                                 : c.solver.uncovered(visits, visit_keep, points, point_keep);
    if (out.answer == Solution::None) continue;
    Refusal refusal{'a', Proof::Isl, {}, {}, {}};
    Instance at{s, {}};
    for (size_t i = 0; i < names.size() && i < out.values.size(); i++) {
      at.at.push_back({names[i], out.values[i]});
    }
    refusal.diagnostic = {"the loops of " + c.tree.describe(s) + " do not visit its points",
                          out.answer == Solution::Unknown
                              ? out.problem
                              : instance_text(at) + (missing ? " is not visited" : " is outside"),
                          "", c.tree.definition(s).where};
    if (out.answer == Solution::Unknown) refusal.proof = Proof::Undecided;
    refusal.instances.push_back(at);
    c.refuse(std::move(refusal));
    return;
  }
  c.certify('a', about, Proof::Isl, "the loops visit these points and no others");
}

}  // namespace

void judge_splits(JudgeContext &c) {
  for (const StageId &s : c.stages()) {
    for (const Derivation &d : c.tree.nest(s).derivations) {
      if (d.kind != Derivation::Split) continue;
      if (c.refused()) return;
      judge_split(c, s, d);
    }
    if (c.options.exact && !c.refused()) judge_exactly(c, s);
  }
}

}  // namespace polyhalite
