// hoist_invariants: what is the same in all steps of a reduction is applied once, to its result.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct Hoisted {
  Algorithm algorithm;
  /// For what is left of the stage and for the new Funcs' updates.
  std::vector<Directive> directives;
};

/// over r: f(x) = f(x) + s(x)*g(x, r) + h(r)
///   ->   f_intm0(x) = 0;  over r: f_intm0(x) = f_intm0(x) + g(x, r)
///        f_intm1(x) = 0;  over r: f_intm1(x) = f_intm1(x) + h(r)
///        f(x) = f(x) + s(x)*f_intm0(x) + f_intm1(x)
///
/// The values are those that the operators' distributive laws give (lang/simplify/distribute.h);
/// floats count as real numbers, as in rfactor. The last line runs where the reduction has a step,
/// as far as its extents and conditions over no reduction variable say. `before` are the directives
/// of the pipeline that precede it. CompileError where there is nothing to take out.
Hoisted hoist_invariants(Algorithm a, const Directive &d, const std::vector<Directive> &before);

}  // namespace polyhalite
