#include "lang/simplify/exact_cast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

// Producers are looked into through so many others.
constexpr int kMaxCastDepth = 8;

// 2^n
WideInt power_of_two(int n) { return WideInt{1} << n; }

// The floats of type t hold all whole numbers of up to so many bits.
int bits_of_whole_numbers(Type t) {
  if (t.is_bfloat()) return 8;
  return t.bits() == 16 ? 11 : t.bits() == 32 ? 24 : t.bits() == 64 ? 53 : 0;
}

std::optional<WholeRange> combined(Op op, const WholeRange &a, const WholeRange &b) {
  switch (op) {
    case Op::Add:
      return WholeRange{a.min + b.min, a.max + b.max};
    case Op::Sub:
      return WholeRange{a.min - b.max, a.max - b.min};
    case Op::Mul: {
      // Products of 64-bit numbers fit.
      const WideInt limit = power_of_two(63);
      for (const WideInt end : {a.min, a.max, b.min, b.max}) {
        if (end > limit || end < -limit) return std::nullopt;
      }
      const auto [low, high] =
          std::minmax({a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max});
      return WholeRange{low, high};
    }
    case Op::Min:
      return WholeRange{std::min(a.min, b.min), std::min(a.max, b.max)};
    case Op::Max:
      return WholeRange{std::max(a.min, b.min), std::max(a.max, b.max)};
    default:
      return std::nullopt;
  }
}

// Where the value of a wrapper stands among its operands.
std::optional<size_t> wrapped_operand(const Expr &e) {
  const Expr value = wrapped_value(e);
  for (size_t i = 0; value.defined() && i < e->args.size(); i++) {
    if (e->args[i].same_as(value)) return i;
  }
  return std::nullopt;
}

}  // namespace

WholeRange hull(const WholeRange &a, const WholeRange &b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

WholeRange range_of_type(Type t) {
  if (t.is_uint()) return {0, power_of_two(t.bits()) - 1};
  return {-power_of_two(t.bits() - 1), power_of_two(t.bits() - 1) - 1};
}

bool holds(Type t, const WholeRange &range) {
  if (t.is_float()) {
    const int bits = bits_of_whole_numbers(t);
    return bits > 0 && range.min >= -power_of_two(bits) && range.max <= power_of_two(bits);
  }
  if (!t.is_int_or_uint()) return false;
  const WholeRange all = range_of_type(t);
  return range.min >= all.min && range.max <= all.max;
}

std::optional<WholeRange> ExactCast::range(const Expr &e) {
  const auto known = memo_.find(e.get());
  if (known != memo_.end()) return known->second;
  const std::optional<WholeRange> r = find_range(e);
  keep_.push_back(e);
  memo_[e.get()] = r;
  return r;
}

std::optional<WholeRange> ExactCast::find_range(const Expr &e) {
  const Type t = e.type();
  if (!t.is_scalar()) return std::nullopt;
  std::optional<WholeRange> found;
  int64_t k;
  double x;
  if (is_const_int(e, &k)) {
    const WideInt value = t.is_uint() ? WideInt{static_cast<uint64_t>(k)} : WideInt{k};
    return WholeRange{value, value};
  }
  if (is_const_float(e, &x)) {
    if (!std::isfinite(x) || x != std::trunc(x) || std::fabs(x) > 0x1p62) return std::nullopt;
    return WholeRange{static_cast<int64_t>(x), static_cast<int64_t>(x)};
  }
  const CallNode *call = as_call(e);
  if (const auto at = wrapped_operand(e)) {
    found = range(e->args[*at]);
  } else if (call && call->kind == CallKind::Func && depth_ < kMaxCastDepth) {
    const Expr value = definition_(*call);
    if (value.defined()) {
      // Its variables are others.
      depth_++;
      const VariableBounds outside = std::exchange(bounds_, {});
      found = range(value);
      bounds_ = outside;
      depth_--;
    }
  } else if (call && call->kind == CallKind::Math && e->args.size() == 1) {
    for (const char *rounding : {"floor", "ceil", "round", "trunc"}) {
      if (call->name == rounding) found = range(e->args[0]);
    }
  } else {
    found = arithmetic(e);
  }
  if (found && holds(t, *found)) return found;
  if (!t.is_int_or_uint()) return std::nullopt;
  // An integer, whatever it is made of.
  WholeRange all = range_of_type(t);
  const ConstantBounds simple = constant_bounds(simplify(e, bounds_), bounds_);
  if (simple.min) all.min = std::max(all.min, WideInt{*simple.min});
  if (simple.max) all.max = std::min(all.max, WideInt{*simple.max});
  return all;
}

// Without regard for the type of the result.
std::optional<WholeRange> ExactCast::arithmetic(const Expr &e) {
  switch (e->op) {
    case Op::Cast:
      return range(e->args[0]);
    case Op::Select: {
      const auto a = range(e->args[1]), b = range(e->args[2]);
      if (!a || !b) return std::nullopt;
      return hull(*a, *b);
    }
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Min:
    case Op::Max: {
      const auto a = range(e->args[0]), b = range(e->args[1]);
      if (!a || !b) return std::nullopt;
      return combined(e->op, *a, *b);
    }
    default:
      return std::nullopt;
  }
}

Expr ExactCast::operator()(Type t, const Expr &e) {
  const auto r = range(e);
  if (!r || !holds(t, *r)) return Expr();
  return inside(t, e);
}

// `e` is known to fit.
Expr ExactCast::inside(Type t, const Expr &e) {
  if (e.type() == t) return e;
  const Expr direct = arithmetic_in(t, e);
  if (direct.defined()) return direct;
  if (const auto at = wrapped_operand(e); at && !as_intrinsic(e, intrinsic::kStrictFloat)) {
    std::vector<Expr> args = e->args;
    args[*at] = inside(t, args[*at]);
    return make_intrinsic(t, as_call(e)->name, std::move(args));
  }
  return simplify(make_cast(t, e));
}

// The same operation in t, where its operands fit and it gives its exact result in both types.
Expr ExactCast::arithmetic_in(Type t, const Expr &e) {
  const auto exact = arithmetic(e);
  if (!exact || !holds(e.type(), *exact)) return Expr();
  if (e->op == Op::Cast) return (*this)(t, e->args[0]);
  std::vector<Expr> args = e->args;
  for (size_t i = e->op == Op::Select ? 1 : 0; i < args.size(); i++) {
    args[i] = (*this)(t, args[i]);
    if (!args[i].defined()) return Expr();
  }
  if (e->op == Op::Select) return make_select(args[0], args[1], args[2]);
  return make_binary(e->op, args[0], args[1]);
}

}  // namespace polyhalite
