// Evaluates an expression the slow way, lane by lane: what the tests hold results against.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"

namespace polyhalite::test {

/// An integer's value (uint64 as its bits) or a float's.
struct Lane {
  int64_t i = 0;
  double f = 0;
};
using Value = std::vector<Lane>;
using Environment = std::map<std::string, Value>;

/// Thrown where the expression has no value.
struct Undefined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Evaluator {
 public:
  /// Int(32) and Int(64) results beyond +-`limit` are Undefined.
  Evaluator(const Environment &names, int64_t limit) : names_(names), limit_(limit) {}

  Value operator()(const Expr &e) {
    auto it = memo_.find(e.get());
    if (it != memo_.end()) return it->second;
    Value v = compute(e);
    if (static_cast<int>(v.size()) != e.type().lanes()) throw std::logic_error("lanes");
    keep_.push_back(e);
    return memo_[e.get()] = v;
  }

 private:
  Lane narrow(Type t, int64_t v) const {
    if (t.is_affine()) {
      if (v > limit_ || v < -limit_) throw Undefined("overflow");
      return {v, 0};
    }
    const int bits = t.bits();
    if (bits == 64) return {v, 0};
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    uint64_t u = static_cast<uint64_t>(v) & mask;
    if (t.is_int() && (u >> (bits - 1))) u |= ~mask;
    return {static_cast<int64_t>(u), 0};
  }

  static Lane real(Type t, double v) {
    return {0, t.bits() == 32 ? static_cast<double>(static_cast<float>(v)) : v};
  }

  // The quotient and remainder as the language defines them, from the definition.
  static int64_t remainder(int64_t a, int64_t b) {
    if (b == 0) return 0;
    const int64_t m = b < 0 ? -b : b;
    return ((a % m) + m) % m;
  }
  static int64_t quotient(int64_t a, int64_t b) { return b == 0 ? 0 : (a - remainder(a, b)) / b; }

  Lane binary(Op op, Type t, Lane a, Lane b) const {
    if (t.is_float()) {
      const bool single = t.bits() == 32;
      const auto x = static_cast<float>(a.f), y = static_cast<float>(b.f);
      switch (op) {
        case Op::Add:
          return {0, single ? static_cast<double>(x + y) : a.f + b.f};
        case Op::Sub:
          return {0, single ? static_cast<double>(x - y) : a.f - b.f};
        case Op::Mul:
          return {0, single ? static_cast<double>(x * y) : a.f * b.f};
        case Op::Div:
          return {0, single ? static_cast<double>(x / y) : a.f / b.f};
        case Op::Min:
          return a.f < b.f ? a : b;
        case Op::Max:
          return a.f > b.f ? a : b;
        default:
          return {compare(op, a.f, b.f), 0};
      }
    }
    if (is_comparison(op)) {
      return {t.is_int() ? compare(op, a.i, b.i)
                         : compare(op, static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i)),
              0};
    }
    const auto ua = static_cast<uint64_t>(a.i), ub = static_cast<uint64_t>(b.i);
    switch (op) {
      case Op::Add:
        return narrow(t, static_cast<int64_t>(ua + ub));
      case Op::Sub:
        return narrow(t, static_cast<int64_t>(ua - ub));
      case Op::Mul:
        return narrow(t, static_cast<int64_t>(ua * ub));
      case Op::Div:
        if (t.is_uint()) return narrow(t, static_cast<int64_t>(ub == 0 ? 0 : ua / ub));
        return narrow(t, quotient(a.i, b.i));
      case Op::Mod:
        if (t.is_uint()) return narrow(t, static_cast<int64_t>(ub == 0 ? 0 : ua % ub));
        return narrow(t, remainder(a.i, b.i));
      case Op::Min:
        return (t.is_int() ? a.i < b.i : ua < ub) ? a : b;
      case Op::Max:
        return (t.is_int() ? a.i > b.i : ua > ub) ? a : b;
      case Op::And:
        return {a.i & b.i, 0};
      case Op::Or:
        return {a.i | b.i, 0};
      default:
        throw std::logic_error("operator");
    }
  }

  template <typename T>
  static int64_t compare(Op op, T a, T b) {
    switch (op) {
      case Op::Eq:
        return a == b;
      case Op::Ne:
        return a != b;
      case Op::Lt:
        return a < b;
      case Op::Le:
        return a <= b;
      case Op::Gt:
        return a > b;
      default:
        return a >= b;
    }
  }

  Lane cast(Type to, Type from, Lane a) const {
    if (to.is_bool()) return {from.is_float() ? a.f != 0 : a.i != 0, 0};
    if (to.is_float()) {
      if (from.is_float()) return real(to, a.f);
      if (to.bits() == 32) return {0, static_cast<double>(static_cast<float>(a.i))};
      return {0, static_cast<double>(a.i)};
    }
    if (!from.is_float()) {
      if (!to.is_affine()) return narrow(to, a.i);
      // Casts to int32 wrap: only arithmetic may not overflow.
      return {to.bits() == 32 ? static_cast<int32_t>(a.i) : a.i, 0};
    }
    if (!(std::fabs(a.f) < 1e9)) throw Undefined("float out of range");
    const auto v = static_cast<int64_t>(a.f);
    const Lane r = narrow(to, v);
    if (r.i != v) throw Undefined("float out of range");
    return r;
  }

  Lane call(const CallNode &c, const std::vector<Lane> &a) const {
    const Type from = c.args[0].type();
    if (c.name == intrinsic::kLikely || c.name == intrinsic::kStrictFloat) return a[0];
    if (c.name == intrinsic::kAbs) {
      return from.is_float() ? Lane{0, std::fabs(a[0].f)} : narrow(c.type, std::abs(a[0].i));
    }
    if (c.name == intrinsic::kAbsd) return narrow(c.type, std::abs(a[0].i - a[1].i));
    if (c.name == intrinsic::kBitwiseAnd) return {a[0].i & a[1].i, 0};
    if (c.name == intrinsic::kBitwiseOr) return {a[0].i | a[1].i, 0};
    if (c.name == intrinsic::kBitwiseXor) return {a[0].i ^ a[1].i, 0};
    if (c.name == intrinsic::kBitwiseNot) return narrow(c.type, ~a[0].i);
    if (c.name == intrinsic::kShiftRight) {
      if (a[1].i < 0 || a[1].i >= c.type.bits()) throw Undefined("shift");
      return {a[0].i >> a[1].i, 0};
    }
    if (c.name == intrinsic::kShiftLeft) {
      if (a[1].i < 0 || a[1].i >= c.type.bits()) throw Undefined("shift");
      return narrow(c.type, static_cast<int64_t>(static_cast<uint64_t>(a[0].i) << a[1].i));
    }
    if (c.name == "floor") return real(c.type, std::floor(a[0].f));
    if (c.name == "sqrt") return real(c.type, std::sqrt(a[0].f));
    throw std::logic_error("no meaning for " + c.name);
  }

  Value compute(const Expr &e) {
    const Type t = e.type();
    switch (e->op) {
      case Op::IntImm:
        return {{as_imm(e)->i, 0}};
      case Op::UIntImm:
        return {{static_cast<int64_t>(as_imm(e)->u), 0}};
      case Op::FloatImm:
        return {{0, as_imm(e)->f}};
      case Op::Variable:
        return names_.at(as_variable(e)->name);
      case Op::Let: {
        Environment inner = names_;
        inner[as_let(e)->name] = (*this)(e->args[0]);
        return Evaluator(inner, limit_)(e->args[1]);
      }
      default:
        break;
    }
    std::vector<Value> args;
    for (const Expr &a : e->args) args.push_back((*this)(a));
    const Type from = e->args[0].type();
    Value r;
    for (int i = 0; i < t.lanes(); i++) {
      switch (e->op) {
        case Op::Cast:
          r.push_back(cast(t, from, args[0][i]));
          break;
        case Op::Not:
          r.push_back({!args[0][i].i, 0});
          break;
        case Op::Select:
          r.push_back(args[0][i].i ? args[1][i] : args[2][i]);
          break;
        case Op::Broadcast:
          r.push_back(args[0][i % from.lanes()]);
          break;
        case Op::Ramp: {
          const int step = i / from.lanes(), lane = i % from.lanes();
          r.push_back(narrow(t, args[0][lane].i + step * args[1][lane].i));
          break;
        }
        case Op::Shuffle: {
          Value all;
          for (const Value &v : args) all.insert(all.end(), v.begin(), v.end());
          r.push_back(all[as_shuffle(e)->indices[i]]);
          break;
        }
        case Op::Call: {
          std::vector<Lane> lane;
          for (const Value &v : args) lane.push_back(v[i]);
          r.push_back(call(*as_call(e), lane));
          break;
        }
        default:
          r.push_back(binary(e->op, from, args[0][i], args[1][i]));
          break;
      }
    }
    return r;
  }

  const Environment &names_;
  int64_t limit_;
  std::map<const ExprNode *, Value> memo_;
  std::vector<Expr> keep_;
};

}  // namespace polyhalite::test
