// fixed_value: an integer that is known before a pipeline's loops run, such as a split's factor.
#pragma once

#include <string>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"

namespace polyhalite::detail {

/// `e` as Int(32). CompileError where it is undefined, no integer, a constant that int32 does not
/// hold, or varies within a run. `what` names it: "the extent of dimension 0 of ImageParam 'in'".
Expr fixed_integer(Expr e, const std::string &what, const SourceLocation &where);

/// CompileError where `e` mentions loop variables, Funcs or images' elements.
void require_fixed(const Expr &e, const std::string &what, const SourceLocation &where);
/// The same, but images' elements at fixed indices are fixed.
void require_fixed_or_element(const Expr &e, const std::string &what, const SourceLocation &where);

/// CompileError unless `e` is an integer, and if constant one that int32 holds.
void require_int32(const Expr &e, const std::string &what, const SourceLocation &where);

}  // namespace polyhalite::detail
