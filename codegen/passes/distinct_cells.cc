#include "codegen/passes/distinct_cells.h"

#include "polyhedral/model/translate.h"

namespace polyhalite {

namespace {

// What a place knows by its surroundings. Counters that are `bound` are the instance's own; others
// have one value for all instances of the problem.
void enter(Problem &problem, Translator &scope, const Surroundings &s, bool bound) {
  size_t branch = 0;
  for (const Stmt &a : s.around) {
    if (a->kind == StmtKind::Let) {
      const Type t = a->args[0].type();
      if (t.is_affine() && t.is_scalar()) scope.define(a->name, a->args[0]);
    } else if (a->kind == StmtKind::If) {
      scope.assume(s.branches[branch++] ? a->args[0] : make_not(a->args[0]));
    } else if (a->kind == StmtKind::For) {
      const Expr counter = make_variable(Int(32), VariableKind::Loop, a->name);
      const AffineRow min = scope.row(a->args[0]), extent = scope.row(a->args[1]);
      if (bound) scope.bind(a->name, problem.fresh(ModelVariable::Coordinate, a->name));
      const AffineRow at = scope.row(counter);
      problem.require_nonnegative(at - min);
      problem.require_nonnegative(min + extent - at - AffineRow(1));
    }
  }
}

}  // namespace

bool reads_no_cell(Solver &solver, const Surroundings &outside, const Surroundings &nest,
                   const std::vector<Expr> &indices, const CellSet &cells) {
  Problem problem;
  SharedAtoms shared;
  shared.changing.insert(cells.func);
  Translator reader(problem, shared), writer(problem, shared);
  enter(problem, reader, outside, false);
  enter(problem, writer, outside, false);
  enter(problem, reader, nest, true);
  enter(problem, writer, {cells.loops, {}}, true);
  for (size_t d = 0; d < indices.size(); d++) {
    problem.require_zero(reader.row(indices[d]) - writer.row(cells.indices[d]));
  }
  return solver.solve(problem).answer == Solution::None;
}

}  // namespace polyhalite
