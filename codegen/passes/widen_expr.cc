#include "codegen/passes/widen_expr.h"

#include <utility>

#include "codegen/passes/inside_clamps.h"
#include "codegen/passes/lanes.h"
#include "lang/ir/intrinsics.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

//   !(a && x < n)   ->   !a || x >= n
Expr negated(const Expr &condition) {
  const auto of = [&](size_t i) { return condition->args[i]; };
  switch (condition->op) {
    case Op::Not:
      return of(0);
    case Op::And:
      return make_binary(Op::Or, negated(of(0)), negated(of(1)));
    case Op::Or:
      return make_binary(Op::And, negated(of(0)), negated(of(1)));
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
      // Of floats both may be false.
      if (of(0).type().is_float()) break;
      return make_binary(condition->op == Op::Lt   ? Op::Ge
                         : condition->op == Op::Le ? Op::Gt
                         : condition->op == Op::Gt ? Op::Le
                                                   : Op::Lt,
                         of(0), of(1));
    default:
      break;
  }
  return make_not(condition);
}

}  // namespace

Expr WidenExpr::rewrite(const Expr &e) {
  switch (e->op) {
    case Op::Variable: {
      auto it = loop_.varying.find(as_variable(e)->name);
      return it == loop_.varying.end() ? e : it->second;
    }
    case Op::Let:
      return rewrite_let(e);
    case Op::Load:
      return rewrite_load(e);
    case Op::Ramp:
      return rewrite_ramp(e);
    case Op::Broadcast: {
      const Expr value = (*this)(e->args[0]);
      if (value.same_as(e->args[0])) return e;
      const int group = e->args[0].type().lanes();
      return repeat_groups(value, group, e.type().lanes() / group);
    }
    case Op::Shuffle:
      return rewrite_shuffle(e);
    case Op::Call:
      if (as_call(e)->kind == CallKind::Extern) possible_ = false;
      if (as_intrinsic(e, intrinsic::kPrint) || as_intrinsic(e, intrinsic::kRequire)) {
        return rewrite_acting(e);
      }
      if (as_intrinsic(e, intrinsic::kTraceAccess)) return rewrite_trace_access(e);
      if (as_intrinsic(e, intrinsic::kTrace)) return rewrite_trace(e);
      return rewrite_lanewise(e);
    default:
      return rewrite_lanewise(e);
  }
}

Expr WidenExpr::widen(const Expr &before, const Expr &after) const {
  return after.type().lanes() == before.type().lanes() ? make_broadcast(after, loop_.n) : after;
}

bool WidenExpr::rewrite_operands(const Expr &e, std::vector<Expr> *args) {
  bool varies = false;
  for (const Expr &a : e->args) {
    args->push_back((*this)(a));
    varies |= args->back().type().lanes() != a.type().lanes();
  }
  return varies;
}

// A select between elements and padding, whose lanes differ: what lies outside is not read, so that
// indices need no clamps, and a vector of elements side by side is one load.
//
//   select(x >= 0, a[max(x, 0)], 0)   ->   select(x >= 0, a[x, x >= 0], 0)
//   select(x < 0, 0, a[max(x, 0)])    ->   select(x < 0, 0, a[x, x >= 0])
//   select(x >= 0, a[max(x, 0) if m], 0)   ->   select(x >= 0, a[x if m && x >= 0], 0)
//
// Undefined where e is none.
Expr WidenExpr::rewrite_padded(const Expr &e) {
  if (e->op != Op::Select || !e.type().is_scalar()) return Expr();
  const Expr condition = (*this)(e->args[0]);
  if (condition.type().is_scalar()) return Expr();
  bool found = false;
  const Expr then = loaded_under(e->args[0], e->args[1], &found);
  const Expr otherwise = loaded_under(negated(e->args[0]), e->args[2], &found);
  if (!found) return Expr();
  return make_select(condition, widened(then), widened(otherwise));
}

// e, of which only lanes under the condition are used, with its clamped loads under a mask.
Expr WidenExpr::loaded_under(const Expr &condition, const Expr &e, bool *found) {
  if (e->op == Op::Select && e->args[0].type().is_scalar()) {
    const auto under = [&](const Expr &also, const Expr &side) {
      return loaded_under(make_binary(Op::And, condition, also), side, found);
    };
    return make_select(e->args[0], under(e->args[0], e->args[1]),
                       under(negated(e->args[0]), e->args[2]));
  }
  return rewrite_loads(e, [&](const Expr &l) {
    if (l.type().bits() < loop_.least_masked_bits) return l;
    const Expr mask = l->args.size() > 1 ? make_binary(Op::And, l->args[1], condition) : condition;
    const Expr index = InsideClamps(mask, loop_.counters)(l->args[0]);
    if (index.same_as(l->args[0])) return l;
    const Expr lanes = simplify((*this)(index));
    if (lanes->op != Op::Ramp || !is_one(lanes->args[1])) return l;
    *found = true;
    return with_args(l, {index, mask});
  });
}

Expr WidenExpr::rewrite_lanewise(const Expr &e) {
  if (const Expr padded = rewrite_padded(e); padded.defined()) return padded;
  std::vector<Expr> args;
  if (!rewrite_operands(e, &args)) return e;
  for (size_t i = 0; i < args.size(); i++) {
    // One condition for all iterations needs no lanes.
    const bool scalar = e->op == Op::Select && i == 0 && args[0].type().is_scalar();
    const bool text = e->args[i]->op == Op::StringImm;
    if (!scalar && !text) args[i] = widen(e->args[i], args[i]);
  }
  const Type t = e.type().with_lanes(e.type().lanes() * loop_.n);
  switch (e->op) {
    case Op::Cast:
      return lane_cast(t, args[0]);
    case Op::Reinterpret:
      return make_reinterpret(t, args[0]);
    case Op::Not:
      return make_not(args[0]);
    case Op::Select: {
      if (args[0].type().is_vector() && args[0].type().lanes() != t.lanes()) {
        args[0] = repeat_groups(args[0], 1, t.lanes() / args[0].type().lanes());
      }
      return make_select(args[0], args[1], args[2]);
    }
    case Op::Call: {
      auto call = std::make_shared<CallNode>(*as_call(e));
      call->type = t;
      call->args = std::move(args);
      return Expr(std::shared_ptr<const ExprNode>(std::move(call)));
    }
    default:
      return lane_binary(e->op, args[0], args[1]);
  }
}

// print and require act in the iterations that take part.
Expr WidenExpr::rewrite_acting(const Expr &e) {
  const Expr r = rewrite_lanewise(e);
  if (!loop_.mask.defined()) return r;
  const bool prints = as_intrinsic(e, intrinsic::kPrint) != nullptr;
  std::vector<Expr> args = r->args;
  const Expr own = repeat_groups(loop_.mask, 1, e.type().lanes());
  if (args[0].type().lanes() != own.type().lanes()) args[0] = widen(e->args[0], args[0]);
  args[0] =
      prints ? make_binary(Op::And, args[0], own) : make_binary(Op::Or, args[0], make_not(own));
  return with_args(r, std::move(args));
}

// One event reports all lanes; of the iterations, those that take part.
Expr WidenExpr::rewrite_trace_access(const Expr &e) {
  constexpr size_t kCondition = 1, kCoordinates = 6;
  std::vector<Expr> args = e->args;
  bool varies = false;
  for (size_t i = 0; i < args.size(); i++) {
    if (i > kCondition && i < kCoordinates) continue;
    args[i] = (*this)(args[i]);
    varies |= args[i].type().lanes() != e->args[i].type().lanes();
  }
  const int lanes = e.type().lanes();
  for (size_t i = 0; varies && i < args.size(); i++) {
    if (i == 0 || i >= kCoordinates) args[i] = widen(e->args[i], args[i]);
  }
  // The condition is a scalar, or has as many lanes as the value.
  Expr &condition = args[kCondition];
  if (varies && condition.type().is_vector()) {
    condition = e->args[kCondition].type().lanes() == lanes ? widen(e->args[kCondition], condition)
                                                            : repeat_groups(condition, 1, lanes);
  }
  if (loop_.mask.defined()) {
    // Where all iterations make one access, it is made if one of them takes part.
    const Expr own =
        varies ? repeat_groups(loop_.mask, 1, lanes) : any_lane(loop_.mask, "trace.any");
    if (own.type().lanes() > condition.type().lanes()) {
      condition = make_broadcast(condition, own.type().lanes());
    }
    condition = make_binary(Op::And, condition,
                            own.type().lanes() < condition.type().lanes()
                                ? make_broadcast(own, condition.type().lanes())
                                : own);
  }
  auto call = std::make_shared<CallNode>(*as_call(e));
  call->type = args[0].type();
  call->args = std::move(args);
  return Expr(std::shared_ptr<const ExprNode>(std::move(call)));
}

// Iterations have one realization and one production, of the region that holds all of theirs.
Expr WidenExpr::rewrite_trace(const Expr &e) {
  constexpr size_t kNumbers = 5;
  if (loop_.mask.defined()) possible_ = false;
  std::vector<Expr> args = e->args;
  for (size_t i = kNumbers; i + 1 < args.size(); i += 2) {
    const Expr min = (*this)(args[i]), extent = (*this)(args[i + 1]);
    if (min.type().is_scalar() && extent.type().is_scalar()) continue;
    const Expr mins = widen(args[i], min);
    const Expr ends = lane_binary(Op::Add, mins, widen(args[i + 1], extent));
    args[i] = combine_each(Op::Min, mins);
    args[i + 1] = make_binary(Op::Sub, combine_each(Op::Max, ends), args[i]);
  }
  return with_args(e, std::move(args));
}

Expr WidenExpr::rewrite_ramp(const Expr &e) {
  std::vector<Expr> args;
  if (!rewrite_operands(e, &args)) return e;
  const int group = e->args[0].type().lanes(), steps = e.type().lanes() / group;
  const Expr base = repeat_groups(widen(e->args[0], args[0]), group, steps);
  const Expr stride = repeat_groups(widen(e->args[1], args[1]), group, steps);
  // {0, 1, 2, ...}, each for a whole group, again in every iteration.
  const Type part = e->args[0].type();
  const Expr step = make_broadcast(make_ramp(make_zero(part), make_one(part), steps), loop_.n);
  if (group == 1 && args[1].type().is_scalar() && args[0]->op == Op::Ramp) {
    return lane_ramp(make_ramp(args[0]->args[0], args[1], steps),
                     make_broadcast(args[0]->args[1], steps), loop_.n);
  }
  return make_binary(Op::Add, base, make_binary(Op::Mul, stride, step));
}

Expr WidenExpr::rewrite_shuffle(const Expr &e) {
  std::vector<Expr> args;
  if (!rewrite_operands(e, &args)) return e;
  // Lane l of operand k in iteration y stands at before(k)*n + y*lanes(k) + l.
  std::vector<int> lanes;
  for (int y = 0; y < loop_.n; y++) {
    for (int index : as_shuffle(e)->indices) {
      int start = 0;
      size_t k = 0;
      while (index >= e->args[k].type().lanes()) {
        index -= e->args[k].type().lanes();
        start += e->args[k].type().lanes() * loop_.n;
        k++;
      }
      lanes.push_back(start + y * e->args[k].type().lanes() + index);
    }
  }
  for (size_t k = 0; k < args.size(); k++) args[k] = widen(e->args[k], args[k]);
  return Expr(std::make_shared<const ShuffleNode>(std::move(args), std::move(lanes)));
}

Expr WidenExpr::rewrite_let(const Expr &e) {
  const LetNode *let = as_let(e);
  const Expr value = (*this)(let->args[0]);
  if (value.type() == let->args[0].type()) {
    const Expr body = (*this)(let->args[1]);
    return make_let(let->name, value, body);
  }
  VectorLoop inner = loop_;
  inner.varying[let->name] = make_variable(value.type(), VariableKind::Symbol, let->name);
  WidenExpr in_body(inner);
  const Expr body = in_body(let->args[1]);
  possible_ &= in_body.possible_;
  has_uniform_load_ |= in_body.has_uniform_load_;
  return make_let(let->name, value, body);
}

Expr WidenExpr::rewrite_load(const Expr &e) {
  const LoadNode *load = as_load(e);
  const int lanes = e.type().lanes();
  Expr index = (*this)(load->args[0]);
  Expr mask = load->args.size() > 1 ? (*this)(load->args[1]) : Expr();
  if (loop_.private_buffers.count(load->buffer)) {
    index = private_index(load->args[0], index);
  } else if (index.type().lanes() == lanes && (!mask.defined() || mask.type().lanes() == lanes)) {
    has_uniform_load_ = true;
    return with_args(e, mask.defined() ? std::vector<Expr>{index, mask} : std::vector<Expr>{index});
  }
  index = widen(load->args[0], index);
  if (mask.defined()) mask = widen(load->args[1], mask);
  if (!mask.defined() && !loop_.mask.defined()) {
    if (const Expr each = load_once(*load, index); each.defined()) return each;
  }
  auto out = std::make_shared<LoadNode>(e.type().with_lanes(lanes * loop_.n), load->buffer, index,
                                        with_loop_mask(mask, lanes));
  out->image = load->image;
  return Expr(std::shared_ptr<const ExprNode>(std::move(out)));
}

// Lanes that are read several times are read once: load({i, i, j, j}) -> {a, a, b, b}, {a, b} =
// load({i, j}).
Expr WidenExpr::load_once(const LoadNode &load, const Expr &index) {
  if (index->op != Op::Shuffle || index->args.size() != 1) return Expr();
  const std::vector<int> &lanes = as_shuffle(index)->indices;
  const Expr &from = index->args[0];
  const std::set<int> used(lanes.begin(), lanes.end());
  if (used.size() != static_cast<size_t>(from.type().lanes())) return Expr();
  auto out =
      std::make_shared<LoadNode>(load.type.with_lanes(from.type().lanes()), load.buffer, from);
  out->image = load.image;
  return Expr(std::make_shared<const ShuffleNode>(
      std::vector<Expr>{Expr(std::shared_ptr<const ExprNode>(std::move(out)))}, lanes));
}

Expr WidenExpr::private_index(const Expr &before, const Expr &after) const {
  const int lanes = before.type().lanes();
  const Type t = before.type().element_of();
  const Expr iteration = repeat_groups(make_ramp(make_zero(t), make_one(t), loop_.n), 1, lanes);
  const Expr each = widen(before, after);
  return lane_binary(Op::Add, lane_binary(Op::Mul, each, make_int(each.type(), loop_.n)),
                     iteration);
}

Expr WidenExpr::with_loop_mask(const Expr &mask, int lanes) const {
  if (!loop_.mask.defined()) return mask;
  const Expr own = repeat_groups(loop_.mask, 1, lanes);
  return mask.defined() ? make_binary(Op::And, mask, own) : own;
}

}  // namespace polyhalite
