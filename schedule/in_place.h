// in_place: Funcs that are computed in the memory of a Func that they read. What they compute is
// one more definition of that memory's Func, which has the name of the last one:
//
//   f(x) = e, g(x) = f(x) + f(x + 1)   ->   g(x) = e, in place of f: g(x) = g(x) + g(x + 1)
//
// Whether no instance reads what another one has overwritten is for the judge to say.
#pragma once

#include "schedule/derive_algorithm.h"

namespace polyhalite {

/// Applies the directives in_place. What was said of the Func whose memory is taken is said of the
/// definitions that it has now, except where it is computed: that is where the reader is. Throws
/// CompileError where somebody else reads that Func, or the two do not fit.
DerivedAlgorithm compute_in_place(DerivedAlgorithm derived);

}  // namespace polyhalite
