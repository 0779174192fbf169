// Expressions and definitions as Python programs read them.
#pragma once

#include <string>

#include "polyhalite/expr.h"
#include "polyhalite/func.h"
#include "polyhalite/var.h"

namespace polyhalite::python {

/// The text form of expressions with the arguments of Funcs and images in Python's order:
/// "f(y, x) + 1". "(undefined)" for an undefined one. Names lose what makes them unique in the
/// process.
std::string python_text(const Expr &e);
std::string plain_name_of(const RVar &r);

}  // namespace polyhalite::python
