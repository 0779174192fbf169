// scan: a scan in blocks, which need nothing of each other but what all of them make together.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// A new Func has for each block what the blocks before it make of a cell; the first cell of a
/// block starts from it, and so reads no cell of the block before:
///   split(r, ro, ri, 8); f_intm = scan(ro, u)   of   over r(1, 100): f(r) = f(r - 1) + g(r)
///     f_intm(u) = 0
///     over ri(0, 8) where 0 < u: f_intm(u) = f_intm(u) + g(8*u + ri - 7)
///     over ro(2, 11): f_intm(ro) = f_intm(ro - 1) + f_intm(ro)
///     over r(1, 100): f(r) = select((r - 1) % 8 != 0, f(r - 1), f(0) + f_intm((r - 1)/8)) + g(r)
/// The loops of the update stay what they are; whether they may run at once is judged. `before` are
/// the directives of the stage that precede it. CompileError where the update is no scan, its steps
/// do not compose, or the loop is not the outer part of a split of its reduction variable.
Algorithm scan(Algorithm a, const Directive &d, const std::vector<Directive> &before);

}  // namespace polyhalite
