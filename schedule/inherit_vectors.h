// Funcs with updates that nobody scheduled, in stages that compute vectors.
#pragma once

#include <vector>

#include "lang/ir/directive.h"
#include "schedule/derive.h"

namespace polyhalite {

/// The directives that make such a Func as wide as the vectors of the one stage that uses it; they
/// are of the Func `user_name`. Its default is to be computed around the stage's vector loop: one
/// element after the other, unless its stages run in vectors as well.
///
///   g(x) = sum(f(x + r)), g.vectorize(x, 8)
///     ->  sum.split(x, x, x$v, 8); sum.update(0).split(x, x, x$v, 8); ...reorder(x$v, r);
///     vectorize
///
/// None where uses of the Func do not all have the vector's index as it is. `caller`: the loops of
/// stage number `stage` of `user`, which alone uses the Func.
std::vector<Directive> inherited_vectors(const FuncDef &func, const std::string &user_name,
                                         const FuncDef &user, int stage,
                                         const StageDimensions &caller);

}  // namespace polyhalite
