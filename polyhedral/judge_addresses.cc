// (f) addresses stay inside allocations: storage boxes contain the computed boxes of all loops
// between the store and the compute level.
#include <utility>

#include "polyhedral/judge_context.h"
#include "polyhedral/model/survey_scope.h"

namespace polyhalite {

namespace {

void judge_exactly(JudgeContext &c, int f) {
  const FuncDef &func = c.tree.algorithm.funcs[f];
  const FuncSurvey &boxes = c.survey.funcs[f];
  for (size_t d = 0; d < boxes.stored.size(); d++) {
    for (const bool below : {true, false}) {
      Problem problem;
      SharedAtoms shared;
      SurveyScope scope(problem, shared, c.tree, c.survey);
      for (int l : c.path_to(c.tree.placements[f].compute)) scope.enter_loop(l);
      const AffineRow cell = problem.fresh(ModelVariable::Coordinate, "");
      scope.require_inside({cell}, {boxes.computed[d]});
      Translator &t = scope.translator();
      const IndexRange &stored = boxes.stored[d];
      problem.require_nonnegative((below ? t.row(stored.min) - cell : cell - t.row(stored.max)) -
                                  AffineRow(1));
      const Solution out = c.solver.solve(problem);
      if (out.answer == Solution::None || t.inexact()) continue;
      const bool unknown = out.answer == Solution::Unknown;
      Refusal refusal{'f', unknown ? Proof::Undecided : Proof::Isl, {}, {}, {}};
      if (!unknown) refusal.parameters = named_parameters(problem, out.values);
      refusal.diagnostic = {"the storage of '" + func.name + "' does not hold what is computed",
                            unknown ? out.problem
                                    : "index " + std::to_string(cell.evaluate(out.values)) +
                                          " of dimension " + std::to_string(d) + " is outside" +
                                          parameters_text(refusal.parameters),
                            "", c.tree.placements[f].store_where};
      c.refuse(std::move(refusal));
      return;
    }
  }
}

}  // namespace

// Each storage in hoisted memory fits in it, dimension by dimension.
void judge_hoisted_exactly(JudgeContext &c, int f) {
  const FuncDef &func = c.tree.algorithm.funcs[f];
  const FuncSurvey &boxes = c.survey.funcs[f];
  for (size_t d = 0; boxes.hoisted && d < boxes.stored.size(); d++) {
    if (boxes.fold[d] > 0) continue;
    Problem problem;
    SharedAtoms shared;
    SurveyScope scope(problem, shared, c.tree, c.survey);
    for (int l : c.path_to(c.tree.placements[f].store)) scope.enter_loop(l);
    Translator &t = scope.translator();
    const AffineRow extent = t.row(boxes.stored[d].max) - t.row(boxes.stored[d].min) + AffineRow(1);
    problem.require_nonnegative(extent - t.row(boxes.hoisted->extents[d]) - AffineRow(1));
    problem.require_nonnegative(extent - AffineRow(1));
    const Solution out = c.solver.solve(problem);
    if (out.answer == Solution::None || t.inexact()) continue;
    const bool unknown = out.answer == Solution::Unknown;
    Refusal refusal{'f', unknown ? Proof::Undecided : Proof::Isl, {}, {}, {}};
    if (!unknown) refusal.parameters = named_parameters(problem, out.values);
    refusal.diagnostic = {"the hoisted memory of '" + func.name + "' does not hold its storage",
                          unknown ? out.problem
                                  : "dimension " + std::to_string(d) + " has extent " +
                                        std::to_string(extent.evaluate(out.values)) +
                                        parameters_text(refusal.parameters),
                          "", c.tree.placements[f].hoist_where};
    c.refuse(std::move(refusal));
    return;
  }
}

void judge_addresses(JudgeContext &c) {
  for (size_t f = 0; f < c.tree.algorithm.funcs.size(); f++) {
    const std::string &name = c.tree.algorithm.funcs[f].name;
    if (c.tree.algorithm.is_output(name)) {
      c.certify('f', "addresses of '" + name + "'", Proof::Structural,
                "the caller's buffer is checked at entry");
      continue;
    }
    if (c.options.exact) judge_exactly(c, static_cast<int>(f));
    if (c.options.exact && !c.refused()) judge_hoisted_exactly(c, static_cast<int>(f));
    if (c.refused()) return;
    c.certify('f', "addresses of '" + name + "'", c.options.exact ? Proof::Isl : Proof::Structural,
              "storage is the hull of the computed boxes");
  }
}

}  // namespace polyhalite
