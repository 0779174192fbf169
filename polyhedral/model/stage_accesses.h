// stage_accesses: what a stage reads and writes of Funcs.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/survey.h"

namespace polyhalite {

struct StageAccess {
  std::string func;
  std::vector<Expr> cell;
  Expr where;  // its value is used there only; null: always
  bool reads = true;
};

/// The cells that an update writes, and all reads of Funcs (of its own: what `self_accesses`
/// reads); of an extern stage none: they are its promise.
std::vector<StageAccess> stage_accesses(const LoopTree &tree, StageId s);

/// Does lowering clamp this index of an access of the stage to the box of what is accessed?
bool is_held(const Survey &survey, StageId s, const StageAccess &access, size_t dimension);

}  // namespace polyhalite
