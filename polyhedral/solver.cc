#include "polyhedral/solver.h"

#include <set>
#include <utility>

#include "polyhalite/cancellation.h"

namespace polyhalite {

namespace {

// A problem that has more conjunctions with solutions than this is not decided.
constexpr int kMaxConjunctions = 4096;
// Nor is one whose conjunctions have more coefficients than this together: isl takes about a
// microsecond for each, so that a question ends within seconds.
constexpr int64_t kMaxCoefficients = 4'000'000;
// Problems with few conjunctions are quickest without looking for choices that exclude each other,
// unless most choices end before they make one.
constexpr int kFewConjunctions = 16, kFewOptions = 1024;
// Every variable of a problem stands for an Int(32) value.
constexpr int64_t kLeast = INT32_MIN, kGreatest = INT32_MAX;
// Where a smallest point is looked for, one after the other: nonnegative numbers read best.
constexpr int64_t kLeastShown[] = {0, -8, -100, kLeast};

// Drops rows that hold always; false where a row never holds.
bool tidy(std::vector<AffineRow> &rows, bool equality) {
  std::vector<AffineRow> kept;
  for (AffineRow &r : rows) {
    if (!r.is_constant()) {
      kept.push_back(std::move(r));
    } else if (equality ? r.constant != 0 : r.constant < 0) {
      return false;
    }
  }
  rows = std::move(kept);
  return true;
}

// Dense rows for isl, variable v in column place[v] + 1.
std::vector<IntegerRow> dense(const std::vector<AffineRow> &rows, const std::vector<int> &place) {
  std::vector<IntegerRow> result;
  for (const AffineRow &r : rows) {
    IntegerRow row(place.size() + 1, 0);
    row[0] = r.constant;
    for (const auto &[v, c] : r.terms) row[place[v] + 1] = c;
    result.push_back(std::move(row));
  }
  return result;
}

// Parameters first, then coordinates, so that the smallest solution has small parameters.
std::vector<int> places_by_role(const Problem &p) {
  std::vector<int> place(p.variables.size());
  int next = 0;
  for (auto role :
       {ModelVariable::Parameter, ModelVariable::Coordinate, ModelVariable::Existential}) {
    for (size_t v = 0; v < place.size(); v++) {
      if (p.variables[v].role == role) place[v] = next++;
    }
  }
  return place;
}

Solution too_many_cases() {
  Solution s;
  s.answer = Solution::Unknown;
  s.problem = "the question has too many cases";
  return s;
}

std::vector<int64_t> key_of(const Problem &p, const Conjunction &rows) {
  std::vector<int64_t> key = {static_cast<int64_t>(p.variables.size())};
  for (const ModelVariable &v : p.variables) key.push_back(v.role);
  for (const auto *list : {&rows.zero, &rows.nonnegative}) {
    key.push_back(-1);
    for (const AffineRow &r : *list) {
      key.push_back(static_cast<int64_t>(r.terms.size()));
      key.push_back(r.constant);
      for (const auto &[v, c] : r.terms) {
        key.push_back(v);
        key.push_back(c);
      }
    }
  }
  return key;
}

}  // namespace

IslContext &Solver::context() {
  if (!context_) context_ = std::make_unique<IslContext>(operations_);
  return *context_;
}

IslSet Solver::to_set(const Problem &problem, const Conjunction &rows,
                      const std::vector<int> &place) {
  return IslSet::from_rows(context(), static_cast<int>(problem.variables.size()),
                           dense(rows.zero, place), dense(rows.nonnegative, place));
}

bool Solver::for_each_conjunction(const Problem &p, const Visit &visit) {
  const std::vector<int> place = places_by_role(p);
  int options = 0;
  int met = 0;  // conjunctions, and where there are more than a few their beginnings too
  int64_t coefficients = 0;
  bool stopped = false;
  auto count = [&](const Conjunction &rows) {
    met++;
    coefficients +=
        static_cast<int64_t>(p.variables.size() * (rows.zero.size() + rows.nonnegative.size()));
  };
  auto exhausted = [&] { return met >= kMaxConjunctions || coefficients >= kMaxCoefficients; };
  std::function<void(size_t, const Conjunction &)> descend = [&](size_t depth,
                                                                 const Conjunction &rows) {
    if (depth == p.choices.size()) {
      count(rows);
      stopped = visit(rows);
      return;
    }
    for (const Conjunction &option : p.choices[depth]) {
      if (stopped || exhausted()) return;
      options++;
      Conjunction next = rows;
      next.append(option);
      if (!tidy(next.nonnegative, false) || !tidy(next.zero, true)) continue;
      const bool few = met < kFewConjunctions && options < kFewOptions;
      if (!few && depth + 1 < p.choices.size()) {
        count(next);
        if (to_set(p, next, place).is_empty().value_or(false)) continue;
      }
      descend(depth + 1, next);
    }
  };
  Conjunction known = p.known;
  if (tidy(known.nonnegative, false) && tidy(known.zero, true)) descend(0, known);
  return stopped || !exhausted();
}

Solution Solver::smallest(const Problem &problem, const Conjunction &rows) {
  auto [it, is_new] = memory_.emplace(key_of(problem, rows), Solution());
  Solution &solution = it->second;
  if (!is_new) return solution;
  questions_++;
  const int n = static_cast<int>(problem.variables.size());
  const std::vector<int> place = places_by_role(problem);
  const auto empty = to_set(problem, rows, place).is_empty();
  if (!empty) {
    solution.answer = Solution::Unknown;
    solution.problem = context().last_problem();
    return solution;
  }
  if (*empty) return solution;
  const auto equalities = dense(rows.zero, place), inequalities = dense(rows.nonnegative, place);
  for (const int64_t least : kLeastShown) {
    auto bounded = inequalities;
    for (int v = 0; v < n; v++) {
      const bool shown = problem.variables[v].role != ModelVariable::Existential;
      IntegerRow low(n + 1, 0), high(n + 1, 0);
      low[0] = shown ? -least : -kLeast;
      low[place[v] + 1] = 1;
      high[0] = kGreatest;
      high[place[v] + 1] = -1;
      bounded.push_back(low);
      bounded.push_back(high);
    }
    const auto is_known_empty = [&] {
      return IslSet::from_rows(context(), n, equalities, bounded).is_empty().value_or(false);
    };
    if (is_known_empty()) continue;
    for (int v = 0; least < 0 && v < n; v++) {  // no more of them below zero than have to be
      if (problem.variables[v].role == ModelVariable::Existential) continue;
      IntegerRow nonnegative(n + 1, 0);
      nonnegative[place[v] + 1] = 1;
      bounded.push_back(nonnegative);
      if (is_known_empty()) bounded.pop_back();
    }
    const auto point = IslSet::from_rows(context(), n, equalities, bounded).smallest();
    solution.answer = point ? Solution::Found : Solution::Unknown;
    if (!point) solution.problem = context().last_problem();
    for (int v = 0; point && v < n; v++) solution.values.push_back((*point)[place[v]]);
    return solution;
  }
  return solution;
}

Solution Solver::solve(const Problem &problem) {
  check_cancelled();
  Solution result;
  auto is_readable = [&](const Solution &s) {
    for (size_t v = 0; v < s.values.size(); v++) {
      const bool shown = problem.variables[v].role != ModelVariable::Existential;
      if (shown && s.values[v] < 0) return false;
    }
    return true;
  };
  constexpr int kMostNicer = 8;  // cases that are looked at for numbers that read better
  int nicer = 0;
  const bool complete = for_each_conjunction(problem, [&](const Conjunction &rows) {
    if (result.answer == Solution::Found && ++nicer > kMostNicer) return true;
    Solution s = smallest(problem, rows);
    // A solution decides; a case without an answer leaves the others to be looked at, and so does a
    // solution with negative numbers.
    if (s.answer == Solution::None) return false;
    const bool done = s.answer == Solution::Found && is_readable(s);
    if (result.answer != Solution::Found || done) result = std::move(s);
    return done;
  });
  if (!complete && result.answer == Solution::None) result = too_many_cases();
  return result;
}

std::optional<IslSet> Solver::to_set(Problem p, std::vector<int> keep) {
  // A column shows one variable: a second look at it is a variable of its own.
  std::set<int> seen;
  for (int &v : keep) {
    if (seen.insert(v).second) continue;
    const AffineRow copy = p.fresh(ModelVariable::Existential, "");
    p.require_zero(copy - AffineRow::variable(v));
    v = copy.terms.begin()->first;
  }
  const int n = static_cast<int>(p.variables.size()), kept = static_cast<int>(keep.size());
  std::vector<int> place(n, -1);
  for (int i = 0; i < kept; i++) place[keep[i]] = i;
  int next = kept;
  for (int &v : place) {
    if (v < 0) v = next++;
  }
  IslSet all = IslSet::empty(context(), kept);
  const bool complete = for_each_conjunction(p, [&](const Conjunction &rows) {
    all = all.unite(to_set(p, rows, place).keep_first(kept));
    return false;
  });
  return complete ? std::optional(all) : std::nullopt;
}

Solution Solver::uncovered(const Problem &inside, const std::vector<int> &inside_keep,
                           const Problem &outside, const std::vector<int> &outside_keep) {
  questions_++;
  Solution result;
  const auto need = to_set(inside, inside_keep), have = to_set(outside, outside_keep);
  if (!need || !have) return too_many_cases();
  const auto covered = need->is_subset_of(*have);
  if (!covered) {
    result.answer = Solution::Unknown;
    result.problem = context().last_problem();
  } else if (!*covered) {
    result.answer = Solution::Found;
    for (const int64_t least : kLeastShown) {
      Problem near = inside;
      for (int v : inside_keep) {
        near.require_less_equal(AffineRow(least), AffineRow::variable(v));
        near.require_less_equal(AffineRow::variable(v), AffineRow(kGreatest));
      }
      const auto set = to_set(near, inside_keep);
      if (const auto point = set ? set->smallest_outside(*have) : std::nullopt) {
        result.values = *point;
        break;
      }
    }
  }
  return result;
}

}  // namespace polyhalite
