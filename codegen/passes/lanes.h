// Arithmetic on ramps and broadcasts, so that a vector index stays a base and a stride.
#pragma once

#include <string>

#include "lang/ir/node.h"

namespace polyhalite {

/// a op b for operands of one type, lane by lane. Quotients of ramps are lanes of shorter ramps:
///   ramp(2*k, 1, 8) / broadcast(2, 8) -> shuffle({ramp(k, 1, 4)}, {0, 0, 1, 1, 2, 2, 3, 3})
/// Sums, differences and products of ramps and
/// broadcasts of Int(32) and Int(64) are ramps and broadcasts again:
///   ramp(b, s, n) + broadcast(c, n) -> ramp(b + c, s, n)
Expr lane_binary(Op op, const Expr &a, const Expr &b);

/// Conversion lane by lane: int64(ramp(b, s, n)) -> ramp(int64(b), int64(s), n).
Expr lane_cast(Type t, const Expr &a);

/// ramp(base, stride, n), one ramp where base is a ramp that it continues:
///   ramp(ramp(b, s, 4), broadcast(4*s, 4), 2) -> ramp(b, s, 8)
Expr lane_ramp(const Expr &base, const Expr &stride, int n);

/// Each group of `group` lanes `times` times in a row:
///   repeat_groups({a, b, c, d}, 2, 2) -> {a, b, a, b, c, d, c, d}
Expr repeat_groups(const Expr &e, int group, int times);

/// The groups of `group` lanes that e has, in one by op, half by half; partial results are called
/// `name`, a point and how many groups they have:
///   {a, b, c, d}, 2 lanes a group  ->  let name.2 = {a, b, c, d} in {a, b} op {c, d}
Expr combine_lanes(Op op, const Expr &e, int group, const std::string &name);

/// All lanes of e in one, one after the other.
Expr combine_each(Op op, const Expr &e);

/// Is each lane of an index known to be another one than all others?
bool differ_by_lane(const Expr &index);

/// Is some lane of a mask true? A scalar, of partial results as combine_lanes calls them.
Expr any_lane(const Expr &mask, const std::string &name);

}  // namespace polyhalite
