// Calls of the program's own C functions in expressions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhalite/expr.h"
#include "polyhalite/var.h"

namespace polyhalite {

/// The value of the C function `name`, or of the C++ function "a::name" or "::name", for these
/// arguments, which must have the `types`, at each point where it is used: how often it is called
/// is not fixed, so it should have no effect but its result. In process it is found among the
/// pipeline's jit_externs or the symbols that the process exports. CompileError for arguments of
/// other types.
Expr extern_call(const Type &result, const std::string &name, const std::vector<Expr> &args,
                 const std::vector<Type> &types, Here here = Here());

/// The same for a function that is pure: equal arguments give equal results, it does nothing else,
/// and it may be called where its value is not needed. Loops in which its arguments stay the same
/// call it once, in front of them.
Expr pure_extern_call(const Type &result, const std::string &name, const std::vector<Expr> &args,
                      const std::vector<Type> &types, Here here = Here());

/// What the runtime's functions get as their first argument: the context of the call.
Expr user_context_value();

}  // namespace polyhalite
