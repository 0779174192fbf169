#include "polyhedral/conflict.h"

#include <algorithm>
#include <utility>

namespace polyhalite {

namespace {

Instance instance_at(StageId stage, const StageInstance &i, const std::vector<int64_t> &values) {
  Instance result{stage, {}};
  for (const AlgorithmVariable &v : i.position) {
    result.at.push_back({v.name, v.row.evaluate(values)});
  }
  return result;
}

std::vector<int64_t> time_at(const StageInstance &i, const std::vector<int64_t> &values) {
  std::vector<int64_t> result;
  for (const LoopCoordinate &c : i.time) result.push_back(c.row.evaluate(values));
  return result;
}

bool same_cell(const std::vector<Expr> &a, const std::vector<Expr> &b) {
  for (size_t d = 0; d < a.size(); d++) {
    if (!equal(a[d], b[d])) return false;
  }
  return true;
}

// One access by the first instance, one by the second.
ConflictAnswer ask(JudgeContext &c, StageId stage, Conflict::Kind kind,
                   const std::vector<Expr> &first_cell, const std::vector<Expr> &second_cell,
                   const Relate &relate) {
  Problem problem;
  SharedAtoms shared;
  shared.changing.insert(c.tree.func(stage).name);
  StageInstance first = add_instance(problem, shared, c.tree, c.survey, stage);
  StageInstance second = add_instance(problem, shared, c.tree, c.survey, stage);
  relate(problem, first, second);
  std::vector<AffineRow> cell;
  for (size_t d = 0; d < first_cell.size(); d++) {
    cell.push_back(first.scope.row(first_cell[d]));
    problem.require_zero(cell[d] - second.scope.row(second_cell[d]));
  }
  const Solution s = c.solver.solve(problem);
  ConflictAnswer answer;
  if (s.answer == Solution::Unknown) answer.unknown = s.problem;
  if (s.answer != Solution::Found) return answer;
  Conflict conflict{kind,
                    instance_at(stage, first, s.values),
                    instance_at(stage, second, s.values),
                    time_at(first, s.values),
                    time_at(second, s.values),
                    {},
                    named_parameters(problem, s.values),
                    first.scope.data_dependent() || second.scope.data_dependent(),
                    first.scope.inexact() ? first.scope.inexact() : second.scope.inexact()};
  for (const AffineRow &r : cell) conflict.cell.push_back(r.evaluate(s.values));
  answer.conflict = std::move(conflict);
  return answer;
}

}  // namespace

ConflictAnswer find_conflict(JudgeContext &c, StageId stage, const Relate &relate) {
  const std::vector<SelfAccess> accesses = self_accesses(c.tree, stage);
  const auto reads =
      std::find_if(accesses.begin(), accesses.end(), [](const SelfAccess &a) { return !a.writes; });
  ConflictAnswer best;
  // True where the answer settles the question.
  auto consider = [&](ConflictAnswer answer) {
    if (answer.conflict && !answer.conflict->inexact) {
      best = std::move(answer);
      return true;
    }
    if (!best.conflict && (answer.conflict || answer.unknown)) best = std::move(answer);
    return false;
  };
  bool reads_what_it_writes = false;
  for (auto write = accesses.begin(); write != reads; ++write) {
    for (auto read = reads; read != accesses.end(); ++read) {
      if (consider(ask(c, stage, Conflict::Flow, write->cell, read->cell, relate))) return best;
      reads_what_it_writes = reads_what_it_writes || same_cell(write->cell, read->cell);
    }
  }
  for (auto write = accesses.begin(); write != reads; ++write) {
    for (auto read = reads; read != accesses.end(); ++read) {
      // The cell that it writes: answered above, as flow.
      if (same_cell(write->cell, read->cell)) continue;
      if (consider(ask(c, stage, Conflict::Anti, read->cell, write->cell, relate))) return best;
    }
  }
  // Two writes of one cell that is read too: answered above.
  if (reads_what_it_writes && reads - accesses.begin() == 1) return best;
  for (auto first = accesses.begin(); first != reads; ++first) {
    for (auto second = accesses.begin(); second != reads; ++second) {
      if (consider(ask(c, stage, Conflict::Output, first->cell, second->cell, relate))) return best;
    }
  }
  return best;
}

std::string cell_text(const std::string &func, const std::vector<int64_t> &cell) {
  std::string text = func + "(";
  for (size_t d = 0; d < cell.size(); d++) text += (d ? ", " : "") + std::to_string(cell[d]);
  return text + ")";
}

}  // namespace polyhalite
