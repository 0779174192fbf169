// eager_inline: definitions of pure Funcs in the place of a stage's calls of them.
#pragma once

#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// g(x) = h(x) + 1;  f(x) = g(x)*2   ->   f(x) = (h(x) + 1)*2
/// A call of a pure Func is its definition's value at the call's arguments, so that no value
/// changes. Calls in the definitions of Funcs that `d` names go the same way. `before` are the
/// directives that precede it. CompileError where a Func has no definition to inline, or a schedule
/// for loops or storage of its own.
Algorithm eager_inline(Algorithm a, const Directive &d, const std::vector<Directive> &before);

}  // namespace polyhalite
