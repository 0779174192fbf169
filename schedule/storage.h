// storage: what directives say of how each Func is stored and over what it is computed: order,
// alignment, rings, limits and memory, and the promises of bound() and its kin.
#pragma once

#include <vector>

#include "schedule/loop_tree.h"

namespace polyhalite {

/// How `func`, whose directives carry `user_name`, is stored. Throws CompileError.
FuncStorage storage_of(const FuncDef &func, const std::string &user_name,
                       const std::vector<Directive> &directives);

/// The bounds that directives give for func number `index`, in their order. Throws CompileError.
std::vector<BoundDirective> bounds_of(const FuncDef &func, int index, const std::string &user_name,
                                      const std::vector<Directive> &directives);

}  // namespace polyhalite
