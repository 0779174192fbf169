#include "polyhedral/oracle/evaluate.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/intrinsics.h"
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
Value shifted(const CallNode &c, const Value *a) {
  const int64_t x = a[0].i, by = a[1].i;
  const bool negative = c.args[1].type().is_int() && by < 0;
  const uint64_t places = negative ? 0 - static_cast<uint64_t>(by) : static_cast<uint64_t>(by);
  const bool all_out = places >= static_cast<uint64_t>(c.type.bits());
  if ((c.name == intrinsic::kShiftLeft) != negative) {
    return of_int(all_out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << places));
  }
  if (c.type.is_int()) return of_int(all_out ? (x < 0 ? -1 : 0) : x >> places);
  return of_int(all_out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) >> places));
}

Value absolute(const CallNode &c, const Value *a) {
  return c.args[0].type().is_float() ? of_float(std::fabs(a[0].f)) : of_int(std::abs(a[0].i));
}

Value distance(const CallNode &c, const Value *a) {
  const Type t = c.args[0].type();
  if (t.is_float()) return of_float(std::fabs(a[0].f - a[1].f));
  return of_int(comparison(Op::Lt, t, a[0], a[1]) ? a[1].i - a[0].i : a[0].i - a[1].i);
}

uint64_t bits_of(const CallNode &c, const Value &v) {
  return static_cast<uint64_t>(v.i) & (~uint64_t{0} >> (64 - c.type.bits()));
}

using Meaning = Value (*)(const CallNode &, const Value *);

const std::map<std::string, Meaning> &intrinsics() {
  static const Meaning first = [](const CallNode &, const Value *a) { return a[0]; };
  static const std::map<std::string, Meaning> all = {
      {intrinsic::kLikely, first},
      {intrinsic::kStrictFloat, first},
      {intrinsic::kMemoizeTag, first},
      {intrinsic::kAbs, absolute},
      {intrinsic::kAbsd, distance},
      {intrinsic::kShiftLeft, shifted},
      {intrinsic::kShiftRight, shifted},
      {intrinsic::kPopcount,
       [](const CallNode &c, const Value *a) { return of_int(std::popcount(bits_of(c, a[0]))); }},
      {intrinsic::kCountLeadingZeros,
       [](const CallNode &c, const Value *a) {
         return of_int(std::countl_zero(bits_of(c, a[0])) - 64 + c.type.bits());
       }},
      {intrinsic::kCountTrailingZeros,
       [](const CallNode &c, const Value *a) {
         return of_int(std::min(std::countr_zero(bits_of(c, a[0])), c.type.bits()));
       }},
      {intrinsic::kBitwiseAnd,
       [](const CallNode &, const Value *a) { return of_int(a[0].i & a[1].i); }},
      {intrinsic::kBitwiseOr,
       [](const CallNode &, const Value *a) { return of_int(a[0].i | a[1].i); }},
      {intrinsic::kBitwiseXor,
       [](const CallNode &, const Value *a) { return of_int(a[0].i ^ a[1].i); }},
      {intrinsic::kBitwiseNot, [](const CallNode &, const Value *a) { return of_int(~a[0].i); }},
      {intrinsic::kFma,
       [](const CallNode &, const Value *a) { return of_float(std::fma(a[0].f, a[1].f, a[2].f)); }},
  };
  return all;
}

template <double (*F)(double)>
Value of_one(const CallNode &, const Value *a) {
  return of_float(F(a[0].f));
}
template <double (*F)(double, double)>
Value of_two(const CallNode &, const Value *a) {
  return of_float(F(a[0].f, a[1].f));
}

const std::map<std::string, Meaning> &math_functions() {
  static const std::map<std::string, Meaning> all = {
      {"sqrt", of_one<std::sqrt>},   {"exp", of_one<std::exp>},
      {"log", of_one<std::log>},     {"sin", of_one<std::sin>},
      {"cos", of_one<std::cos>},     {"tan", of_one<std::tan>},
      {"asin", of_one<std::asin>},   {"acos", of_one<std::acos>},
      {"atan", of_one<std::atan>},   {"sinh", of_one<std::sinh>},
      {"cosh", of_one<std::cosh>},   {"tanh", of_one<std::tanh>},
      {"asinh", of_one<std::asinh>}, {"acosh", of_one<std::acosh>},
      {"atanh", of_one<std::atanh>}, {"floor", of_one<std::floor>},
      {"ceil", of_one<std::ceil>},   {"round", of_one<std::nearbyint>},
      {"trunc", of_one<std::trunc>}, {"atan2", of_two<std::atan2>},
      {"pow", of_two<std::pow>}};
  return all;
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

bool is_access(const ExprNode &e) {
  if (e.op != Op::Call) return false;
  const CallKind kind = static_cast<const CallNode &>(e).kind;
  return kind == CallKind::Func || kind == CallKind::Image;
}

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

Program::Meaning Program::meaning_of(const Expr &e) {
  const CallNode *c = as_call(e);
  if (!c || c->kind == CallKind::Func || c->kind == CallKind::Image) return nullptr;
  internal_check(c->kind == CallKind::Intrinsic || c->kind == CallKind::Math,
                 "the brute-force judge calls no functions of the user");
  const auto &known = c->kind == CallKind::Math ? math_functions() : intrinsics();
  const auto found = known.find(c->name);
  internal_check(found != known.end(), "the brute-force judge knows this function");
  return found->second;
}

int Program::add(const Expr &e, Slots &slots, const Constants &constants,
                 std::unordered_map<const ExprNode *, int> &known) {
  auto found = known.find(e.get());
  if (found != known.end()) return found->second;
  Step step;
  step.node = e;
  step.meaning = meaning_of(e);
  for (const Expr &a : e->args) step.all.push_back(add(a, slots, constants, known));
  for (size_t i = 0; i < std::min<size_t>(step.all.size(), 3); i++) step.args[i] = step.all[i];
  if (const ImmNode *imm = as_imm(e)) {
    step.constant = {e->op == Op::UIntImm ? static_cast<int64_t>(imm->u) : imm->i, imm->f};
  } else if (const VariableNode *v = as_variable(e)) {
    if (std::optional<Value> c = constants(*v)) {
      step.constant = *c;
    } else {
      step.slot = slots.of(v->name);
    }
  }
  step.asks = is_access(*e.get());
  for (int a : step.all) step.asks = step.asks || steps_[a].asks;
  chooses_ = chooses_ || (e->op == Op::Select && step.asks && !steps_[step.args[0]].asks);
  steps_.push_back(std::move(step));
  int index = static_cast<int>(steps_.size()) - 1;
  known[e.get()] = index;
  return index;
}

Value Program::call(const Step &step, const std::vector<Value> &values,
                    Surroundings &surroundings) {
  const CallNode &c = static_cast<const CallNode &>(*step.node);
  if (step.meaning) {
    const Value args[3] = {values[step.args[0]], values[step.args[1]], values[step.args[2]]};
    return step.meaning(c, args);
  }
  Coordinates at;
  at.reserve(step.all.size());
  for (int a : step.all) at.push_back(values[a].i);
  return surroundings.access(c, at);
}

Value Program::run_step(const Step &step, const std::vector<Value> &slots,
                        Surroundings &surroundings, const std::vector<Value> &values) const {
  const ExprNode &e = *step.node;
  const Value &a = values[step.args[0]], &b = values[step.args[1]];
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
      v = convert(e.args[0].type(), e.type, a);
      break;
    case Op::And:
      v = of_int(a.i & b.i);
      break;
    case Op::Or:
      v = of_int(a.i | b.i);
      break;
    case Op::Not:
      v = of_int(!a.i);
      break;
    case Op::Select:
      v = a.i ? b : values[step.args[2]];
      break;
    case Op::Call:
      v = call(step, values, surroundings);
      break;
    default:
      if (is_comparison(e.op)) {
        v = of_int(comparison(e.op, e.args[0].type(), a, b));
      } else {
        internal_check(is_binary(e.op), "the brute-force judge knows this operator");
        v = arithmetic(e.op, e.type, a, b);
      }
  }
  return normalize(e.type, v);
}

// What the results are made of, the conditions of all selects being known.
std::vector<bool> Program::wanted_steps(const std::vector<Value> &values) const {
  std::vector<bool> wanted(steps_.size(), false);
  for (int r : results_) wanted[r] = true;
  for (size_t n = steps_.size(); n-- > 0;) {
    const Step &step = steps_[n];
    if (!wanted[n]) continue;
    const bool chooses = step.node->op == Op::Select && !steps_[step.args[0]].asks;
    for (size_t a = 0; a < step.all.size(); a++) {
      const bool other = chooses && a > 0 && (values[step.args[0]].i != 0) != (a == 1);
      if (!other) wanted[step.all[a]] = true;
    }
  }
  return wanted;
}

void Program::run_steps(const std::vector<Value> &slots, Surroundings &surroundings,
                        std::vector<Value> &values) const {
  std::vector<bool> wanted;
  if (chooses_) {
    for (size_t n = 0; n < steps_.size(); n++) {
      if (!steps_[n].asks) values[n] = run_step(steps_[n], slots, surroundings, values);
    }
    wanted = wanted_steps(values);
  }
  for (size_t n = 0; n < steps_.size(); n++) {
    const Step &step = steps_[n];
    if (!chooses_) {
      values[n] = run_step(step, slots, surroundings, values);
    } else if (step.asks && wanted[n]) {
      values[n] = run_step(step, slots, surroundings, values);
    } else if (step.asks) {
      values[n] = {};
      const bool known =
          std::none_of(step.all.begin(), step.all.end(), [&](int a) { return steps_[a].asks; });
      if (!is_access(*step.node) || !known) continue;
      Coordinates at;
      for (int a : step.all) at.push_back(values[a].i);
      surroundings.idle_access(static_cast<const CallNode &>(*step.node), at);
    }
  }
}

std::vector<Value> Program::take_scratch() const {
  if (scratch_.empty()) return std::vector<Value>(std::max<size_t>(steps_.size(), 1));
  std::vector<Value> values = std::move(scratch_.back());
  scratch_.pop_back();
  return values;
}

std::vector<Value> Program::run(const std::vector<Value> &slots, Surroundings &surroundings) const {
  std::vector<Value> values = take_scratch();
  run_steps(slots, surroundings, values);
  std::vector<Value> results;
  results.reserve(results_.size());
  for (int r : results_) results.push_back(values[r]);
  scratch_.push_back(std::move(values));
  return results;
}

Value Program::run_one(const std::vector<Value> &slots, Surroundings &surroundings) const {
  std::vector<Value> values = take_scratch();
  run_steps(slots, surroundings, values);
  const Value result = values[results_[0]];
  scratch_.push_back(std::move(values));
  return result;
}

}  // namespace polyhalite::oracle
