// tail: what each split does with what its factor leaves over; never Auto in a loop tree.
#pragma once

#include "schedule/derive.h"

namespace polyhalite {

/// The tail of splitting `old` by `factor` as `directive` says. Auto is
///   RoundUp       where a known extent leaves no rest, and for pure variables of updates
///   GuardWithIf   where a known extent leaves a rest, for reduction and for fused variables of
///   updates ShiftInwards  else, in pure definitions.
/// Throws CompileError where the directive names a tail that this loop cannot have.
TailStrategy resolve_tail(const StageDimensions &dims, const Dimension &old, const Expr &factor,
                          const Directive &directive);

}  // namespace polyhalite
