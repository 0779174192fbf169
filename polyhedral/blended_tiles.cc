#include "polyhedral/blended_tiles.h"

#include <algorithm>
#include <set>

#include "polyhedral/model/stage_model.h"
#include "polyhedral/model/survey_scope.h"

namespace polyhalite {

namespace {

bool is_blended_split(const Derivation &d) {
  return d.kind == Derivation::Split && d.tail == TailStrategy::ShiftInwardsAndBlend;
}

// The splits that a guard can be of: one, unless one line of the program has several.
std::vector<const Derivation *> splits_of(const StageNest &nest, const Guard &guard) {
  std::vector<const Derivation *> its, all;
  for (const Derivation &d : nest.derivations) {
    if (!is_blended_split(d)) continue;
    all.push_back(&d);
    const bool same = d.where.file == guard.where.file && d.where.line == guard.where.line;
    if (same) its.push_back(&d);
  }
  return its.empty() ? all : its;
}

// The coordinates that later splits and fusions make of this one, and itself.
std::set<std::string> descendants(const StageNest &nest, const Derivation &split,
                                  const std::string &coordinate) {
  std::set<std::string> all = {coordinate};
  bool is_later = false;
  for (const Derivation &d : nest.derivations) {
    if (is_later && d.kind == Derivation::Split && all.count(d.a)) all.insert({d.b, d.c});
    if (is_later && d.kind != Derivation::Split && (all.count(d.a) || all.count(d.b))) {
      all.insert(d.c);
    }
    is_later = is_later || &d == &split;
  }
  return all;
}

// Can iterations of the loop tell tiles of the split apart, or places in tiles around a loop over
// the tiles? Else the iteration that writes a point back is the one that has made it.
bool tells_tiles_apart(const LoopTree &tree, StageId s, size_t position, const Derivation &split) {
  const StageNest &nest = tree.nest(s);
  auto dim_at = [&](size_t l) -> const std::string & { return tree.loops[nest.loops[l]].dim; };
  const std::set<std::string> tiles = descendants(nest, split, split.b);
  if (tiles.count(dim_at(position))) return true;
  // Where a loop over tiles was skewed, what it was skewed by says with it which tile it is.
  for (const Derivation &d : nest.derivations) {
    if (d.kind == Derivation::Skew && tiles.count(d.a) &&
        descendants(nest, d, d.b).count(dim_at(position)))
      return true;
  }
  if (!descendants(nest, split, split.c).count(dim_at(position))) return false;
  for (size_t l = position + 1; l < nest.loops.size(); l++) {
    if (tiles.count(dim_at(l))) return true;
  }
  return false;
}

bool overlaps(const Derivation &d) {
  return d.kind == Derivation::Split &&
         (d.tail == TailStrategy::ShiftInwards || is_blended_split(d));
}

// Does an iteration of the loop make the points of a tile before it writes them back with the next
// one? The loop over tiles is then outside of that over places.
bool makes_first(const LoopTree &tree, StageId s, size_t position, const Derivation &split) {
  const StageNest &nest = tree.nest(s);
  for (size_t l = position + 1; l < nest.loops.size(); l++) {
    const std::string &dim = tree.loops[nest.loops[l]].dim;
    if (dim == split.b) return true;
    if (descendants(nest, split, split.b).count(dim) ||
        descendants(nest, split, split.c).count(dim))
      return false;
  }
  return false;
}

// Does another split visit some points twice, of what this one splits or makes? Then iterations of
// any loop over it may. So may those of a loop that visits points of its own twice, where what one
// writes back is not yet what it has made.
bool shifts_elsewhere(const LoopTree &tree, StageId s, size_t position, const Derivation &split) {
  const StageNest &nest = tree.nest(s);
  auto makes = [&](const Derivation &d, const std::string &coordinate) {
    return descendants(nest, d, d.b).count(coordinate) ||
           descendants(nest, d, d.c).count(coordinate);
  };
  const std::string &loop = tree.loops[nest.loops[position]].dim;
  const bool first = makes_first(tree, s, position, split);
  return std::any_of(nest.derivations.begin(), nest.derivations.end(), [&](const Derivation &d) {
    return &d != &split && overlaps(d) &&
           (makes(d, split.a) || makes(split, d.a) || (!first && makes(d, loop)));
  });
}

// Variables that say which cell an instance writes, wherever it is.
std::vector<std::string> own_variables(const LoopTree &tree, StageId s) {
  std::vector<std::string> names;
  for (int d = 0; d < tree.func(s).dimensions(); d++) {
    if (has_pure_variable(tree, s, d)) names.push_back(tree.func(s).args[d]);
  }
  return names;
}

// One guard of a tail: the first instance is where it does not hold.
std::optional<BlendedTwice> find_twice(JudgeContext &c, StageId s, size_t position,
                                       const Guard &guard) {
  const StageNest &nest = c.tree.nest(s);
  const std::vector<const Derivation *> splits = splits_of(nest, guard);
  const bool tells = std::any_of(splits.begin(), splits.end(), [&](const Derivation *d) {
    return shifts_elsewhere(c.tree, s, position, *d) || tells_tiles_apart(c.tree, s, position, *d);
  });
  if (!tells) return std::nullopt;
  Problem problem;
  SharedAtoms shared;
  SurveyScope scopes[2] = {{problem, shared, c.tree, c.survey},
                           {problem, shared, c.tree, c.survey}};
  AffineRow iteration[2];
  for (int i = 0; i < 2; i++) {
    for (int l : c.path_to(c.tree.placements[s.func].compute)) scopes[i].enter_shared_loop(l);
    for (size_t l = 0; l < nest.loops.size(); l++) {
      if (l < position) {
        scopes[i].enter_shared_loop(nest.loops[l]);
      } else {
        const AffineRow counter = scopes[i].enter_loop(nest.loops[l]);
        if (l == position) iteration[i] = counter;
      }
    }
    scopes[i].enter_stage(s, SurveyScope::Writes);
  }
  scopes[0].translator().assume(make_not(guard.condition));
  Conjunction before, after;
  before.nonnegative.push_back(iteration[1] - iteration[0] - AffineRow(1));
  after.nonnegative.push_back(iteration[0] - iteration[1] - AffineRow(1));
  problem.choices.push_back({before, after});
  std::vector<std::pair<std::string, AffineRow>> at;
  for (const std::string &name : own_variables(c.tree, s)) {
    const Expr v = make_variable(Int(32), VariableKind::Pure, name);
    at.push_back({name, scopes[0].translator().row(v)});
    problem.require_zero(at.back().second - scopes[1].translator().row(v));
  }
  BlendedTwice twice;
  twice.solution = c.solver.solve(problem);
  if (twice.solution.answer == Solution::None) return std::nullopt;
  twice.split = splits[0];
  for (SurveyScope &scope : scopes) {
    if (!twice.inexact) twice.inexact = scope.translator().inexact();
    if (!twice.inexact && scope.has_intervals()) twice.inexact = "a coordinate of a fused loop";
  }
  if (twice.solution.answer != Solution::Found) return twice;
  const std::vector<int64_t> &values = twice.solution.values;
  twice.blends = iteration[0].evaluate(values);
  twice.writes = iteration[1].evaluate(values);
  twice.point.stage = s;
  for (const auto &[name, row] : at) twice.point.at.push_back({name, row.evaluate(values)});
  twice.parameters = named_parameters(problem, values);
  return twice;
}

}  // namespace

bool blends_tiles(const LoopTree &tree, StageId s) {
  const std::vector<Derivation> &made = tree.nest(s).derivations;
  return std::any_of(made.begin(), made.end(), is_blended_split);
}

std::optional<BlendedTwice> find_blended_twice(JudgeContext &c, StageId s, size_t position) {
  for (const Guard &guard : c.survey.stages[s.func][s.stage].guards) {
    if (guard.rest != Guard::Blends) continue;
    if (auto twice = find_twice(c, s, position, guard)) return twice;
  }
  return std::nullopt;
}

}  // namespace polyhalite
