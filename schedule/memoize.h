// memoize: what a Func's kept values depend on, and which schedules may keep them.
#pragma once

#include <vector>

#include "schedule/loop_tree.h"

namespace polyhalite {

/// The scalars that, with the box of a production, fix the values of func number `func`: Params and
/// fields of images that it or its producers use, or what memoize_tag() names in their place.
/// Throws CompileError at `where` where the values depend on elements of images or on handles.
std::vector<Expr> memoization_key(const Algorithm &a, int func, const SourceLocation &where);

/// The first memoized Func with the definitions of func number `func`, itself where there is none
/// before it: clones and copies share what they keep.
int memoized_as(const LoopTree &t, int func);

/// CompileError where a memoized Func is an output, is stored elsewhere than it is computed, or has
/// productions that are no statement of their own.
void check_memoized(const LoopTree &t);

}  // namespace polyhalite
