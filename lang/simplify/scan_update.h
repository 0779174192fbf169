// scan_update: is an update a scan, whose cells are made one after the other, each of the one
// before it?
//
//   over r: f(x, r) = f(x, r - 1) + g(x, r)      each cell: step of the one at r - 1
//   over r: f(r) = f(r) + f(r - 1)*a(r)          with what the cell held before
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/simplify/associative.h"

namespace polyhalite {

struct ScanUpdate {
  /// What a step makes of the cell before; operands may call the Func where the step writes.
  AssociativeUpdate step;
  std::vector<size_t> rows;  // the Func's dimensions that are pure variables: each point is a scan
  std::vector<Expr> before;  // the cell of the step before
  /// The operands without calls of the Func: what it held is the pure definition's value.
  std::vector<Expr> operands;
};

/// Of an update with one reduction variable, which one dimension of its cell follows, the others
/// being pure variables or the same in all steps. nullopt where it is none, or where its steps do
/// not compose; `why` then says what stands against it.
std::optional<ScanUpdate> prove_scan(const FuncDef &f, int stage, std::string *why = nullptr);

}  // namespace polyhalite
