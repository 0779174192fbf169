#include "lang/simplify/simplify.h"

#include <algorithm>

#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/fold.h"
#include "lang/simplify/simplifier.h"

namespace polyhalite {

namespace {

uint64_t mix_shape(uint64_t h, uint64_t v) {
  return (h ^ (v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2))) * 0xff51afd7ed558ccdull;
}

bool binds(const Expr &e, const std::string &name) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) { found |= as_let(n) && as_let(n)->name == name; });
  return found;
}

class DropLikely : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const CallNode *c = as_intrinsic(e, intrinsic::kLikely);
    if (!c) c = as_intrinsic(e, intrinsic::kLikelyIfInnermost);
    return c ? (*this)(c->args[0]) : rewrite_children(e);
  }
};

}  // namespace

size_t Simplifier::ShallowHash::operator()(const Expr &e) const {
  uint64_t h = mix_shape(uint64_t(e->op) << 8 | uint64_t(e->type.code()),
                         uint64_t(e->type.bits()) << 16 | uint64_t(e->type.lanes()));
  if (e->args.empty()) return mix_shape(h, structural_hash(e));
  for (const Expr &a : e->args) h = mix_shape(h, reinterpret_cast<uint64_t>(a.get()));
  return h;
}

// Operands are one node each already, so that compare() looks no deeper.
bool Simplifier::ShallowEqual::operator()(const Expr &a, const Expr &b) const {
  if (a->op != b->op || a->type != b->type || a->args.size() != b->args.size()) return false;
  for (size_t i = 0; i < a->args.size(); i++) {
    if (!a->args[i].same_as(b->args[i])) return false;
  }
  return equal(a, b);
}

Expr Simplifier::intern(const Expr &e) {
  // Operands made by to_expr() are not one node yet.
  bool changed = false;
  std::vector<Expr> args;
  for (const Expr &a : e->args) {
    args.push_back(interned_.count(a) ? *interned_.find(a) : intern(a));
    changed |= !args.back().same_as(a);
  }
  const Expr node = changed ? with_args(e, std::move(args)) : e;
  return *interned_.insert(node).first;
}

Expr Simplifier::constant(Type t, int64_t value) { return intern(make_int(t, value)); }

Expr Simplifier::operator()(const Expr &e) {
  if (!e.defined()) return e;
  auto it = memo_.find(e.get());
  if (it != memo_.end()) return it->second;
  const Expr r = rewrite(e);
  memo_[e.get()] = r;
  memo_[r.get()] = r;
  keep_.push_back(e);
  keep_.push_back(r);
  return r;
}

Expr Simplifier::rewrite(const Expr &e) {
  if (const LetNode *let = as_let(e)) return rewrite_let(*let);
  if (e->op == Op::Variable) {
    const ConstantBounds b = bounds_of(e);
    const bool is_fixed = b.min && b.max && *b.min == *b.max;
    return is_fixed ? constant(e.type(), *b.min) : intern(e);
  }
  if (e->op == Op::Select) {
    // Of a decided select one value is looked at only.
    const Expr c = (*this)(e->args[0]);
    if (is_true(c)) return (*this)(e->args[1]);
    if (is_false(c)) return (*this)(e->args[2]);
  }
  std::vector<Expr> args;
  args.reserve(e->args.size());
  for (const Expr &a : e->args) args.push_back((*this)(a));
  switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
    case Op::FloatImm:
    case Op::StringImm:
      return intern(e);
    case Op::Cast:
      return cast(e.type(), args[0]);
    case Op::Reinterpret:
      return intern(make_reinterpret(e.type(), args[0]));
    case Op::Not:
      return negate(args[0]);
    case Op::Select:
      return select(args[0], args[1], args[2]);
    case Op::Call:
      return call(*as_call(e), std::move(args));
    case Op::Ramp:
      return ramp(args[0], args[1], e.type().lanes() / args[0].type().lanes());
    case Op::Broadcast:
      return broadcast(args[0], e.type().lanes() / args[0].type().lanes());
    case Op::Load:
      return rewrite_load(e, std::move(args));
    case Op::Shuffle:
      return shuffle(e, std::move(args));
    default:
      return binary(e->op, args[0], args[1]);
  }
}

// let x = 3 in x + y  ->  y + 3
Expr Simplifier::rewrite_let(const LetNode &let) {
  const Expr value = (*this)(let.args[0]);
  const Expr element = value->op == Op::Broadcast ? value->args[0] : value;
  const VariableNode *alias = as_variable(element);
  const bool is_trivial = is_const(value) || (alias && !binds(let.args[1], alias->name));
  if (is_trivial) return (*this)(substitute(let.name, value, let.args[1]));

  // The name means something else inside, so the body has bounds and memory of its own.
  VariableBounds inner = bounds_;
  inner[let.name] = {bounds_of(value), element.type().is_affine() ? divisor_of(element) : 1};
  const Expr body = Simplifier(inner)(let.args[1]);
  if (!uses_variable(body, let.name)) return intern(body);
  return intern(make_let(let.name, value, body));
}

Expr Simplifier::rewrite_load(const Expr &e, std::vector<Expr> args) {
  if (args.size() > 1 && is_true(args[1])) args.pop_back();
  const Expr index = uniform_value(args[0]);
  if (args.size() == 1 && index.defined() && e.type().is_vector()) {
    auto n = std::make_shared<LoadNode>(*as_load(e));
    n->type = e.type().element_of();
    n->args = {index};
    return broadcast(intern(Expr(std::move(n))), e.type().lanes());
  }
  return intern(with_args(e, std::move(args)));
}

Expr Simplifier::binary(Op op, const Expr &a, const Expr &b) {
  const Expr folded = fold_binary(op, a, b);
  if (folded.defined()) return intern(folded);
  if (a.type().is_vector()) {
    const Expr r = binary_of_vectors(op, a, b);
    if (r.defined()) return r;
  }
  switch (op) {
    case Op::Add:
      return add(a, b);
    case Op::Sub:
      return subtract(a, b);
    case Op::Mul:
      return multiply(a, b);
    case Op::Div:
      return divide(a, b);
    case Op::Mod:
      return modulo(a, b);
    case Op::Min:
    case Op::Max:
      return min_max(op, a, b);
    case Op::And:
    case Op::Or:
      return and_or(op, a, b);
    default:
      return compare(op, a, b);
  }
}

Expr Simplifier::cast(Type t, const Expr &a) {
  const Type from = a.type();
  if (t == from) return a;
  const Expr folded = fold_cast(t, a);
  if (folded.defined()) return intern(folded);
  const bool integers = t.is_int_or_uint() && from.is_int_or_uint() && !t.is_bool();
  if (a->op == Op::Broadcast) {
    const Expr value = a->args[0];
    return broadcast(cast(t.with_lanes(value.type().lanes()), value),
                     t.lanes() / value.type().lanes());
  }
  // Sums of a type whose overflow has no value are the same in a wider one.
  if (from.element_of() == Int(32) && t.element_of() == Int(64)) {
    if (a->op == Op::Ramp) {
      const Type wide = t.with_lanes(a->args[0].type().lanes());
      return ramp(cast(wide, a->args[0]), cast(wide, a->args[1]), t.lanes() / wide.lanes());
    }
    const bool is_sum = a->op == Op::Add || a->op == Op::Sub || a->op == Op::Mul;
    if (is_sum && t.is_scalar()) {
      const Expr plain = make_cast(t, a);
      const Linear l = to_linear(plain);
      // A product of variables is its own atom.
      if (l.terms.size() != 1 || l.constant != 0 || l.terms.begin()->second != 1) {
        return from_linear(l, plain);
      }
    }
  }
  if (a->op == Op::Cast && integers) {
    // The outer cast alone, where the inner one keeps every value.
    const Expr x = a->args[0];
    const Type origin = x.type();
    if (origin.is_int_or_uint()) {
      const bool wraps_alike = t.bits() <= from.bits() && t.bits() <= origin.bits();
      const ConstantBounds b = bounds_of(x);
      const bool keeps = origin.bits() < from.bits() && (origin.is_uint() || from.is_int());
      const bool inside =
          b.min && b.max && fits(from.element_of(), *b.min) && fits(from.element_of(), *b.max);
      if (!from.is_bool() && (wraps_alike || keeps || inside)) return cast(t, x);
    }
  }
  // float32 -> float64 -> float32
  if (a->op == Op::Cast && t == a->args[0].type() && t.code() == Type::Float &&
      from.code() == Type::Float && from.bits() > t.bits()) {
    return a->args[0];
  }
  return intern(make_cast(t, a));
}

Expr Simplifier::call(const CallNode &c, std::vector<Expr> args) {
  CallNode copy = c;
  copy.args = std::move(args);
  const Expr folded = fold_call(copy);
  if (folded.defined()) return intern(folded);
  const bool is_pure =
      !acts(c) && (c.kind == CallKind::Intrinsic || c.kind == CallKind::Math) && !copy.args.empty();
  if (is_pure && c.type.is_vector()) {
    std::vector<Expr> scalars;
    for (const Expr &a : copy.args) {
      const Expr value = uniform_value(a);
      const bool lane_for_lane = a.type().is_scalar() || a.type().lanes() == c.type.lanes();
      if (value.defined() && lane_for_lane) scalars.push_back(value);
    }
    if (scalars.size() == copy.args.size()) {
      copy.type = c.type.element_of();
      return broadcast(call(copy, std::move(scalars)), c.type.lanes());
    }
  }
  if (std::all_of(copy.args.begin(), copy.args.end(), [](const Expr &a) { return is_const(a); })) {
    if (const Expr meaning = expand_intrinsic(copy); meaning.defined()) return (*this)(meaning);
  }
  if (is_pure && (c.name == intrinsic::kLikely || c.name == intrinsic::kLikelyIfInnermost ||
                  c.name == intrinsic::kStrictFloat)) {
    const CallNode *inner = as_intrinsic(copy.args[0], c.name.c_str());
    if (is_const(copy.args[0]) || inner) return copy.args[0];
  }
  int64_t k;
  if (is_pure && c.name == intrinsic::kShiftRight && c.type.is_affine() &&
      is_const_int(copy.args[1], &k) && k >= 0 && k < c.type.bits() - 1) {
    return binary(Op::Div, copy.args[0], constant(c.type, int64_t{1} << k));
  }
  return intern(Expr(std::make_shared<CallNode>(std::move(copy))));
}

Expr simplify(const Expr &e, const VariableBounds &bounds) { return Simplifier(bounds)(e); }

std::optional<bool> decide(const Expr &condition, const VariableBounds &bounds) {
  const Expr e = simplify(DropLikely()(condition), bounds);
  if (is_true(e)) return true;
  if (is_false(e)) return false;
  return {};
}

ConstantBounds constant_bounds(const Expr &e, const VariableBounds &bounds) {
  Simplifier s(bounds);
  return s.bounds_of(s(e));
}

int64_t constant_divisor(const Expr &e, const VariableBounds &bounds) {
  Simplifier simplifier(bounds);
  return simplifier.divisor_of(simplifier(e));
}

ConstantBounds constant_bounds(const Linear &l, const VariableBounds &bounds) {
  return Simplifier(bounds).bounds_of(l);
}

}  // namespace polyhalite
