// Checks that calls of Funcs, images and buffers share.
#pragma once

#include <string>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"

namespace polyhalite::detail {

/// The arguments as Int(32), `_` replaced by the implicit variables that it stands for.
/// CompileError where there are not `dimensions` of them, one is undefined, or one is no integer.
/// `kind` and `name` are for the message: "Func", "blur".
std::vector<Expr> call_arguments(const std::vector<Expr> &args, int dimensions, const char *kind,
                                 const std::string &name, const SourceLocation &where);

}  // namespace polyhalite::detail
