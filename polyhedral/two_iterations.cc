#include "polyhedral/two_iterations.h"

#include "polyhedral/model/survey_scope.h"

namespace polyhalite {

std::string TwoIterations::text(const LoopInfo &loop) const {
  if (solution.answer != Solution::Found) {
    return solution.problem + "; iterations of '" + loop.label + "' may run";
  }
  return "iterations " + loop.label + "=" + std::to_string(first) + " and " + loop.label + "=" +
         std::to_string(second) + (inexact ? " may run" : " run");
}

Refusal TwoIterations::refusal(char claim, const LoopInfo &loop) const {
  const bool found = solution.answer == Solution::Found;
  Refusal r{claim, found && !inexact ? Proof::Isl : Proof::Undecided, {}, {}, parameters};
  if (found) {
    for (const int64_t i : {first, second}) r.instances.push_back({loop.stage, {{loop.label, i}}});
  }
  return r;
}

TwoIterations find_two_iterations(JudgeContext &c, const std::vector<int> &path, size_t at,
                                  const Expr &same) {
  Problem problem;
  SharedAtoms shared;
  SurveyScope scopes[2] = {{problem, shared, c.tree, c.survey},
                           {problem, shared, c.tree, c.survey}};
  AffineRow iteration[2];
  for (int i = 0; i < 2; i++) {
    for (size_t l = 0; l < at; l++) scopes[i].enter_shared_loop(path[l]);
    iteration[i] = scopes[i].enter_loop(path[at]);
  }
  problem.require_nonnegative(iteration[1] - iteration[0] - AffineRow(1));
  if (same.defined()) {
    for (size_t l = at + 1; l < path.size(); l++) {
      for (SurveyScope &s : scopes) s.enter_loop(path[l]);
    }
    problem.require_zero(scopes[1].translator().row(same) - scopes[0].translator().row(same));
  }
  TwoIterations two;
  two.solution = c.solver.solve(problem);
  two.inexact = scopes[0].translator().inexact().has_value();
  if (two.solution.answer != Solution::Found) return two;
  two.first = iteration[0].evaluate(two.solution.values);
  two.second = iteration[1].evaluate(two.solution.values);
  two.parameters = named_parameters(problem, two.solution.values);
  return two;
}

}  // namespace polyhalite
