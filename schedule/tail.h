// tail: what each split does with what its factor leaves over; never Auto in a loop tree.
#pragma once

#include "schedule/derive.h"

namespace polyhalite {

/// The tail of splitting `old` by `factor` as `directive` says. Auto is
///   RoundUp       where a known extent of a derived loop leaves no rest
///   GuardWithIf   where it leaves one; for reduction loops; for derived loops of unknown extent
///                 that are not the tiles of one dimension: fused and inner ones; and for Funcs
///                 that are computed in place
///   RoundUp       else, in updates
///   ShiftInwards  else, in pure definitions.
/// A tail that shifts or rounds a fused or an inner loop without room for a tile is GuardWithIf;
/// there is room for shifting where bound() says so of all that a loop is fused of.
/// Throws CompileError where the directive names a tail that this loop cannot have.
TailStrategy resolve_tail(const StageDimensions &dims, const LoopDimension &old, const Expr &factor,
                          const Directive &directive);

}  // namespace polyhalite
