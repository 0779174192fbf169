// (d) async. Both tasks run the loops between the fork and the productions in one order, so that
// counting semaphores pair the k-th production with the k-th consumption: consumption k begins when
// productions 0..k have ended, and production k + ahead when consumptions 0..k have. What is left
// to show is that a production never writes what a consumption that may run beside it reads:
// earlier ones, by fewer than `ahead` iterations, or by any number where nothing limits them.
#include <utility>

#include "polyhedral/conflict.h"
#include "polyhedral/judge_context.h"
#include "polyhedral/model/survey_scope.h"
#include "polyhedral/two_iterations.h"

namespace polyhalite {

namespace {

struct Meeting {
  Solution solution;
  int64_t produced = 0, consumed = 0;  // iterations of the loop
  std::vector<std::pair<std::string, int64_t>> parameters;
  std::optional<std::string> inexact;
};

// Iterations of the loops between, one consuming and a later one producing, that meet in a cell.
// With a limit there is one loop, and the later one is nearer than the limit.
Meeting find_meeting(JudgeContext &c, int f, const std::vector<int> &path, size_t inside,
                     std::optional<int64_t> ahead) {
  const FuncSurvey &boxes = c.survey.funcs[f];
  Problem problem;
  SharedAtoms shared;
  SurveyScope scopes[2] = {{problem, shared, c.tree, c.survey},
                           {problem, shared, c.tree, c.survey}};
  std::vector<AffineRow> iteration[2];
  for (int i = 0; i < 2; i++) {
    for (size_t l = 0; l < path.size(); l++) {
      if (l < inside) {
        scopes[i].enter_shared_loop(path[l]);
      } else {
        iteration[i].push_back(scopes[i].enter_loop(path[l]));
      }
    }
  }
  std::vector<AffineRow> read, written;
  for (size_t d = 0; d < boxes.needed.size(); d++) {
    read.push_back(problem.fresh(ModelVariable::Coordinate, ""));
    if (boxes.fold[d] == 0) {
      written.push_back(read[d]);
      continue;
    }
    const AffineRow turns = problem.fresh(ModelVariable::Existential, "");
    written.push_back(read[d] + boxes.fold[d] * turns);
  }
  scopes[0].require_inside(read, boxes.needed);
  scopes[1].require_inside(written, boxes.computed);
  if (ahead) {
    const AffineRow distance = iteration[1][0] - iteration[0][0];
    problem.require_nonnegative(distance - AffineRow(1));
    problem.require_nonnegative(AffineRow(*ahead - 1) - distance);
  } else {
    problem.choices.push_back(lexicographically_less(iteration[0], iteration[1]));
  }
  Meeting m;
  m.solution = c.solver.solve(problem);
  for (const SurveyScope &s : scopes) {
    if (!m.inexact) m.inexact = const_cast<SurveyScope &>(s).translator().inexact();
  }
  if (m.solution.answer != Solution::Found) return m;
  m.consumed = iteration[0][0].evaluate(m.solution.values);
  m.produced = iteration[1][0].evaluate(m.solution.values);
  m.parameters = named_parameters(problem, m.solution.values);
  return m;
}

// A window that moves one way with the one loop between: what an iteration computes lies beyond
// what the one before it needed, and so beyond what any before it did. Not so in a ring, nor where
// whole tiles take in cells that are there already.
bool only_new_cells(const JudgeContext &c, int f, const std::vector<int> &between) {
  const FuncSurvey &boxes = c.survey.funcs[f];
  bool found = false;
  for (size_t d = 0; d < boxes.needed.size(); d++) {
    if (boxes.fold[d] > 0) return false;
    const auto &slide = boxes.slides[d];
    found = found ||
            (slide && between.size() == 1 && slide->loop == between[0] && !slide->first.defined());
  }
  return found;
}

void judge_tasks(JudgeContext &c, int f) {
  const FuncDef &func = c.tree.algorithm.funcs[f];
  const FuncPlacement &placement = c.tree.placements[f];
  const std::string about = "asynchronous '" + func.name + "'";
  const std::vector<int> between = c.path_between(placement.fork_level(), placement.compute);
  const std::vector<int> path = c.path_to(placement.compute);
  for (size_t at = path.size() - between.size(); at < path.size(); at++) {
    const LoopInfo &loop = c.tree.loops[path[at]];
    if (!runs_at_once(loop.kind)) continue;
    const TwoIterations two = find_two_iterations(c, path, at);
    if (two.solution.answer == Solution::None) continue;
    Refusal refusal = two.refusal('d', loop);
    Diagnostic &d = refusal.diagnostic;
    d.what = "cannot run '" + func.name + "' asynchronously across the " +
             loop_kind_name(loop.kind) + " loop '" + loop.label + "' of " +
             c.tree.describe(loop.stage);
    d.why = "a consumer counts the productions before its own, and " + two.text(loop) +
            " in any order" + parameters_text(two.parameters);
    d.fix = "store '" + func.name + "' at loop '" + loop.label + "' or inside it, or keep '" +
            loop.label + "' serial";
    d.where = placement.async_where;
    c.refuse(std::move(refusal));
    return;
  }
  const Expr &ahead = c.survey.funcs[f].async->ahead;
  if (between.empty()) {
    c.certify('d', about, Proof::Structural, "the consumer waits for the whole production");
    return;
  }
  if (placement.ring.defined() && ahead.defined() && equal(ahead, placement.ring)) {
    c.certify('d', about, Proof::Structural, "productions in one ring have storages of their own");
    return;
  }
  int64_t limit = 0;
  const bool limited = ahead.defined() && is_const_int(ahead, &limit);
  if (limited && limit == 1) {
    c.certify('d', about, Proof::Structural,
              "a production begins when the one before it is consumed");
    return;
  }
  const Meeting m = find_meeting(c, f, path, path.size() - between.size(),
                                 limited ? std::optional<int64_t>(limit) : std::nullopt);
  if (m.solution.answer == Solution::None) {
    c.certify('d', about, Proof::Isl,
              limited ? "productions at most " + std::to_string(limit - 1) +
                            " ahead write cells that no consumer reads any more"
                      : "later productions write cells that no earlier consumer reads");
    return;
  }
  const bool unknown = m.solution.answer == Solution::Unknown || m.inexact;
  if (unknown && only_new_cells(c, f, between)) {
    c.certify('d', about, Proof::Structural,
              "productions of a window that slides write cells that no earlier one had");
    return;
  }
  const LoopInfo &loop = c.tree.loops[between[0]];
  const std::string &label = loop.label;
  Refusal refusal{'d', unknown ? Proof::Undecided : Proof::Isl, {}, {}, m.parameters};
  if (m.solution.answer == Solution::Found) {
    for (const int64_t i : {m.produced, m.consumed}) {
      refusal.instances.push_back({loop.stage, {{label, i}}});
    }
  }
  refusal.diagnostic = {
      std::string(unknown ? "cannot prove that it is legal to" : "cannot") + " run '" + func.name +
          "' asynchronously",
      m.solution.answer == Solution::Unknown
          ? m.solution.problem
          : "its production at " + label + "=" + std::to_string(m.produced) +
                " writes what the consumer at " + label + "=" + std::to_string(m.consumed) +
                " may still read" + parameters_text(m.parameters),
      "store '" + func.name + "' where it is computed, or drop async", placement.async_where};
  c.refuse(std::move(refusal));
}

}  // namespace

void judge_async(JudgeContext &c) {
  for (size_t f = 0; f < c.tree.algorithm.funcs.size(); f++) {
    if (c.refused()) return;
    if (c.survey.funcs[f].async) judge_tasks(c, static_cast<int>(f));
  }
}

}  // namespace polyhalite
