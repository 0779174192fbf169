#include "polyhedral/conflict.h"

#include <algorithm>
#include <utility>

#include "polyhedral/model/survey_scope.h"

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

// An access that one of the two instances makes, and what of the stage it is in.
struct Side {
  const StageCase &only;
  const SelfAccess &access;
};

StageInstance instance_of(JudgeContext &c, Problem &problem, SharedAtoms &shared, StageId stage,
                          const Side &side) {
  StageInstance i = add_instance(problem, shared, c.tree, c.survey, stage, side.only);
  if (side.access.where.defined()) i.scope.assume(side.access.where);
  return i;
}

// Are they constants that differ, in some dimension?
bool never_meet(const std::vector<Expr> &a, const std::vector<Expr> &b) {
  for (size_t d = 0; d < a.size(); d++) {
    int64_t x, y;
    if (is_const_int(a[d], &x) && is_const_int(b[d], &y) && x != y) return true;
  }
  return false;
}

// One access by the first instance, one by the second. `checked`: with sizes that the entry check
// takes only.
ConflictAnswer ask(JudgeContext &c, StageId stage, Conflict::Kind kind, const Side &of_first,
                   const Side &of_second, const Relate &relate, bool checked) {
  ConflictAnswer answer;
  const std::vector<Expr> &first_cell = of_first.access.cell, &second_cell = of_second.access.cell;
  Problem problem;
  SharedAtoms shared;
  shared.changing.insert(c.tree.func(stage).name);
  std::optional<SurveyScope> entry;
  if (checked) entry.emplace(problem, shared, c.tree, c.survey);
  StageInstance first = instance_of(c, problem, shared, stage, of_first);
  StageInstance second = instance_of(c, problem, shared, stage, of_second);
  relate(problem, first, second);
  std::vector<AffineRow> cell;
  for (size_t d = 0; d < first_cell.size(); d++) {
    cell.push_back(first.scope.row(first_cell[d]));
    problem.require_zero(cell[d] - second.scope.row(second_cell[d]));
  }
  const Solution s = c.solver.solve(problem);
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

// out.min.0, out.extent.0  ->  out.0
std::string dimension_of(std::string parameter) {
  for (const std::string field : {".min.", ".extent."}) {
    const size_t at = parameter.rfind(field);
    if (at != std::string::npos) parameter.replace(at, field.size(), ".");
  }
  return parameter;
}

// Few legal schedules need to know what sizes are, so that short questions come first; what they
// do not name, no reader needs to know.
ConflictAnswer ask(JudgeContext &c, StageId stage, Conflict::Kind kind, const Side &of_first,
                   const Side &of_second, const Relate &relate) {
  if (of_first.access.value != of_second.access.value ||
      never_meet(of_first.access.cell, of_second.access.cell))
    return {};
  ConflictAnswer any = ask(c, stage, kind, of_first, of_second, relate, false);
  if (!any.conflict) return any;
  ConflictAnswer checked = ask(c, stage, kind, of_first, of_second, relate, true);
  if (checked.unknown) return any;
  if (!checked.conflict) return checked;
  auto &named = checked.conflict->parameters;
  const auto matters = [&](const std::pair<std::string, int64_t> &p) {
    const auto &names = any.conflict->parameters;
    return std::any_of(names.begin(), names.end(), [&](const auto &known) {
      return dimension_of(known.first) == dimension_of(p.first);
    });
  };
  named.erase(std::stable_partition(named.begin(), named.end(), matters), named.end());
  return checked;
}

// The accesses of one case of a stage.
struct CaseAccesses {
  StageCase only;
  std::vector<SelfAccess> writes, reads;
};

// Are both made by every instance, on one cell?
bool is_own(const SelfAccess &write, const SelfAccess &read) {
  return write.value == read.value && !write.where.defined() && !read.where.defined() &&
         same_cell(write.cell, read.cell);
}

std::vector<CaseAccesses> accesses_by_case(const LoopTree &tree, StageId stage) {
  std::vector<CaseAccesses> all;
  for (StageCase &only : stage_cases(tree.definition(stage))) {
    CaseAccesses a{std::move(only), {}, {}};
    for (SelfAccess &access : self_accesses(tree.func(stage).name, a.only)) {
      (access.writes ? a.writes : a.reads).push_back(std::move(access));
    }
    all.push_back(std::move(a));
  }
  return all;
}

}  // namespace

namespace {

ConflictAnswer find(JudgeContext &c, StageId stage, const Relate &relate, bool flow_only) {
  const std::vector<CaseAccesses> all = accesses_by_case(c.tree, stage);
  ConflictAnswer best;
  // True where the answer settles the question.
  auto consider = [&](Conflict::Kind kind, const CaseAccesses &a, const SelfAccess &of_a,
                      const CaseAccesses &b, const SelfAccess &of_b) {
    ConflictAnswer answer = ask(c, stage, kind, {a.only, of_a}, {b.only, of_b}, relate);
    if (answer.conflict && !answer.conflict->inexact) {
      best = std::move(answer);
      return true;
    }
    if (!best.conflict && (answer.conflict || answer.unknown)) best = std::move(answer);
    return false;
  };
  for (const CaseAccesses &a : all) {
    for (const CaseAccesses &b : all) {
      for (const SelfAccess &write : a.writes) {
        for (const SelfAccess &read : b.reads) {
          if (consider(Conflict::Flow, a, write, b, read)) return best;
        }
      }
    }
  }
  if (flow_only) return best;
  for (const CaseAccesses &a : all) {
    for (const CaseAccesses &b : all) {
      for (const SelfAccess &write : b.writes) {
        for (const SelfAccess &read : a.reads) {
          // The cell that it writes: a matter of two writes.
          const bool own = std::any_of(a.writes.begin(), a.writes.end(),
                                       [&](const SelfAccess &w) { return is_own(w, read); });
          if (own) continue;
          if (consider(Conflict::Anti, a, read, b, write)) return best;
        }
      }
    }
  }
  for (const CaseAccesses &a : all) {
    for (const CaseAccesses &b : all) {
      for (const SelfAccess &first : a.writes) {
        for (const SelfAccess &second : b.writes) {
          // Two writes of one cell that the second one reads too: answered above.
          const bool read = std::any_of(b.reads.begin(), b.reads.end(),
                                        [&](const SelfAccess &r) { return is_own(second, r); });
          if (read) continue;
          if (consider(Conflict::Output, a, first, b, second)) return best;
        }
      }
    }
  }
  return best;
}

}  // namespace

ConflictAnswer find_conflict(JudgeContext &c, StageId stage, const Relate &relate) {
  return find(c, stage, relate, false);
}

ConflictAnswer find_flow(JudgeContext &c, StageId stage, const Relate &relate) {
  return find(c, stage, relate, true);
}

std::string cell_text(const std::string &func, const std::vector<int64_t> &cell) {
  std::string text = func + "(";
  for (size_t d = 0; d < cell.size(); d++) text += (d ? ", " : "") + std::to_string(cell[d]);
  return text + ")";
}

}  // namespace polyhalite
