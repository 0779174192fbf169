// implicit: the arguments that `_` stands for.
#pragma once

#include <string>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"

namespace polyhalite {

/// f(x, _, y) of 4 dimensions  ->  x, _0, _1, y. Arguments without `_` stay as they are, and so do
/// those that are too many. CompileError for two of them.
std::vector<Expr> expand_placeholder(const std::vector<Expr> &args, int dimensions,
                                     const std::string &func, const SourceLocation &where);

/// How many implicit variables _0, _1... the expressions use: one more than the greatest.
int count_implicit(const std::vector<Expr> &values);

/// The position of `_`, or -1.
int find_placeholder(const std::vector<Expr> &args);

}  // namespace polyhalite
