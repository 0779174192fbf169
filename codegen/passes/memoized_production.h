// Productions of memoized Funcs.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// production  ->  memoize "MEMORY/f" of f by (box, inputs) { production }
/// `last`: the last definition in it. Storage around some stages only parts a production, and what
/// a part leaves is kept for itself:
///
///   allocate g { f.s0 } f.s1  ->  allocate g { memoize "MEMORY/f.s0"... { f.s0 } }
///                                 memoize "MEMORY/f"... { f.s1 }
Stmt memoized_production(const LoopTree &tree, const Survey &survey, const std::string &memory,
                         int func, int last, const Stmt &production);

}  // namespace polyhalite
