#include "lang/language/differentiate.h"

#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>

#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "polyhalite/operators.h"

namespace polyhalite {

namespace {

constexpr double kTwoOverSqrtPi = 1.12837916709551257390;

// f'(x) of y = f(x).
using Rule = std::function<Expr(const Expr &x, const Expr &y)>;

Expr number(const Expr &like, double value) { return make_float(like.type(), value); }
Expr one_minus_square(const Expr &x) { return number(x, 1) - x * x; }

const std::map<std::string, Rule> &rules() {
  using E = const Expr &;
  static const std::map<std::string, Rule> table = {
      {"sqrt", [](E, E y) { return number(y, 0.5) / y; }},
      {"exp", [](E, E y) { return y; }},
      {"log", [](E x, E) { return number(x, 1) / x; }},
      {"sin", [](E x, E) { return cos(x); }},
      {"cos", [](E x, E) { return -sin(x); }},
      {"tan", [](E, E y) { return number(y, 1) + y * y; }},
      {"asin", [](E x, E) { return number(x, 1) / sqrt(one_minus_square(x)); }},
      {"acos", [](E x, E) { return number(x, -1) / sqrt(one_minus_square(x)); }},
      {"atan", [](E x, E) { return number(x, 1) / (number(x, 1) + x * x); }},
      {"sinh", [](E x, E) { return cosh(x); }},
      {"cosh", [](E x, E) { return sinh(x); }},
      {"tanh", [](E, E y) { return one_minus_square(y); }},
      {"asinh", [](E x, E) { return number(x, 1) / sqrt(x * x + number(x, 1)); }},
      {"acosh", [](E x, E) { return number(x, 1) / sqrt(x * x - number(x, 1)); }},
      {"atanh", [](E x, E) { return number(x, 1) / one_minus_square(x); }},
      {"erf", [](E x, E) { return number(x, kTwoOverSqrtPi) * exp(-(x * x)); }},
      {"fast_exp", [](E, E y) { return y; }},
      {"fast_log", [](E x, E) { return number(x, 1) / x; }},
      {"fast_sin", [](E x, E) { return make_math(x.type(), "fast_cos", {x}); }},
      {"fast_cos", [](E x, E) { return -make_math(x.type(), "fast_sin", {x}); }},
      {"fast_inverse", [](E, E y) { return -(y * y); }},
      {"fast_inverse_sqrt", [](E, E y) { return number(y, -0.5) * (y * y * y); }},
  };
  return table;
}

class Differentiation {
 public:
  explicit Differentiation(const SourceLocation &where) : where_(where) {}

  std::vector<ReadAdjoint> run(const Expr &e, const Expr &seed) {
    std::vector<Expr> nodes;  // operands before users
    for_each_node(e, [&](const Expr &n) { nodes.push_back(n); });
    add(e, seed);
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
      const auto reached = adjoints_.find(n->get());
      if (reached != adjoints_.end()) propagate(*n, reached->second);
    }
    return {reads_.rbegin(), reads_.rend()};
  }

 private:
  void add(const Expr &e, const Expr &adjoint) {
    if (!e.type().is_float() || is_zero(adjoint)) return;
    Expr &sum = adjoints_[e.get()];
    sum = sum.defined() ? sum + adjoint : adjoint;
  }

  void propagate(const Expr &e, const Expr &a) {
    const Expr zero = make_zero(e.type());
    auto arg = [&](size_t i) -> const Expr & { return e->args[i]; };
    switch (e->op) {
      case Op::Cast:
        if (arg(0).type().is_float()) add(arg(0), make_cast(arg(0).type(), a));
        return;
      case Op::Add:
        add(arg(0), a);
        return add(arg(1), a);
      case Op::Sub:
        add(arg(0), a);
        return add(arg(1), -a);
      case Op::Mul:
        add(arg(0), a * arg(1));
        return add(arg(1), a * arg(0));
      case Op::Div:
        add(arg(0), a / arg(1));
        return add(arg(1), -(a * e / arg(1)));
      case Op::Mod:  // x - y * floor(x / y)
        add(arg(0), a);
        return add(arg(1), -(a * floor(arg(0) / arg(1))));
      case Op::Min:
      case Op::Max: {
        const Expr first = e->op == Op::Min ? arg(0) <= arg(1) : arg(0) >= arg(1);
        add(arg(0), select(first, a, zero));
        return add(arg(1), select(first, zero, a));
      }
      case Op::Select:
        add(arg(1), select(arg(0), a, zero));
        return add(arg(2), select(arg(0), zero, a));
      case Op::Variable:
        if (as_variable(e)->kind == VariableKind::Param) reads_.push_back({e, a});
        return;
      case Op::Call:
        return call(e, *as_call(e), a);
      case Op::IntImm:
      case Op::UIntImm:
      case Op::FloatImm:
        return;
      default:
        none(op_name(e->op));
    }
  }

  void call(const Expr &e, const CallNode &c, const Expr &a) {
    const Expr zero = make_zero(e.type());
    if (c.kind == CallKind::Func || c.kind == CallKind::Image) {
      reads_.push_back({e, a});
      return;
    }
    if (const Expr value = wrapped_value(e); value.defined()) return add(value, a);
    if (c.kind == CallKind::Math) return math(e, c, a);
    if (c.name == intrinsic::kPromiseClamped) return add(c.args[0], a);
    if (c.name == intrinsic::kAbs) {
      return add(c.args[0], select(c.args[0] > zero, a, c.args[0] < zero, -a, zero));
    }
    if (c.name == intrinsic::kFma) {
      add(c.args[0], a * c.args[1]);
      add(c.args[1], a * c.args[0]);
      return add(c.args[2], a);
    }
    for (const Expr &x : c.args) {
      if (x.type().is_float()) none(c.name);
    }
  }

  void math(const Expr &e, const CallNode &c, const Expr &a) {
    const Expr &x = c.args[0];
    if (c.name == "floor" || c.name == "ceil" || c.name == "round" || c.name == "trunc") return;
    if (c.name == "atan2") {
      const Expr &other = c.args[1];
      const Expr length = x * x + other * other;
      add(x, a * other / length);
      return add(other, -(a * x / length));
    }
    if (c.name == "pow" || c.name == "fast_pow") {
      const Expr &exponent = c.args[1];
      const Expr less = exponent - number(exponent, 1);
      add(x, a * exponent * make_math(e.type(), c.name, {x, less}));
      if (!is_const(exponent)) {
        add(exponent, select(x > number(x, 0), a * e * log(x), number(x, 0)));
      }
      return;
    }
    const auto rule = rules().find(c.name);
    if (rule == rules().end()) none(c.name);
    add(x, a * rule->second(x, e));
  }

  [[noreturn]] void none(const std::string &function) const {
    user_error("cannot differentiate '" + function + "'", "its derivative is not known here",
               "compute the value with other operators", where_);
  }

  const SourceLocation &where_;
  std::unordered_map<const ExprNode *, Expr> adjoints_;
  std::vector<ReadAdjoint> reads_;  // users before operands
};

}  // namespace

std::vector<ReadAdjoint> read_adjoints(const Expr &e, const Expr &seed,
                                       const SourceLocation &where) {
  return Differentiation(where).run(e, seed);
}

}  // namespace polyhalite
