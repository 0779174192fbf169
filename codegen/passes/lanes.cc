#include "codegen/passes/lanes.h"

#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

bool is_linear_op(Op op) { return op == Op::Add || op == Op::Sub || op == Op::Mul; }

// The base of a ramp and what one step adds; a broadcast steps by zero.
struct Steps {
  Expr base, stride;
  int lanes = 0;
};

bool as_steps(const Expr &e, Steps *s) {
  if (e->op != Op::Ramp && e->op != Op::Broadcast) return false;
  s->base = e->args[0];
  s->stride = e->op == Op::Ramp ? e->args[1] : make_zero(s->base.type());
  s->lanes = e.type().lanes() / s->base.type().lanes();
  return true;
}

Expr from_steps(const Steps &s) {
  if (is_zero(s.stride)) return make_broadcast(s.base, s.lanes);
  return lane_ramp(s.base, s.stride, s.lanes);
}

// {a_0, a_1, ...} picks lanes of e.
Expr pick(const Expr &e, std::vector<int> lanes) {
  return Expr(std::make_shared<const ShuffleNode>(std::vector<Expr>{e}, std::move(lanes)));
}

}  // namespace

Expr lane_binary(Op op, const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (!is_linear_op(op) || !t.is_affine()) return make_binary(op, a, b);
  if (t.is_scalar()) return simplify(make_binary(op, a, b));
  Steps x, y;
  if (!as_steps(a, &x) || !as_steps(b, &y) || x.lanes != y.lanes) return make_binary(op, a, b);
  if (op != Op::Mul) {
    return from_steps(
        {lane_binary(op, x.base, y.base), lane_binary(op, x.stride, y.stride), x.lanes});
  }
  if (!is_zero(x.stride) && !is_zero(y.stride)) return make_binary(op, a, b);
  const Steps &moving = is_zero(x.stride) ? y : x, &fixed = is_zero(x.stride) ? x : y;
  return from_steps({lane_binary(op, moving.base, fixed.base),
                     lane_binary(op, moving.stride, fixed.base), x.lanes});
}

Expr lane_cast(Type t, const Expr &a) {
  Steps s;
  const bool widens = t.is_affine() && a.type().is_affine() && t.bits() >= a.type().bits();
  if (!widens || !as_steps(a, &s)) return make_cast(t, a);
  const Type part = t.with_lanes(s.base.type().lanes());
  return from_steps({lane_cast(part, s.base), lane_cast(part, s.stride), s.lanes});
}

Expr lane_ramp(const Expr &base, const Expr &stride, int n) {
  Steps inner;
  if (as_steps(base, &inner) && stride->op == Op::Broadcast && inner.base.type().is_scalar() &&
      stride->args[0].type().is_scalar()) {
    const Expr reach =
        lane_binary(Op::Mul, inner.stride, make_int(inner.stride.type(), inner.lanes));
    const Expr gap = lane_binary(Op::Sub, reach, stride->args[0]);
    if (is_zero(gap)) return make_ramp(inner.base, inner.stride, inner.lanes * n);
  }
  return make_ramp(base, stride, n);
}

Expr repeat_groups(const Expr &e, int group, int times) {
  if (times == 1) return e;
  const int groups = e.type().lanes() / group;
  if (groups == 1) return make_broadcast(e, times);
  Steps s;
  if (as_steps(e, &s) && s.lanes == groups) {
    return from_steps({make_broadcast(s.base, times), make_broadcast(s.stride, times), groups});
  }
  std::vector<int> lanes;
  for (int g = 0; g < groups; g++) {
    for (int t = 0; t < times; t++) {
      for (int i = 0; i < group; i++) lanes.push_back(g * group + i);
    }
  }
  return pick(e, std::move(lanes));
}

Expr any_lane(const Expr &mask) {
  if (mask.type().is_scalar()) return mask;
  if (mask->op == Op::Broadcast) return any_lane(mask->args[0]);
  if (mask->op == Op::Or)
    return make_binary(Op::Or, any_lane(mask->args[0]), any_lane(mask->args[1]));
  Steps a, b;
  const bool ordered =
      mask->op == Op::Lt || mask->op == Op::Le || mask->op == Op::Gt || mask->op == Op::Ge;
  if (ordered && as_steps(mask->args[0], &a) && as_steps(mask->args[1], &b) &&
      a.base.type().is_scalar() && a.base.type().is_affine() && a.lanes == b.lanes) {
    // The difference is monotone: if any lane holds, the first or the last one does.
    auto at = [&](int lane) {
      const Expr k = make_int(a.base.type(), lane);
      return make_binary(mask->op, lane_binary(Op::Add, a.base, lane_binary(Op::Mul, a.stride, k)),
                         lane_binary(Op::Add, b.base, lane_binary(Op::Mul, b.stride, k)));
    };
    const bool less = mask->op == Op::Lt || mask->op == Op::Le;
    int64_t slope;
    if (is_const_int(lane_binary(Op::Sub, a.stride, b.stride), &slope)) {
      return at(less == (slope > 0) ? 0 : a.lanes - 1);
    }
    return make_binary(Op::Or, at(0), at(a.lanes - 1));
  }
  Expr any;
  for (int i = 0; i < mask.type().lanes(); i++) {
    const Expr lane = pick(mask, {i});
    any = any.defined() ? make_binary(Op::Or, any, lane) : lane;
  }
  return any;
}

}  // namespace polyhalite
