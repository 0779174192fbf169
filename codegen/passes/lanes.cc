#include "codegen/passes/lanes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "lang/simplify/linear.h"
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

// A value whose lanes are those of a shorter one, some of them several times.
struct Picked {
  Expr from;
  std::vector<int> lanes;
};

std::optional<Picked> as_picked(const Expr &e) {
  if (e->op != Op::Shuffle || e->args.size() != 1) return std::nullopt;
  if (e->args[0].type().lanes() > e.type().lanes()) return std::nullopt;
  return Picked{e->args[0], as_shuffle(e)->indices};
}

// base + offsets[0], base + offsets[1]...
Expr from_offsets(const Expr &base, const std::vector<int64_t> &offsets) {
  const int n = static_cast<int>(offsets.size());
  const int64_t low = *std::min_element(offsets.begin(), offsets.end());
  int64_t step = 0, reach = 0;
  for (int64_t o : offsets) {
    step = std::gcd(step, o - low);
    reach = std::max(reach, o - low);
  }
  const Expr first = simplify(make_binary(Op::Add, base, make_int(base.type(), low)));
  if (step == 0) return make_broadcast(first, n);
  const int64_t steps = reach / step + 1;
  std::vector<int> lanes;
  bool in_order = steps == n;
  for (int i = 0; i < n; i++) {
    lanes.push_back(static_cast<int>((offsets[i] - low) / step));
    in_order = in_order && lanes[i] == i;
  }
  const Expr ramp = make_ramp(first, make_int(base.type(), step), static_cast<int>(steps));
  return in_order ? ramp : pick(ramp, std::move(lanes));
}

// ramp(2*k, 1, 4)/2 -> {k, k, k + 1, k + 1};  ramp(2*k, 1, 4) % 2 -> {0, 1, 0, 1}: where it is
// known what the divisor leaves of the base.
std::optional<Expr> divide_ramp(Op op, const Expr &a, const Expr &b) {
  int64_t divisor, stride;
  if (a->op != Op::Ramp || b->op != Op::Broadcast || !is_const_int(b->args[0], &divisor) ||
      !is_const_int(a->args[1], &stride) || divisor <= 0) {
    return std::nullopt;
  }
  Linear quotient = to_linear(a->args[0]);
  for (auto &[atom, coefficient] : quotient.terms) {
    if (coefficient % divisor != 0) return std::nullopt;
    coefficient /= divisor;
  }
  auto floor_of = [&](int64_t v) { return (v - ((v % divisor) + divisor) % divisor) / divisor; };
  const int64_t rest = quotient.constant - floor_of(quotient.constant) * divisor;
  quotient.constant = floor_of(quotient.constant);
  std::vector<int64_t> offsets;
  for (int i = 0; i < a.type().lanes(); i++) {
    const int64_t v = rest + stride * i;
    offsets.push_back(op == Op::Div ? floor_of(v) : v - floor_of(v) * divisor);
  }
  const Type t = a.type().element_of();
  const Expr base = op == Op::Div ? to_expr(quotient) : make_zero(t);
  const auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
  if (*high - *low >= a.type().lanes()) return std::nullopt;
  return from_offsets(base, offsets);
}

// The operation on the shorter value, where one operand is picked from one and the other is the
// same in every lane, or both are picked alike.
std::optional<Expr> on_picked(Op op, const Expr &a, const Expr &b) {
  const auto x = as_picked(a), y = as_picked(b);
  auto spread = [](const Expr &e, int lanes) -> std::optional<Expr> {
    if (e->op != Op::Broadcast || !e->args[0].type().is_scalar()) return std::nullopt;
    return lanes == 1 ? e->args[0] : make_broadcast(e->args[0], lanes);
  };
  if (x && y && x->lanes == y->lanes && x->from.type().lanes() == y->from.type().lanes()) {
    return pick(lane_binary(op, x->from, y->from), x->lanes);
  }
  if (x && !y) {
    if (auto same = spread(b, x->from.type().lanes())) {
      return pick(lane_binary(op, x->from, *same), x->lanes);
    }
  }
  if (y && !x) {
    if (auto same = spread(a, y->from.type().lanes())) {
      return pick(lane_binary(op, *same, y->from), y->lanes);
    }
  }
  return std::nullopt;
}

}  // namespace

Expr lane_binary(Op op, const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (t.is_vector() && (op == Op::Div || op == Op::Mod) && t.is_affine()) {
    if (auto e = divide_ramp(op, a, b)) return *e;
  }
  if (t.is_vector()) {
    if (auto e = on_picked(op, a, b)) return *e;
  }
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
  if (const auto x = as_picked(a)) {
    return pick(lane_cast(t.with_lanes(x->from.type().lanes()), x->from), x->lanes);
  }
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

Expr combine_lanes(Op op, const Expr &e, int group, const std::string &name) {
  const int n = e.type().lanes() / group, half = n / 2;
  if (n == 1) return e;
  const std::string symbol = name + "." + std::to_string(n);
  const Expr all = make_variable(e.type(), VariableKind::Symbol, symbol);
  auto groups = [&](int from, int count) {
    std::vector<int> lanes(static_cast<size_t>(count) * group);
    std::iota(lanes.begin(), lanes.end(), from * group);
    return pick(all, std::move(lanes));
  };
  Expr result =
      combine_lanes(op, make_binary(op, groups(0, half), groups(half, half)), group, name);
  if (n % 2 != 0) result = make_binary(op, result, groups(n - 1, 1));
  return make_let(symbol, e, result);
}

Expr combine_each(Op op, const Expr &e) {
  Expr all = pick(e, {0});
  for (int lane = 1; lane < e.type().lanes(); lane++) all = make_binary(op, all, pick(e, {lane}));
  return all;
}

bool differ_by_lane(const Expr &index) {
  if (index.type().is_scalar()) return true;
  Steps outer, inner;
  int64_t step, last;
  if (!as_steps(index, &outer)) return false;
  const Expr &by = outer.stride->op == Op::Broadcast ? outer.stride->args[0] : outer.stride;
  if (by.type().is_vector() || !is_const_int(simplify(by), &step)) return false;
  if (outer.base.type().is_scalar()) return step != 0;
  if (!as_steps(outer.base, &inner) || inner.base.type().is_vector() ||
      !is_const_int(simplify(inner.stride), &last)) {
    return false;
  }
  return last != 0 && std::abs(step) > std::abs(last) * (inner.lanes - 1);
}

namespace {

// Which lanes of a mask hold, if any does: all, those from the first on, or those up to the last.
enum class Holds : uint8_t { All, First, Last, Unknown };

// And where it is known: does any? Written to `any`.
Holds holding_lanes(const Expr &mask, Expr *any) {
  if (mask->op == Op::Broadcast && mask->args[0].type().is_scalar()) {
    *any = mask->args[0];
    return Holds::All;
  }
  Steps a, b;
  int64_t slope;
  const bool less = mask->op == Op::Lt || mask->op == Op::Le;
  const bool ordered = less || mask->op == Op::Gt || mask->op == Op::Ge;
  if (!ordered || !as_steps(mask->args[0], &a) || !as_steps(mask->args[1], &b) ||
      !a.base.type().is_scalar() || !a.base.type().is_affine() || a.lanes != b.lanes ||
      !is_const_int(simplify(lane_binary(Op::Sub, a.stride, b.stride)), &slope)) {
    return Holds::Unknown;
  }
  // The difference is monotone.
  const bool first = less == (slope > 0);
  const Expr k = make_int(a.base.type(), first ? 0 : a.lanes - 1);
  *any = make_binary(mask->op, lane_binary(Op::Add, a.base, lane_binary(Op::Mul, a.stride, k)),
                     lane_binary(Op::Add, b.base, lane_binary(Op::Mul, b.stride, k)));
  return first ? Holds::First : Holds::Last;
}

void add_conjuncts(const Expr &mask, std::vector<Expr> &conjuncts) {
  if (mask->op != Op::And) return conjuncts.push_back(mask);
  add_conjuncts(mask->args[0], conjuncts);
  add_conjuncts(mask->args[1], conjuncts);
}

}  // namespace

Expr any_lane(const Expr &mask, const std::string &name) {
  if (mask.type().is_scalar()) return mask;
  if (mask->op == Op::Broadcast) return any_lane(mask->args[0], name);
  if (mask->op == Op::Or) {
    return make_binary(Op::Or, any_lane(mask->args[0], name), any_lane(mask->args[1], name));
  }
  std::vector<Expr> conjuncts;
  add_conjuncts(mask, conjuncts);
  auto both = [](const Expr &a, const Expr &b) {
    return a.defined() ? make_binary(Op::And, a, b) : b;
  };
  Expr shared, meeting, rest;  // of all lanes; if all meet in one lane, there; lane by lane
  Holds common = Holds::All;
  for (const Expr &c : conjuncts) {
    Expr any;
    const Holds holds = holding_lanes(c, &any);
    if (holds == Holds::All) {
      shared = both(shared, any);
      continue;
    }
    rest = both(rest, c);
    common = common == Holds::All || common == holds ? holds : Holds::Unknown;
    if (common != Holds::Unknown) meeting = both(meeting, any);
  }
  if (!rest.defined()) return shared;
  const Expr some = common != Holds::Unknown ? meeting : combine_lanes(Op::Or, rest, 1, name);
  return shared.defined() ? make_binary(Op::And, shared, some) : some;
}

}  // namespace polyhalite
