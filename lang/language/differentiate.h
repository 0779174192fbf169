// differentiate: how an expression changes with what it reads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"

namespace polyhalite {

/// What e reads, and the sum over all ways from it to e of `seed` times the derivatives on the way.
struct ReadAdjoint {
  Expr read;     // a call of a Func or image, or a Param; of a float type
  Expr adjoint;  // of the same type
};

/// In the order in which e's operands stand. `seed` has e's type, which is a float's. CompileError
/// at `where` for functions without derivative.
std::vector<ReadAdjoint> read_adjoints(const Expr &e, const Expr &seed,
                                       const SourceLocation &where);

}  // namespace polyhalite
