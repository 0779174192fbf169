#include "polyhedral/oracle/evaluate.h"

#include <cmath>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
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

Value intrinsic_value(const CallNode &c, const std::vector<Value> &a) {
  const std::string &n = c.name;
  const bool is_float = c.args[0].type().is_float();
  if (n == intrinsic::kLikely || n == intrinsic::kStrictFloat) return a[0];
  if (n == intrinsic::kAbs)
    return is_float ? of_float(std::fabs(a[0].f)) : of_int(std::abs(a[0].i));
  if (n == intrinsic::kAbsd) {
    if (is_float) return of_float(std::fabs(a[0].f - a[1].f));
    return comparison(Op::Lt, c.args[0].type(), a[0], a[1]) ? of_int(a[1].i - a[0].i)
                                                            : of_int(a[0].i - a[1].i);
  }
  const int64_t places = a.size() > 1 ? a[1].i & 63 : 0;
  if (n == intrinsic::kShiftLeft)
    return of_int(static_cast<int64_t>(static_cast<uint64_t>(a[0].i) << places));
  if (n == intrinsic::kShiftRight) {
    if (c.type.is_uint())
      return of_int(static_cast<int64_t>(static_cast<uint64_t>(a[0].i) >> places));
    return of_int(a[0].i >> places);
  }
  if (n == intrinsic::kBitwiseAnd) return of_int(a[0].i & a[1].i);
  if (n == intrinsic::kBitwiseOr) return of_int(a[0].i | a[1].i);
  if (n == intrinsic::kBitwiseXor) return of_int(a[0].i ^ a[1].i);
  if (n == intrinsic::kBitwiseNot) return of_int(~a[0].i);
  internal_check(n == intrinsic::kFma, "the brute-force judge knows this intrinsic");
  return of_float(std::fma(a[0].f, a[1].f, a[2].f));
}

Value math_value(const std::string &n, const std::vector<Value> &a) {
  using Unary = double (*)(double);
  static const std::map<std::string, Unary> kUnary = {
      {"sqrt", std::sqrt},   {"exp", std::exp},     {"log", std::log},
      {"sin", std::sin},     {"cos", std::cos},     {"tan", std::tan},
      {"asin", std::asin},   {"acos", std::acos},   {"atan", std::atan},
      {"sinh", std::sinh},   {"cosh", std::cosh},   {"tanh", std::tanh},
      {"asinh", std::asinh}, {"acosh", std::acosh}, {"atanh", std::atanh},
      {"floor", std::floor}, {"ceil", std::ceil},   {"round", std::nearbyint},
      {"trunc", std::trunc}};
  auto unary = kUnary.find(n);
  if (unary != kUnary.end()) return of_float(unary->second(a[0].f));
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
      break;
  }
  internal_check(false, "the brute-force judge calls no functions of the user");
  return {};
}

// let t = a in t*t  ->  a*a
class DropLets : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    Expr r = rewrite_children(e);
    const LetNode *let = as_let(r);
    return let ? substitute(let->name, let->args[0], let->args[1]) : r;
  }
};

}  // namespace

int Slots::of(const std::string &name) {
  return names_.emplace(name, static_cast<int>(names_.size())).first->second;
}

Value normalize(Type t, Value v) {
  if (t.is_float()) {
    if (t.bits() == 32) v.f = static_cast<float>(v.f);
    return v;
  }
  if (t.is_bool()) return of_int(v.i & 1);
  const int shift = 64 - t.bits();
  const uint64_t u = static_cast<uint64_t>(v.i) << shift;
  return of_int(t.is_int() ? static_cast<int64_t>(u) >> shift : static_cast<int64_t>(u >> shift));
}

Program::Program(const std::vector<Expr> &results, Slots &slots, const Constants &constants) {
  std::unordered_map<const ExprNode *, int> known;
  for (const Expr &e : results) results_.push_back(add(DropLets()(e), slots, constants, known));
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
