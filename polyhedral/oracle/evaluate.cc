#include "polyhedral/oracle/evaluate.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/math_functions.h"
#include "lang/ir/visit.h"
#include "lang/ir/widen_float16.h"
#include "polyhalite/error.h"

namespace polyhalite::oracle {

namespace {

// Remainder in [0, |b|); 0 where b is 0.
int64_t divide(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<int64_t>(-static_cast<uint64_t>(a));
  int64_t q = a / b;
  if (a % b < 0) q += b > 0 ? -1 : 1;
  return q;
}

int64_t remainder_of(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t r = a % b;
  return r < 0 ? r + (b > 0 ? b : -b) : r;
}

Value of_int(int64_t i) { return {i, 0}; }
Value of_float(double f) { return {0, f}; }

Value arithmetic(Op op, Type t, Value a, Value b) {
  if (t.is_float()) {
    switch (op) {
      case Op::Add:
        return of_float(a.f + b.f);
      case Op::Sub:
        return of_float(a.f - b.f);
      case Op::Mul:
        return of_float(a.f * b.f);
      case Op::Div:
        return of_float(a.f / b.f);
      case Op::Mod:
        return of_float(a.f - b.f * std::floor(a.f / b.f));
      case Op::Min:
        return of_float(a.f < b.f ? a.f : b.f);
      default:
        return of_float(a.f > b.f ? a.f : b.f);
    }
  }
  const bool wide_unsigned = t.is_uint() && t.bits() == 64;
  const uint64_t ua = static_cast<uint64_t>(a.i), ub = static_cast<uint64_t>(b.i);
  switch (op) {
    case Op::Add:
      return of_int(static_cast<int64_t>(ua + ub));
    case Op::Sub:
      return of_int(static_cast<int64_t>(ua - ub));
    case Op::Mul:
      return of_int(static_cast<int64_t>(ua * ub));
    case Op::Div:
      if (wide_unsigned) return of_int(ub ? static_cast<int64_t>(ua / ub) : 0);
      return of_int(divide(a.i, b.i));
    case Op::Mod:
      if (wide_unsigned) return of_int(ub ? static_cast<int64_t>(ua % ub) : 0);
      return of_int(remainder_of(a.i, b.i));
    case Op::Min:
      return (wide_unsigned ? ua < ub : a.i < b.i) ? a : b;
    default:
      return (wide_unsigned ? ua > ub : a.i > b.i) ? a : b;
  }
}

bool comparison(Op op, Type t, Value a, Value b) {
  int order;
  if (t.is_float()) {
    if (std::isnan(a.f) || std::isnan(b.f)) return op == Op::Ne;
    order = a.f < b.f ? -1 : a.f > b.f;
  } else if (t.is_uint() && t.bits() == 64) {
    const uint64_t ua = static_cast<uint64_t>(a.i), ub = static_cast<uint64_t>(b.i);
    order = ua < ub ? -1 : ua > ub;
  } else {
    order = a.i < b.i ? -1 : a.i > b.i;
  }
  switch (op) {
    case Op::Eq:
      return order == 0;
    case Op::Ne:
      return order != 0;
    case Op::Lt:
      return order < 0;
    case Op::Le:
      return order <= 0;
    case Op::Gt:
      return order > 0;
    default:
      return order >= 0;
  }
}

Value convert(Type from, Type to, Value v) {
  if (from.is_float() && !to.is_float()) {
    if (to.is_bool()) return of_int(v.f != 0);
    if (std::isnan(v.f)) return of_int(0);
    // Out of range is arbitrary; what fits 64 bits wraps.
    if (std::fabs(v.f) < 9.0e18) return of_int(static_cast<int64_t>(v.f));
    return of_int(0);
  }
  if (!from.is_float() && to.is_float()) {
    const bool wide_unsigned = from.is_uint() && from.bits() == 64;
    return of_float(wide_unsigned ? static_cast<double>(static_cast<uint64_t>(v.i))
                                  : static_cast<double>(v.i));
  }
  if (to.is_bool()) return of_int(v.i != 0);
  return v;
}

// Negative amounts go the other way; from the width on everything is shifted out.
Value shifted(const CallNode &c, int64_t x, int64_t by) {
  const bool negative = c.args[1].type().is_int() && by < 0;
  const uint64_t places = negative ? 0 - static_cast<uint64_t>(by) : static_cast<uint64_t>(by);
  const bool all_out = places >= static_cast<uint64_t>(c.type.bits());
  if ((c.name == intrinsic::kShiftLeft) != negative) {
    return of_int(all_out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << places));
  }
  if (c.type.is_int()) return of_int(all_out ? (x < 0 ? -1 : 0) : x >> places);
  return of_int(all_out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) >> places));
}

Value intrinsic_value(const CallNode &c, const std::vector<Value> &a) {
  const std::string &n = c.name;
  const bool is_float = c.args[0].type().is_float();
  if (n == intrinsic::kLikely || n == intrinsic::kStrictFloat || n == intrinsic::kMemoizeTag) {
    return a[0];
  }
  if (n == intrinsic::kAbs)
    return is_float ? of_float(std::fabs(a[0].f)) : of_int(std::abs(a[0].i));
  if (n == intrinsic::kAbsd) {
    if (is_float) return of_float(std::fabs(a[0].f - a[1].f));
    return comparison(Op::Lt, c.args[0].type(), a[0], a[1]) ? of_int(a[1].i - a[0].i)
                                                            : of_int(a[0].i - a[1].i);
  }
  if (n == intrinsic::kShiftLeft || n == intrinsic::kShiftRight) {
    return shifted(c, a[0].i, a[1].i);
  }
  const uint64_t bits = static_cast<uint64_t>(a[0].i) & (~uint64_t{0} >> (64 - c.type.bits()));
  if (n == intrinsic::kPopcount) return of_int(std::popcount(bits));
  if (n == intrinsic::kCountLeadingZeros)
    return of_int(std::countl_zero(bits) - 64 + c.type.bits());
  if (n == intrinsic::kCountTrailingZeros) {
    return of_int(std::min(std::countr_zero(bits), c.type.bits()));
  }
  if (n == intrinsic::kBitwiseAnd) return of_int(a[0].i & a[1].i);
  if (n == intrinsic::kBitwiseOr) return of_int(a[0].i | a[1].i);
  if (n == intrinsic::kBitwiseXor) return of_int(a[0].i ^ a[1].i);
  if (n == intrinsic::kBitwiseNot) return of_int(~a[0].i);
  internal_check(n == intrinsic::kFma, "the brute-force judge knows this intrinsic");
  return of_float(std::fma(a[0].f, a[1].f, a[2].f));
}

Value math_value(const std::string &n, const std::vector<Value> &a) {
  if (const auto unary = unary_math_function<double>(n)) return of_float(unary(a[0].f));
  if (n == "atan2") return of_float(std::atan2(a[0].f, a[1].f));
  internal_check(n == "pow", "the brute-force judge knows this math function");
  return of_float(std::pow(a[0].f, a[1].f));
}

Value call_value(const CallNode &c, const std::vector<Value> &a, Surroundings &surroundings) {
  switch (c.kind) {
    case CallKind::Func:
    case CallKind::Image: {
      Coordinates at;
      for (const Value &v : a) at.push_back(v.i);
      return surroundings.access(c, at);
    }
    case CallKind::Intrinsic:
      return intrinsic_value(c, a);
    case CallKind::Math:
      return math_value(c.name, a);
    case CallKind::Extern:
    case CallKind::PureExtern:
      break;
  }
  internal_check(false, "the brute-force judge calls no functions of the user");
  return {};
}

// let t = a in t*t  ->  a*a; functions that are made of operators become those.
class Plain : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    Expr r = rewrite_children(e);
    if (const LetNode *let = as_let(r)) return substitute(let->name, let->args[0], let->args[1]);
    if (const CallNode *c = as_call(r)) {
      if (const Expr meaning = expand_intrinsic(*c); meaning.defined()) return (*this)(meaning);
    }
    const Expr wide = widen_float16(r);
    return wide.defined() ? (*this)(wide) : r;
  }
};

}  // namespace

int Slots::of(const std::string &name) {
  return names_.emplace(name, static_cast<int>(names_.size())).first->second;
}

Value normalize(Type t, Value v) {
  if (t.is_float()) {
    v.f = round_to(t, v.f);
    return v;
  }
  if (t.is_bool()) return of_int(v.i & 1);
  const int shift = 64 - t.bits();
  const uint64_t u = static_cast<uint64_t>(v.i) << shift;
  return of_int(t.is_int() ? static_cast<int64_t>(u) >> shift : static_cast<int64_t>(u >> shift));
}

Program::Program(const std::vector<Expr> &results, Slots &slots, const Constants &constants) {
  std::unordered_map<const ExprNode *, int> known;
  for (const Expr &e : results) results_.push_back(add(Plain()(e), slots, constants, known));
}

int Program::add(const Expr &e, Slots &slots, const Constants &constants,
                 std::unordered_map<const ExprNode *, int> &known) {
  auto found = known.find(e.get());
  if (found != known.end()) return found->second;
  Step step;
  step.node = e;
  for (const Expr &a : e->args) step.args.push_back(add(a, slots, constants, known));
  if (const ImmNode *imm = as_imm(e)) {
    step.constant = {e->op == Op::UIntImm ? static_cast<int64_t>(imm->u) : imm->i, imm->f};
  } else if (const VariableNode *v = as_variable(e)) {
    if (std::optional<Value> c = constants(*v)) {
      step.constant = *c;
    } else {
      step.slot = slots.of(v->name);
    }
  }
  steps_.push_back(std::move(step));
  int index = static_cast<int>(steps_.size()) - 1;
  known[e.get()] = index;
  return index;
}

std::vector<Value> Program::run(const std::vector<Value> &slots, Surroundings &surroundings) const {
  std::vector<Value> values(steps_.size());
  std::vector<Value> args;
  for (size_t n = 0; n < steps_.size(); n++) {
    const Step &step = steps_[n];
    const ExprNode &e = *step.node;
    args.clear();
    for (int a : step.args) args.push_back(values[a]);
    Value v;
    switch (e.op) {
      case Op::IntImm:
      case Op::UIntImm:
      case Op::FloatImm:
      case Op::StringImm:
        v = step.constant;
        break;
      case Op::Variable:
        v = step.slot < 0 ? step.constant : slots[step.slot];
        break;
      case Op::Cast:
        v = convert(e.args[0].type(), e.type, args[0]);
        break;
      case Op::And:
        v = of_int(args[0].i & args[1].i);
        break;
      case Op::Or:
        v = of_int(args[0].i | args[1].i);
        break;
      case Op::Not:
        v = of_int(!args[0].i);
        break;
      case Op::Select:
        v = args[0].i ? args[1] : args[2];
        break;
      case Op::Call:
        v = call_value(static_cast<const CallNode &>(e), args, surroundings);
        break;
      default:
        if (is_comparison(e.op)) {
          v = of_int(comparison(e.op, e.args[0].type(), args[0], args[1]));
        } else {
          internal_check(is_binary(e.op), "the brute-force judge knows this operator");
          v = arithmetic(e.op, e.type, args[0], args[1]);
        }
    }
    values[n] = normalize(e.type, v);
  }
  std::vector<Value> results;
  for (int r : results_) results.push_back(values[r]);
  return results;
}

}  // namespace polyhalite::oracle
