// distinct_cells: does a read in a nest of loops ever touch the cells that the nest writes?
//
//   for k in (0, j) { f(j) = f(j) + f(k)*a(k) }     f(k) is never f(j): k < j
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/solver.h"

namespace polyhalite {

/// The statements around a place, outermost first, and for each If whether it is the then case.
struct Surroundings {
  std::vector<Stmt> around;
  std::vector<bool> branches;
};

/// Cells of one Func: `indices` for all values that the counters of `loops` take.
struct CellSet {
  std::string func;
  std::vector<Expr> indices;
  std::vector<Stmt> loops;  // their ranges use no counters of each other
};

/// Is it proven that no iteration of the loops in `nest` reads, at `indices` of the same Func, one
/// of the cells? `outside` is what stands around the nest: its counters and symbols have one value.
bool reads_no_cell(Solver &solver, const Surroundings &outside, const Surroundings &nest,
                   const std::vector<Expr> &indices, const CellSet &cells);

}  // namespace polyhalite
