// change_type: a Func's values in another type.
#pragma once

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// f(x) = 0.0f;  over r(0, 64): f(x) = f(x) + cast<float>(a(r)), a int8
///   ->   f_int32(x) = 0;  over r(0, 64): f_int32(x) = f_int32(x) + cast<int32>(a(r))
///        f(x) = cast<float>(f_int32(x))
///
/// No value changes: every value of the definition and every term of its updates is a whole number
/// that both types hold (lang/simplify/exact_cast.h), and so is whatever any number of terms adds
/// up to. Float sums count as real numbers, as elsewhere in reductions. A wrapping integer may
/// become a wider one where only sums are made: they are equal modulo the narrower. Updates are f =
/// f + e, f - e, min(f, e), max(f, e) or f = e. The first value of a min or max that is no number
/// of the type, but beyond all terms, becomes the type's own where each cell gets a term. What
/// depends on extents that are known only when the pipeline runs is required then.
/// With the directive's second word values are cast unproven. CompileError else.
Algorithm change_type(Algorithm a, const Directive &d);

/// Casts of calls of `from`, each of which casts the same element of `to`, become casts of that:
///   from(x) = cast<uint8>(to(x));  cast<int32>(from(y))   ->   cast<int32>(to(y))
/// Every value of `to` is one of from's type. Between integers and floats they stay as they are,
/// and so do casts of floats to integers, which need not hold the value.
void read_through_casts(Algorithm &a, const std::string &from, const std::string &to);

}  // namespace polyhalite
