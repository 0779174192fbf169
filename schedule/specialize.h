// specialize: a branch of a stage, which runs in its place where a condition holds.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// Appends a branch of stage `stage`, as yet a copy of it, to func's stages. Returns its number.
int add_branch(FuncDef &func, int stage, const Expr &condition, const SourceLocation &where);

/// Puts what the conditions say into the branches, and that they do not hold into the rest:
///   f(x) = select(p == 3, g(x), h(x)*p)
///   instead of 0 if p == 3: f(x) = select(p == 3, g(x), h(x)*p)
/// ->
///   f(x) = h(x)*p
///   instead of 0 if p == 3: f(x) = g(x)
void simplify_branches(FuncDef &func);

/// The number of the branch with this condition, or -1.
int find_branch(const FuncDef &func, int stage, const Expr &condition);

struct Known {
  Expr condition;
  bool holds;
};

/// What is left of e where all this is known: the conditions and their parts are replaced by their
/// values, Params and sizes that they fix by numbers.
Expr simplify_under(const Expr &e, const std::vector<Known> &known);
inline Expr simplify_under(const Expr &e, const Expr &condition) {
  return simplify_under(e, std::vector<Known>{{condition, true}});
}

}  // namespace polyhalite
