// distribute: the terms of a reduction update, each as a factor that is the same in all steps and
// the rest of it.
//
//   over r: f(x) = f(x) + s(x)*g(r)*t(x) + h(r)   ->   + s(x)*t(x) * g(r),   + h(r)
//   over r: f(x) = min(f(x), s(x) + g(r))         ->   min s(x) + g(r)
//   over r: f(x) = f(x) || (s(x) && g(r))         ->   || s(x) && g(r)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/ir/algorithm.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

struct ReductionTerm {
  int value = 0;       // of the Func, whose term it is
  Op outer = Op::Add;  // Add, Min, Max, And, Or: joins the terms
  Op inner = Op::Mul;  // Mul, Add, Or, And: joins `same` and `varying`; distributes over `outer`
  bool subtracted = false;
  Expr same;  // over no reduction variable; undefined where the term has no such factor
  Expr varying;
};

/// The terms of update `stage`, in the order of the values and of their text; `bounds` are those of
/// the variables, where they are constants. nullopt where the update has another form; `why` then
/// says what stands against it.
std::optional<std::vector<ReductionTerm>> reduction_terms(const FuncDef &f, int stage,
                                                          const VariableBounds &bounds,
                                                          std::string *why);

/// The ranges of the stage's variables, where they are constants: of reduction variables, and of
/// pure ones that a bound() among the directives limits.
VariableBounds constant_ranges(const FuncDef &f, int stage,
                               const std::vector<Directive> &directives);

/// The value that `outer` leaves others as they are with: 0, the largest, the smallest, true,
/// false.
Expr identity_of(Op outer, Type t);

/// `e` without the reduction variables that do not change its value, as far as divisions by
/// constants show:
///   (32*u + k)/32 -> u where 0 <= k < 32
Expr without_rests(const Expr &e, const VariableBounds &bounds);

}  // namespace polyhalite
