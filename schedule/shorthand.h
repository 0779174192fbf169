// shorthand: marks that split first, as the language has them.
//
//   f.vectorize(x, 8)   ->   f.split(x, x, x_v, 8); f.vectorize(x_v)
//   f.unroll(x, 4)      ->   f.split(x, x, x_u, 4); f.unroll(x_u)
//   f.parallel(y, 16)   ->   f.split(y, y, y_p, 16); f.parallel(y)
#pragma once

#include <vector>

#include "lang/ir/directive.h"

namespace polyhalite {

/// The directive itself; of Parallel, Vectorize and Unroll with a factor, the two that they stand
/// for. The inner loop's name is one that the directives before do not have for loops of the stage.
std::vector<Directive> without_shorthand(Directive directive, const std::vector<Directive> &before);

}  // namespace polyhalite
