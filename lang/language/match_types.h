// match_types: the rules by which operands of different types meet (see polyhalite/operators.h).
#pragma once

#include "polyhalite/expr.h"

namespace polyhalite::detail {

/// CompileError unless e is defined; `user` is the operator or function that needs it.
void require_defined(const Expr &e, const char *user);
/// Broadcasts the scalar of a scalar and a vector.
void match_lanes(Expr &a, Expr &b);
void match_types(Expr &a, Expr &b, const char *user);
/// `value` as a constant of type t; CompileError where t cannot hold it.
Expr literal_as(Type t, int64_t value, const char *user);
/// e as type t: a constant integer by literal_as, anything else by cast.
Expr bound_as(Type t, Expr e, const char *user);
/// A cast; of an integer constant that t holds exactly, the constant of type t.
Expr cast_folding(Type t, Expr e);

}  // namespace polyhalite::detail
