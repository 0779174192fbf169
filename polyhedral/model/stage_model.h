// stage_model: one instance of a stage as rows of a Problem, in loop coordinates: splits and fuses
// keep their coordinates, so that the order of the loops is the order of the coordinates.
//
//   split r by 8 (guarded), fuse q and ri    ro, (q, ri)     r = 8*ro + ri, 0 <= ri < 8, r <= max
//   skew r by 2*t                            r.1, t          r.1 = r + 2*t
#pragma once

#include <string>
#include <vector>

#include "polyhedral/model/constraints.h"
#include "polyhedral/model/stage_cases.h"
#include "polyhedral/model/translate.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// A coordinate of a loop: the loop's own counter, or one of those that a fuse joined.
struct LoopCoordinate {
  int loop;           // id
  std::string label;  // the user's name: the loop's, or of the dimension that was fused
  AffineRow row;
};

struct AlgorithmVariable {
  std::string name;
  AffineRow row;
};

struct StageInstance {
  Translator scope;                         // algorithm variables are bound
  std::vector<LoopCoordinate> time;         // outermost first
  std::vector<AlgorithmVariable> position;  // in the algorithm's order, outermost first

  std::vector<AffineRow> time_rows() const;
  std::vector<AffineRow> position_rows() const;
};

/// Adds an instance to the problem: its variables, bounds, guards and predicate. What lies outside
/// of the stage's own loops is shared by all instances of the problem.
StageInstance add_instance(Problem &problem, SharedAtoms &shared, const LoopTree &tree,
                           const Survey &survey, StageId stage);
/// One of one of the stage's cases.
StageInstance add_instance(Problem &problem, SharedAtoms &shared, const LoopTree &tree,
                           const Survey &survey, StageId stage, const StageCase &only);

/// An access of a stage to its own Func's storage.
struct SelfAccess {
  std::vector<Expr> cell;
  int value;  // which one of a Tuple; each has memory of its own
  bool writes;
  Expr where;  // it is written, or what is read is used, there only; null: always
};

/// The writes first, then each distinct read. A value of a Tuple that stays what it is is neither
/// (lang/simplify/written_values).
std::vector<SelfAccess> self_accesses(const LoopTree &tree, StageId stage);
/// Those of a case of a stage of the Func.
std::vector<SelfAccess> self_accesses(const std::string &func, const StageCase &only);

/// Do instances of the update that write one cell write one value there, in whatever order? Its
/// values read nothing of its Func, and depend on no variable but pure ones that stand on the left
/// side as they are: f(g(r), x) = h(x).
bool writes_one_value(const LoopTree &tree, StageId stage);

/// Instances with different pure variables touch different cells: in every access of the stage to
/// its own Func, each of its pure variables stands alone at its own place, as on the left side.
bool is_pure_in_its_variables(const LoopTree &tree, StageId stage);

/// Does an update touch its Func at indices made of pure variables in other places than their own,
/// as in f(x, x + 1) = f(x, x)?
bool touches_other_rows(const LoopTree &tree, StageId stage);

/// Does this argument of the stage's Func have a loop in the stage? An update may fix it: f(0, y).
bool has_pure_variable(const LoopTree &tree, StageId stage, int argument);

}  // namespace polyhalite
