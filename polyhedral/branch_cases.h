// The branches of a specialized Func, as cases of which one is taken.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// Stages that run under one condition, null: whatever the branches are.
struct BranchCase {
  Expr where;
  std::vector<int> stages;
};

/// The stages of a Func by their branches' conditions, of which one holds, those under none with
/// each of them; one case of all where conditions may hold together.
std::vector<BranchCase> branch_cases(const FuncDef &def);

}  // namespace polyhalite
