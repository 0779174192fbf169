// rfactor: partial results of an associative update.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct Factored {
  Algorithm algorithm;
  /// For the stage and for the new Func's update: splits, orders and kinds that carry over.
  std::vector<Directive> directives;
};

/// Preserved reduction loops become dimensions of a new Func, which holds partial results over the
/// other reduction loops; the update merges them. Splits of reduction loops that were made before
/// become part of the definitions:
///   split(r, ro, ri, 8); rfactor(ro, u)   of   over r(0, 100): f(x) = f(x) + g(x, r)
///     f_intm(x, u) = 0
///     over ri(0, 8) where u*8 + ri < 100: f_intm(x, u) = f_intm(x, u) + g(x, min(u*8 + ri, 99))
///     over ro(0, 13): f(x) = f(x) + f_intm(x, ro)
/// Partial results of an update that is a function of its cell, as f(x)*a + b, are such functions.
/// One that takes the first or last of equal keys is merged in any order where its values say where
/// each was found (lang/simplify/by_place.h). `before` are the directives of the stage that precede
/// it. CompileError where the update is not proven associative, or not commutative where the new
/// order needs that.
Factored rfactor(Algorithm a, const Directive &d, const std::vector<Directive> &before);

}  // namespace polyhalite
