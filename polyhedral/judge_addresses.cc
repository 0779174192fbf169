// (f) addresses stay inside allocations: storage boxes contain the computed boxes of all loops
// between the store and the compute level, and what instances read whose values nobody uses.
#include <utility>

#include "polyhedral/judge_context.h"
#include "polyhedral/model/stage_accesses.h"
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
      if (out.answer == Solution::None || t.inexact() || scope.has_intervals()) continue;
      const bool unknown = out.answer == Solution::Unknown;
      Refusal refusal{'f', unknown ? Proof::Undecided : Proof::Isl, {}, {}, {}};
      if (!unknown) {
        refusal.parameters = named_parameters(problem, out.values);
        refusal.instances = {{{f, 0}, {{func.args[d], cell.evaluate(out.values)}}}};
      }
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
    if (out.answer == Solution::None || t.inexact() || scope.has_intervals()) continue;
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

namespace {

// Instances whose values nobody uses read what the box need not hold, but the storage must. True
// where all reads of the stage stay inside.
bool reads_stay_inside(JudgeContext &c, StageId s, const StageAccess &access) {
  const int f = c.tree.algorithm.index_of(access.func);
  const FuncSurvey &of = c.survey.funcs[f];
  const auto given = c.survey.inputs.find(access.func);  // of an output: what the entry checks
  const Box &memory = given != c.survey.inputs.end() ? given->second : of.stored;
  for (size_t d = 0; d < access.cell.size(); d++) {
    if (of.fold[d] > 0 || is_held(c.survey, s, access, d)) continue;
    for (const bool below : {true, false}) {
      Problem problem;
      SharedAtoms shared;
      SurveyScope scope(problem, shared, c.tree, c.survey);
      for (int l : c.path_to(c.tree.placements[s.func].compute)) scope.enter_loop(l);
      for (int l : c.tree.nest(s).loops) scope.enter_loop(l);
      scope.enter_stage(s, SurveyScope::Reads);
      Translator &t = scope.translator();
      const AffineRow at = t.row(access.cell[d]);
      const AffineRow end = t.row(below ? memory[d].min : memory[d].max);
      problem.require_nonnegative((below ? end - at : at - end) - AffineRow(1));
      const Solution out = c.solver.solve(problem);
      if (out.answer == Solution::None || t.inexact() || scope.has_intervals()) continue;
      const bool unknown = out.answer == Solution::Unknown;
      Refusal refusal{'f', unknown ? Proof::Undecided : Proof::Isl, {}, {}, {}};
      if (!unknown) {
        refusal.parameters = named_parameters(problem, out.values);
        Instance reader{s, {}};
        for (const auto &[name, value] : c.survey.stages[s.func][s.stage].dims) {
          const AffineRow r = t.row(make_variable(Int(32), VariableKind::Pure, name));
          reader.at.push_back({name, r.evaluate(out.values)});
        }
        refusal.instances = {std::move(reader)};
      }
      refusal.diagnostic = {"whole tiles of " + c.tree.describe(s) +
                                " read outside of the storage of '" + access.func + "'",
                            unknown ? out.problem
                                    : "index " + std::to_string(at.evaluate(out.values)) +
                                          " of dimension " + std::to_string(d) +
                                          parameters_text(refusal.parameters),
                            "", c.tree.definition(s).where};
      c.refuse(std::move(refusal));
      return false;
    }
  }
  return true;
}

bool judge_reads(JudgeContext &c, StageId s) {
  if (c.survey.stages[s.func][s.stage].used.empty()) return true;
  for (const StageAccess &a : stage_accesses(c.tree, s)) {
    if (a.func != c.tree.func(s).name && !reads_stay_inside(c, s, a)) return false;
  }
  return true;
}

}  // namespace

void judge_addresses(JudgeContext &c) {
  for (const StageId &s : c.stages()) {
    if (c.options.exact && !judge_reads(c, s)) return;
  }
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
              c.survey.funcs[f].read_beyond
                  ? "storage is the hull of the computed boxes and of what whole tiles read"
                  : "storage is the hull of the computed boxes");
  }
}

}  // namespace polyhalite
