// (d) for rings that fold_storage asks for: cell i lies at i modulo the ring's size, so that the
// cells of one production's window need places of their own. Productions run one after the other,
// or share no places (judge_storage.cc). What a sliding window keeps of the iterations before lies
// inside the window (the surveyor slides along no loop whose kept cells a ring inside of it would
// reuse).
#include <utility>

#include "polyhedral/extern_bounds.h"
#include "polyhedral/judge_context.h"
#include "polyhedral/model/survey_scope.h"

namespace polyhalite {

namespace {

void refuse(JudgeContext &c, int f, size_t d, std::string why, std::string fix, bool proven,
            std::vector<std::pair<std::string, int64_t>> parameters = {},
            std::vector<Instance> instances = {}) {
  const FuncDef &func = c.tree.algorithm.funcs[f];
  const int64_t ring = c.survey.funcs[f].fold[d];
  Refusal refusal{
      'd', proven ? Proof::Isl : Proof::Undecided, {}, std::move(instances), std::move(parameters)};
  refusal.diagnostic = {
      std::string(proven ? "cannot fold" : "cannot prove that it is legal to fold") + " '" +
          func.args[d] + "' of '" + func.name + "' into a ring of " + std::to_string(ring),
      std::move(why), std::move(fix), c.tree.storage[f].dims[d].fold_where};
  c.refuse(std::move(refusal));
}

// A box is memory of one piece. False where a window goes on where the ring begins anew.
bool judge_whole_boxes(JudgeContext &c, int f, size_t d) {
  const FuncDef &func = c.tree.algorithm.funcs[f];
  const int64_t ring = c.survey.funcs[f].fold[d];
  Problem problem;
  SharedAtoms shared;
  SurveyScope scope(problem, shared, c.tree, c.survey);
  for (int l : c.path_to(c.tree.placements[f].compute)) scope.enter_loop(l);
  const AffineRow next = ring * problem.fresh(ModelVariable::Coordinate, "");
  for (const AffineRow &cell : {next - AffineRow(1), next}) {
    scope.require_inside({cell}, {c.survey.funcs[f].needed[d]});
  }
  const Solution s = c.solver.solve(problem);
  if (s.answer == Solution::None) return true;
  const auto at = [&](int64_t offset) {
    return Instance{{f, 0}, {{func.args[d], next.evaluate(s.values) + offset}}};
  };
  refuse(
      c, f, d,
      s.answer == Solution::Unknown
          ? s.problem
          : "a C function gets boxes of it, and where " + func.args[d] + "=" +
                std::to_string(next.evaluate(s.values)) +
                " is in one with the cell before it, the ring begins anew between them" +
                parameters_text(named_parameters(problem, s.values)),
      "leave fold_storage() out", s.answer == Solution::Found,
      s.answer == Solution::Found ? named_parameters(problem, s.values)
                                  : std::vector<std::pair<std::string, int64_t>>(),
      s.answer == Solution::Found ? std::vector<Instance>{at(-1), at(0)} : std::vector<Instance>());
  return false;
}

// Two cells of one production's window at one place of the ring.
void judge_ring(JudgeContext &c, int f, size_t d) {
  const FuncDef &func = c.tree.algorithm.funcs[f];
  const FuncPlacement &placement = c.tree.placements[f];
  const int64_t ring = c.survey.funcs[f].fold[d];
  if (meets_c_function(c.tree, func.name) && !judge_whole_boxes(c, f, d)) return;
  Problem problem;
  SharedAtoms shared;
  SurveyScope scope(problem, shared, c.tree, c.survey);
  std::vector<std::pair<int, AffineRow>> counters;
  for (int l : c.path_to(placement.compute)) counters.emplace_back(l, scope.enter_loop(l));
  const IndexRange &window = c.survey.funcs[f].needed[d];
  const AffineRow first = problem.fresh(ModelVariable::Coordinate, "");
  const AffineRow second = problem.fresh(ModelVariable::Coordinate, "");
  scope.require_inside({first}, {window});
  scope.require_inside({second}, {window});
  problem.require_nonnegative(second - first - AffineRow(ring));
  const Solution s = c.solver.solve(problem);
  if (s.answer == Solution::Unknown) {
    return refuse(c, f, d, s.problem, "use a larger ring, or none", false);
  }
  if (s.answer == Solution::Found) {
    const auto cell = [&](const AffineRow &r) {
      return Instance{{f, 0}, {{func.args[d], r.evaluate(s.values)}}};
    };
    const auto text = [](const Instance &i) {
      return i.at[0].first + "=" + std::to_string(i.at[0].second);
    };
    std::string iteration;
    for (const auto &[l, counter] : counters) {
      iteration += (iteration.empty() ? ", in iteration " : ", ") + c.tree.loops[l].label + "=" +
                   std::to_string(counter.evaluate(s.values));
    }
    if (!counters.empty()) {
      iteration += " of " + c.tree.describe(c.tree.loops[counters.back().first].stage) + ",";
    }
    const std::vector<Instance> cells = {cell(first), cell(second)};
    const auto parameters = named_parameters(problem, s.values);
    return refuse(c, f, d,
                  text(cells[0]) + " and " + text(cells[1]) + " are needed at once" + iteration +
                      " and would lie at one place" + parameters_text(parameters),
                  "use a ring that holds what one iteration needs, or none",
                  !scope.translator().inexact(), parameters, cells);
  }
  c.certify('d', "ring over '" + func.args[d] + "' of '" + func.name + "'", Proof::Isl,
            "cells that are needed at once have places of their own");
}

}  // namespace

void judge_rings(JudgeContext &c) {
  for (size_t f = 0; f < c.tree.algorithm.funcs.size(); f++) {
    if (c.tree.algorithm.is_output(c.tree.algorithm.funcs[f].name)) continue;
    for (size_t d = 0; d < c.survey.funcs[f].fold.size(); d++) {
      if (c.refused()) return;
      if (c.tree.storage[f].dims[d].fold > 0) judge_ring(c, static_cast<int>(f), d);
    }
  }
}

}  // namespace polyhalite
