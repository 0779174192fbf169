// (a) splits cover: every point of a stage runs, once in an update, and none beyond its ranges.
#include <optional>
#include <set>
#include <utility>

#include "lang/ir/extern_stage.h"
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
    if (is_linear(d) && d.c == dim) return false;
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

// The first iteration of a split's last tile that lies beyond what is split.
struct Beyond {
  Solution solution;  // None: tiles are whole
  int64_t at = 0, last = 0;
  std::vector<std::pair<std::string, int64_t>> parameters;
  bool inexact = false;
};

// With a factor that is no constant: where it is `factor`.
Beyond find_beyond(JudgeContext &c, StageId s, const Derivation &d, int64_t factor) {
  Problem problem;
  SharedAtoms shared;
  SurveyScope scope(problem, shared, c.tree, c.survey);
  for (int l : c.path_to(c.tree.placements[s.func].compute)) scope.enter_loop(l);
  const IndexRange &range = c.survey.stages[s.func][s.stage].ranges.at(d.a);
  Translator &t = scope.translator();
  const AffineRow first = t.row(range.min), last = t.row(range.max);
  problem.require_zero(t.row(d.factor) - AffineRow(factor));
  const AffineRow tiles = problem.fresh(ModelVariable::Existential, "");
  const AffineRow rest = last - first + AffineRow(1) - factor * tiles;
  problem.require_nonnegative(rest - AffineRow(1));
  problem.require_nonnegative(AffineRow(factor - 1) - rest);
  problem.require_nonnegative(tiles);
  Beyond beyond;
  beyond.solution = c.solver.solve(problem);
  beyond.inexact = t.inexact().has_value();
  if (beyond.solution.answer != Solution::Found) return beyond;
  beyond.last = last.evaluate(beyond.solution.values);
  beyond.at = beyond.last + 1;
  beyond.parameters = named_parameters(problem, beyond.solution.values);
  return beyond;
}

// A split whose excess iterations would be points that the stage does not have, or that others
// stand for: legal where it has none.
void judge_whole_tiles(JudgeContext &c, StageId s, const Derivation &d, const std::string &about) {
  Refusal refusal{'a', Proof::Undecided, {}, {}, {}};
  refusal.diagnostic = {
      "cannot split '" + d.a + "' of " + c.tree.describe(s) + " with " + tail_strategy_name(d.tail),
      "an update would run twice on one point, or beyond its domain",
      "use TailStrategy::GuardWithIf", d.where};
  std::string &why = refusal.diagnostic.why;
  const auto &ranges = c.survey.stages[s.func][s.stage].ranges;
  if (ranges.count(d.a)) {
    int64_t constant;
    const bool is_constant = is_const_int(d.factor, &constant);
    // Of a factor that is not known, a small one serves as an example.
    constexpr int64_t kMostTried = 4;
    const int64_t least = is_constant ? constant : 2, most = is_constant ? constant : kMostTried;
    for (int64_t factor = least; factor <= most; factor++) {
      const Beyond beyond = find_beyond(c, s, d, factor);
      if (beyond.solution.answer == Solution::None) {
        if (!is_constant) continue;
        c.certify('a', about, Proof::Isl, "the factor divides the extent");
        return;
      }
      if (beyond.solution.answer == Solution::Unknown) {
        why += "; " + beyond.solution.problem;
        continue;
      }
      if (!beyond.inexact) refusal.proof = Proof::Isl;
      const Instance at{s, {{d.a, beyond.at}}};
      refusal.instances = {at};
      refusal.parameters = beyond.parameters;
      why += ": a tile of " + std::to_string(factor) + (beyond.inexact ? " may have " : " has ") +
             instance_text(at) + ", and the last iteration is " + d.a + "=" +
             std::to_string(beyond.last) + parameters_text(beyond.parameters);
      break;
    }
  }
  c.refuse(std::move(refusal));
}

void judge_split(JudgeContext &c, StageId s, const Derivation &d) {
  const std::string about = "split of '" + d.a + "' of " + c.tree.describe(s);
  if (divides(c.survey, s, d)) {
    c.certify('a', about, Proof::Structural, "the factor divides the extent");
  } else if (is_guarding(d.tail)) {
    c.certify('a', about, Proof::Structural, "a guard cuts the last tile");
  } else if (d.tail == TailStrategy::PredicateStores) {
    c.certify('a', about, Proof::Structural,
              "the last tile stores within the range only, and reads whole tiles");
  } else if (d.tail == TailStrategy::ShiftInwardsAndBlend) {
    c.certify('a', about, Proof::Structural,
              "the last tile is shifted, and points of the tile before keep their values");
  } else if (d.tail == TailStrategy::PredicateLoads && can_grow(c.tree, s, d.a)) {
    c.certify('a', about, Proof::Structural,
              "the stage's region grows to whole tiles, whose rest reads nothing");
  } else if (d.tail == TailStrategy::RoundUpAndBlend && can_grow(c.tree, s, d.a)) {
    c.certify('a', about, Proof::Structural,
              "the stage's region grows to whole tiles, whose rest keeps its values");
  } else if (d.tail == TailStrategy::ShiftInwards && !c.tree.is_update(s)) {
    c.certify('a', about, Proof::Structural, "the last tile is shifted and computes equal values");
  } else if (d.tail == TailStrategy::RoundUp &&
             (!c.tree.is_update(s) || can_grow(c.tree, s, d.a))) {
    c.certify('a', about, Proof::Structural, "the stage's region grows to whole tiles");
  } else {
    judge_whole_tiles(c, s, d, about);
  }
}

// The stage's points, and the points that its surveyed loops visit: both over the algorithm
// variables, then over shared parameters.
struct PointSets {
  Problem points, visits;
  std::vector<int> point_keep, visit_keep;
  std::vector<std::string> kept;  // their names; empty where users know none
};

std::vector<std::string> algorithm_variables(const JudgeContext &c, StageId s) {
  std::vector<std::string> names;
  for (const std::string &a : c.tree.func(s).args) {
    if (c.survey.stages[s.func][s.stage].dims.count(a)) names.push_back(a);
  }
  for (const ReductionVariable &r : c.tree.definition(s).rvars) names.push_back(r.var);
  return names;
}

// nullopt where no rows say which points run: a guard or a predicate over data, a product.
std::optional<PointSets> point_sets(JudgeContext &c, StageId s, SurveyScope::SharedSymbols how) {
  PointSets sets;
  SharedAtoms point_atoms, visit_atoms;
  SurveyScope wanted(sets.points, point_atoms, c.tree, c.survey, how);
  SurveyScope visited(sets.visits, visit_atoms, c.tree, c.survey, how);
  for (int l : c.path_to(c.tree.placements[s.func].compute)) {
    wanted.enter_shared_loop(l);
    visited.enter_shared_loop(l);
  }
  for (int l : c.tree.nest(s).loops) visited.enter_loop(l);
  visited.enter_stage(s);
  for (const std::string &name : algorithm_variables(c, s)) {
    const int x = sets.points.add(ModelVariable::Coordinate, name);
    wanted.translator().bind(name, AffineRow::variable(x));
    const StageSurvey &st = c.survey.stages[s.func][s.stage];
    IndexRange r = st.ranges.at(name);
    if (auto last = st.last.find(name); last != st.last.end()) r.max = last->second;
    wanted.require_inside({AffineRow::variable(x)}, {r});
    sets.point_keep.push_back(x);
    sets.kept.push_back(name);
    const int y = sets.visits.add(ModelVariable::Coordinate, name);
    sets.visits.require_zero(AffineRow::variable(y) - visited.translator().row(make_variable(
                                                          Int(32), VariableKind::Pure, name)));
    sets.visit_keep.push_back(y);
  }
  wanted.translator().assume(c.tree.definition(s).predicate);
  wanted.translator().assume(runs_where(c.tree.func(s), s.stage));
  for (SurveyScope *scope : {&wanted, &visited}) {
    const Translator &t = scope->translator();
    if (t.inexact() || t.data_dependent() || scope->has_intervals()) return std::nullopt;
  }
  // What both see: parameters, the loops outside and free symbols. Other symbols are defined by
  // these, and so is an algorithm variable that takes one value only.
  std::set<Expr, ExprLess> parameters;
  for (const auto *atoms : {&point_atoms, &visit_atoms}) {
    for (const auto &[e, row] : atoms->rows) {
      const VariableNode *v = as_variable(e);
      if (!v) continue;
      const bool is_shared = v->kind == VariableKind::Param ||
                             v->kind == VariableKind::BufferField ||
                             v->kind == VariableKind::Loop ||
                             (v->kind == VariableKind::Symbol && wanted.is_free(v->name));
      if (is_shared) parameters.insert(e);
    }
  }
  for (const Expr &p : parameters) {
    const VariableNode *v = as_variable(p);
    const bool is_input = v->kind == VariableKind::Param || v->kind == VariableKind::BufferField;
    sets.kept.push_back(is_input ? v->name : "");
    sets.point_keep.push_back(wanted.translator().row(p).terms.begin()->first);
    sets.visit_keep.push_back(visited.translator().row(p).terms.begin()->first);
  }
  return sets;
}

struct Difference {
  Solution point;                 // that one of both sets lacks
  std::vector<std::string> kept;  // names of its values
};

// Symbols of the surroundings are free at first: most stages' loops cover whatever box they get.
std::optional<Difference> difference(JudgeContext &c, StageId s, bool missing) {
  Difference found;
  Solution &out = found.point;
  for (const auto how : {SurveyScope::Free, SurveyScope::Defined}) {
    const auto sets = point_sets(c, s, how);
    if (!sets) return std::nullopt;
    out = missing
              ? c.solver.uncovered(sets->points, sets->point_keep, sets->visits, sets->visit_keep)
              : c.solver.uncovered(sets->visits, sets->visit_keep, sets->points, sets->point_keep);
    found.kept = sets->kept;
    if (out.answer == Solution::None) break;
  }
  return found;
}

void judge_exactly(JudgeContext &c, StageId s) {
  const size_t variables = algorithm_variables(c, s).size();
  for (const bool missing : {true, false}) {
    const auto found = difference(c, s, missing);
    if (!found) return;
    const Solution &out = found->point;
    if (out.answer == Solution::None) continue;
    const bool unknown = out.answer == Solution::Unknown;
    Refusal refusal{'a', unknown ? Proof::Undecided : Proof::Isl, {}, {}, {}};
    Instance at{s, {}};
    for (size_t i = 0; i < found->kept.size() && i < out.values.size(); i++) {
      if (i < variables) {
        at.at.push_back({found->kept[i], out.values[i]});
      } else if (!found->kept[i].empty()) {
        refusal.parameters.push_back({found->kept[i], out.values[i]});
      }
    }
    refusal.diagnostic = {"the loops of " + c.tree.describe(s) + " do not visit its points",
                          unknown
                              ? out.problem
                              : instance_text(at) + (missing ? " is not visited" : " is outside") +
                                    parameters_text(refusal.parameters),
                          "", c.tree.definition(s).where};
    if (!unknown) refusal.instances.push_back(at);
    c.refuse(std::move(refusal));
    return;
  }
  c.certify('a', "points of " + c.tree.describe(s), Proof::Isl,
            "the loops visit these points and no others");
}

}  // namespace

void judge_splits(JudgeContext &c) {
  for (const StageId &s : c.stages()) {
    for (const Derivation &d : c.tree.nest(s).derivations) {
      if (c.refused()) return;
      if (is_linear(d)) {
        const std::string about = std::string(d.kind == Derivation::Skew      ? "skew"
                                              : d.kind == Derivation::Reverse ? "reverse"
                                                                              : "shift") +
                                  " of '" + d.a + "' of " + c.tree.describe(s);
        c.certify('a', about, Proof::Structural, "the same points in other coordinates");
      }
      if (d.kind != Derivation::Split) continue;
      judge_split(c, s, d);
    }
    // A C function visits the points of a call.
    if (is_extern_stage(c.tree.definition(s))) continue;
    if (c.options.exact && !c.refused()) judge_exactly(c, s);
  }
}

}  // namespace polyhalite
